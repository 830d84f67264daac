import { Problem } from '@parallax/api-contract';
import type { PasskeyAnswer } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { judgeAnswer, relyingParty } from './ceremony.ts';
import type { RelyingParty } from './ceremony.ts';
import { findPasskey, usePasskey } from './queries.ts';

/** The relying party of this installation. @throws Problem `not_found` where its public URL has an address in place of a host name */
export function requireParty(context: Context): RelyingParty {
  const party = relyingParty(context.publicUrl);
  if (party !== undefined) return party;
  throw new Problem('not_found', 'passkeys need a host name: PARALLAX_PUBLIC_URL has an address');
}

/** Uses an answer that was judged; false when its counter was reached meanwhile. `userId` is whose the passkey is. */
export type UsePasskey = ((scope: Scope, transaction: Transaction) => Promise<boolean>) & { readonly userId: number };

/**
 * Judges the answer of a passkey.
 * @param given `userId` whose it must be, where that is known; `isAlone` when there is no other factor
 * @returns what uses it up; undefined when it does not hold
 */
export async function judgedPasskey(
  context: Context,
  given: {
    readonly answer: PasskeyAnswer;
    readonly token: string;
    readonly userId?: number;
    readonly isAlone: boolean;
  },
): Promise<UsePasskey | undefined> {
  const party = requireParty(context);
  const known = await findPasskey(context.database.api, Buffer.from(given.answer.id, 'base64url'));
  const { id, user_id: userId, public_key: publicKey, counter } = known;
  if (id === null || userId === null || publicKey === null || counter === null) return undefined;
  if (given.userId !== undefined && given.userId !== userId) return undefined;
  const passkey = { userId, publicKey, counter };
  const newCounter = await judgeAnswer(party, given.answer, given.token, passkey, given.isAlone);
  if (newCounter === undefined) return undefined;
  const use = async (scope: Scope, transaction: Transaction) => usePasskey(scope, transaction, id, newCounter);
  return Object.assign(use, { userId });
}
