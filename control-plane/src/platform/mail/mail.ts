import { enqueue } from '../outbox/enqueue.ts';
import type { Sealer } from '../crypto/seal.ts';
import type { Transaction } from '../database/pools.ts';
import { requireMailAddress } from './mail-address.ts';

/** A mail as it is sent: both bodies say the same. */
export type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Beside those that every mail has: names of RFC 5322 and one line each. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Pictures that the HTML names as `cid:`. Small: they stand in the row of the mail. */
  readonly pictures?: readonly MailPicture[];
};

export type MailPicture = {
  readonly cid: string;
  readonly name: string;
  /** PNG in base64. */
  readonly png: string;
};

/** How a mail waits for its turn, and what it carries. */
export type MailOrder = {
  /** Mails of a higher number wait until none of a lower one is due. */
  readonly priority?: number;
  /** Files that `keepMailFile` keeps. */
  readonly fileIds?: readonly string[];
};

/** Picks the consumer that sends. */
export const mailKind = 'mail.send';
const sealedFor = 'mail in the outbox';

/**
 * Hands a mail over in the transaction of what it tells of: it is sent at least once when that commits, and never otherwise. What stands in
 * it, such as a link that lets somebody in, is sealed until then.
 * @throws MailAddressError for an address that could break out of its header
 */
export async function enqueueMail(
  transaction: Transaction,
  sealer: Sealer,
  mail: Mail,
  { priority = 0, fileIds = [] }: MailOrder = {},
): Promise<void> {
  requireMailAddress(mail.to);
  const sealed = sealer.seal(JSON.stringify(mail), sealedFor).toString('base64');
  const order = { ...(priority === 0 ? {} : { priority }), ...(fileIds.length === 0 ? {} : { file_ids: fileIds }) };
  await enqueue(transaction, { key: `mail:${mail.to}`, kind: mailKind, payload: { sealed, ...order } });
}

/** Opens what `enqueueMail` wrote. */
export function openMail(sealer: Sealer, payload: { readonly sealed: string }): Mail {
  return JSON.parse(sealer.open(Buffer.from(payload.sealed, 'base64'), sealedFor).toString()) as Mail;
}
