import type { Context } from '../../../context.ts';
import { mayMailOthers, readStanding } from '../../../identity/unconfirmed/index.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import type { Rate, RateState } from '../../../platform/http/rate-limits.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { confirmTargetLetter } from '../letters.ts';
import { channelOf } from '../registry.ts';
import { targetKey } from '../sending/target-key.ts';
import { readTester } from '../trials/queries.ts';
import { mailTargetUrl } from './links.ts';
import { askConsent, askFirst, hasUnsubscribed, unasked } from './queries.ts';
import { confirmToken } from './token.ts';

/** What asks readers. */
export type AskParts = Pick<Context, 'database' | 'limits' | 'publicUrl' | 'sealer' | 'isPublished' | 'channels'>;

/** How often readers are asked, of whom each is counted. In this order: what the account may not is not counted for the address. */
export type AskLimit = { readonly key: string; readonly rate: Rate; readonly whose: string };

/** The limits of letters that ask a reader on behalf of a user. */
export function askLimits({ limits }: Pick<AskParts, 'limits'>, userId: number, address: string): readonly AskLimit[] {
  const channel = channelOf('email');
  if (channel === undefined) throw new Error('there is no channel of mail');
  return [
    { key: `consent-mails:${userId}`, rate: limits.rate('channel_confirmation'), whose: 'of this account' },
    {
      key: `consent-mails-to:${targetKey(channel, userId, address)}`,
      rate: limits.rate('channel_confirmation_to_target'),
      whose: 'to this address',
    },
  ];
}

/** Asks the reader of an address anew, whoever was asked before. @returns false: none needs to be asked */
export async function askAgain(
  parts: Pick<AskParts, 'database' | 'publicUrl' | 'sealer'>,
  scope: Scope,
  tx: Transaction,
  address: string,
): Promise<boolean> {
  const user = await readTester(scope, tx);
  // The own address needs no asking, unless its reader has ended alerts to it: then this is the only way back.
  const isOwn = user.email_verified && user.email === address;
  if (isOwn && !(await hasUnsubscribed(scope, tx, address))) return false;
  const token = confirmToken.make();
  if (!(await askConsent(scope, tx, address, randomKeyHash(token)))) return false;
  await sendLetter(parts, scope, tx, address, token);
  return true;
}

/**
 * Asks the readers of mail addresses whom the scope's user has named and nobody has asked: nobody who has agreed, unsubscribed or has a letter that
 * still works, and never the own address, which has a letter of its own. What is above a limit is left out: it can be asked for later. Nobody is asked
 * on behalf of an account whose own address is not confirmed. No transaction is open.
 */
export async function askNewReaders(
  parts: AskParts,
  scope: Scope,
  targets: readonly { readonly channel: string; readonly target: string }[],
): Promise<void> {
  const named = [...new Set(targets.filter(({ channel }) => channel === 'email').map(({ target }) => target))];
  if (named.length === 0) return;
  const addresses = await inScope(parts.database.api, scope, async (tx) =>
    mayMailOthers(await readStanding(scope, tx), parts) ? unasked(scope, tx, named) : [],
  );
  for (const address of addresses) {
    const [ofAccount, toAddress] = await countAsking(parts, scope.userId ?? 0, address);
    if (isAbove(ofAccount)) return;
    if (isAbove(toAddress)) continue;
    await inScope(parts.database.api, scope, async (tx) => {
      const token = confirmToken.make();
      // Somebody else may have been faster, and their letter holds.
      if (!(await askFirst(scope, tx, address, randomKeyHash(token)))) return;
      await sendLetter(parts, scope, tx, address, token);
    });
  }
}

async function countAsking(parts: AskParts, userId: number, address: string): Promise<readonly RateState[]> {
  const states: RateState[] = [];
  for (const { key, rate } of askLimits(parts, userId, address)) {
    const state = await countOnce(parts.database.api, key, rate);
    states.push(state);
    if (isAbove(state)) break;
  }
  return states;
}

const isAbove = (state: RateState | undefined): boolean => state !== undefined && state.used > state.quota;

async function sendLetter(
  { publicUrl, sealer }: Pick<AskParts, 'publicUrl' | 'sealer'>,
  scope: Scope,
  tx: Transaction,
  address: string,
  token: string,
): Promise<void> {
  const user = await readTester(scope, tx);
  // An address that nobody has confirmed may be that of somebody whom the reader trusts.
  const from = user.email_verified && user.email !== null ? user.email : `user ${scope.userId ?? 0}`;
  const letter = confirmTargetLetter(user.locale, { from, url: mailTargetUrl(publicUrl, token) });
  await enqueueMail(tx, sealer, { to: address, ...renderLetter(letter) });
}
