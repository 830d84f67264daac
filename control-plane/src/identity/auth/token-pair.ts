import type { TokenPair } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { accessTokenSeconds, makeAccessToken } from './access-token.ts';
import { tokenKeys } from './queries.ts';
import { makeRefreshToken } from './refresh-token.ts';

/** The tokens of a session at a counter. @param salt of the session */
export async function tokenPairOf(
  context: Context,
  session: { readonly id: string; readonly counter: number; readonly rotatedAtMs: number },
  salt: Buffer,
): Promise<TokenPair> {
  const keys = await tokenKeys(context);
  return {
    access_token: await makeAccessToken(keys.access, session),
    refresh_token: makeRefreshToken(keys.refresh, session.id, session.counter, salt),
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
  };
}
