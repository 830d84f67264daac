import type { Context } from '../../../../context.ts';
import { sendToRoom } from '../../../../response/channels/index.ts';
import { newsFacts } from '../news/news-facts.ts';
import type { NewsFacts } from '../news/news-facts.ts';
import { sealedFor, subscriptionUrl } from '../token.ts';
import { noticeMessage } from './as-chat.ts';
import { noticeMail } from './as-mail.ts';
import { noticeBody } from './as-webhook.ts';
import type { ClaimedNotice, StoredNews } from './claim.queries.ts';
import { sendSigned } from './http.gateway.ts';
import type { Notice } from './notice.ts';
import { pageAddress } from '../../view/page-address.ts';

/** What sending to subscribers needs. */
export type SendContext = Pick<
  Context,
  'database' | 'sealer' | 'mailer' | 'outbound' | 'channels' | 'publicUrl' | 'now'
>;

/** What a claimed message tells. @returns undefined: none of it is kept any more */
export function noticeOf(
  { sealer, publicUrl }: Pick<SendContext, 'sealer' | 'publicUrl'>,
  claimed: ClaimedNotice,
  stored: readonly StoredNews[],
): Notice | undefined {
  const url = pageAddress(claimed, publicUrl);
  const [from, to] = [BigInt(claimed.told_id), BigInt(claimed.claimed_id)];
  const news = stored.flatMap(({ page_id: pageId, subject, id, facts }): NewsFacts[] => {
    if (pageId !== claimed.page_id || subject !== claimed.subject || BigInt(id) <= from || BigInt(id) > to) return [];
    const read = newsFacts.safeParse(facts);
    return read.success ? [read.data] : [];
  });
  if (news.length === 0) return undefined;
  return {
    locale: claimed.locale,
    page: { id: claimed.page_public_id, name: claimed.page_name, url, timezone: claimed.timezone },
    news,
    manageUrl: subscriptionUrl(url, sealer.open(claimed.token_sealed, sealedFor.token).toString()),
  };
}

/** Sends a message once. Its name is the same at each try, so that a receiver can tell a repetition. @throws for whatever went wrong */
export async function sendNotice(
  context: SendContext,
  claimed: ClaimedNotice,
  notice: Notice,
  signal?: AbortSignal,
): Promise<void> {
  const { sealer, mailer, now } = context;
  const target = sealer.open(claimed.target_sealed, sealedFor.target).toString();
  const id = `page-${claimed.id}-${claimed.claimed_id}`;
  if (claimed.kind === 'email') {
    await mailer.send(noticeMail(target, notice), id, signal);
  } else if (claimed.kind === 'webhook') {
    if (claimed.secret_sealed === null) throw new Error('a webhook subscriber has no secret');
    const secret = sealer.open(claimed.secret_sealed, sealedFor.secret).toString();
    await sendSigned(context, target, secret, { id, body: noticeBody(notice, now()) });
  } else {
    await sendToRoom(context, claimed.kind, target, noticeMessage(notice, { id, nowMs: now() }));
  }
}
