import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { randomKeyHash, randomKeyKind } from '../../../platform/crypto/random-key.ts';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { isMailAddress } from '../../../platform/mail/mail-address.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import type { OutboxConsumer } from '../../../platform/outbox/consumer.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { insertLink, linksInLastHour, lockAskedPage } from './links.queries.ts';
import { unlockWords } from './words.ts';
import { pageAddress } from '../view/page-address.ts';

const kind = 'status_page.link_asked';
const sealedFor = 'link to a status page';
/** Links that one address is mailed an hour; more are asked for in vain, and nobody is told. */
const mostLinksAnHour = 3;

/** The tokens of links that unlock a page: 190 random bits. */
export const linkToken = randomKeyKind('plsl_');

const askedLink = z.object({ pageId: z.number(), mail: z.string(), locale: z.enum(['en', 'ru']) });

/**
 * Notes that somebody asks for a link to a private page. What is done here is the same for every address, and none is compared before the answer is
 * given: neither its text nor its time tells who may read the page.
 */
export async function noteAskedLink(
  tx: Transaction,
  sealer: Sealer,
  asked: z.output<typeof askedLink>,
  key: string,
): Promise<void> {
  const sealed = sealer.seal(JSON.stringify(asked), sealedFor).toString('base64');
  await enqueue(tx, { key: `${kind}:${key}`, kind, payload: { sealed } });
}

const payloadShape = z.object({ sealed: z.string() });

/** Mails a link to whoever has asked for one, where their address may have it. */
export const linkMailConsumer: OutboxConsumer<Context> = {
  kind,
  consume: async (tx, { payload }, { sealer, publicUrl }) => {
    const opened = sealer.open(Buffer.from(payloadShape.parse(payload).sealed, 'base64'), sealedFor).toString();
    const { pageId, mail, locale } = askedLink.parse(JSON.parse(opened));
    const page = await lockAskedPage(tx, pageId);
    const domain = mail.slice(mail.lastIndexOf('@') + 1);
    if (page === null || !page.allowed_mail_domains.includes(domain) || !isMailAddress(mail)) return;
    const secret = sealer.derive('addresses of readers of status pages');
    const addressHash = createHmac('sha256', secret).update(mail).digest();
    if ((await linksInLastHour(tx, pageId, addressHash)) >= mostLinksAnHour) return;
    const token = linkToken.make();
    const place = { id: pageId, workspaceId: page.workspace_id, accessVersion: page.access_version };
    await insertLink(tx, place, { tokenHash: randomKeyHash(token), addressHash });
    const url = pageAddress(page, publicUrl);
    const { open, letter } = unlockWords[locale];
    const action = { label: open, url: `${url}/unlock/${token}` };
    const written = { locale, subject: letter.subject, paragraphs: [letter.text(url)], action, notes: [letter.note] };
    await enqueueMail(tx, sealer, { to: mail, ...renderLetter(written) });
  },
};
