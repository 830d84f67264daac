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
};

/** Picks the consumer that sends. */
export const mailKind = 'mail.send';
const sealedFor = 'mail in the outbox';

/**
 * Hands a mail over in the transaction of what it tells of: it is sent at least once when that commits, and never otherwise. What stands in
 * it, such as a link that lets somebody in, is sealed until then.
 * @throws MailAddressError for an address that could break out of its header
 */
export async function enqueueMail(transaction: Transaction, sealer: Sealer, mail: Mail): Promise<void> {
  requireMailAddress(mail.to);
  const sealed = sealer.seal(JSON.stringify(mail), sealedFor).toString('base64');
  await enqueue(transaction, { key: `mail:${mail.to}`, kind: mailKind, payload: { sealed } });
}

/** Opens what `enqueueMail` wrote. */
export function openMail(sealer: Sealer, payload: { readonly sealed: string }): Mail {
  return JSON.parse(sealer.open(Buffer.from(payload.sealed, 'base64'), sealedFor).toString()) as Mail;
}
