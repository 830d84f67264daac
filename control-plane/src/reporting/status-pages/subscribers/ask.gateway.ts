import type { Context } from '../../../context.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { makeStandardSecret } from '../../../platform/crypto/webhook-signature.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import type { Locale } from '../view/locale.ts';
import { alreadyLetter, confirmationLetter } from './letters.ts';
import { askSubscriber } from './subscribers.queries.ts';
import type { SubscribedPage } from './subscribers.queries.ts';
import { targetHash } from './target.ts';
import type { SubscriberTarget } from './target.ts';
import { sealedFor, subscriberToken, subscriptionUrl } from './token.ts';

/** A page that somebody subscribes to. */
export type AskingPage = SubscribedPage & { readonly name: string; readonly url: string };

/** Whom to ask. */
export type Asked = SubscriberTarget & { readonly componentIds: readonly string[]; readonly locale: Locale };

/**
 * Keeps a subscriber and asks them to confirm it, in one transaction: by a mail, or by what the sender of challenges does. One who has confirmed
 * is told so, and nobody is asked twice in an hour.
 * @param key that of `subscriberKey`
 * @returns whether they were not there before
 */
export async function ask(
  context: Pick<Context, 'sealer'>,
  scope: Scope,
  tx: Transaction,
  key: Buffer,
  page: AskingPage,
  asked: Asked,
): Promise<boolean> {
  const { sealer } = context;
  const token = subscriberToken.make();
  const stored = await askSubscriber(scope, tx, page, {
    kind: asked.kind,
    targetSealed: sealer.seal(asked.target, sealedFor.target),
    targetHash: targetHash(key, asked),
    secretSealed: asked.kind === 'webhook' ? sealer.seal(makeStandardSecret(), sealedFor.secret) : null,
    componentIds: asked.componentIds,
    locale: asked.locale,
    tokenHash: randomKeyHash(token),
    tokenSealed: sealer.seal(token, sealedFor.token),
  });
  if (stored === null) return false;
  if (asked.kind === 'email') {
    const own = sealer.open(stored.token_sealed, sealedFor.token).toString();
    const facts = { page: page.name, url: subscriptionUrl(page.url, own) };
    const letter = (stored.state === 'active' ? alreadyLetter : confirmationLetter)(stored.locale, facts);
    await enqueueMail(tx, sealer, { to: asked.target, ...renderLetter(letter) });
  }
  return stored.isNew;
}
