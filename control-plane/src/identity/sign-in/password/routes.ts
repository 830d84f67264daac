import { createHash } from 'node:crypto';
import { loginRoute, Problem } from '@parallax/api-contract';
import type { TokenPair } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { countedSoFar, countOnce } from '../../../platform/http/rate-limits.ts';
import { findLogin, passwordHasher, recordFailedLogin } from '../../auth/index.ts';
import { enter, tokensOf } from '../entry/queries.ts';
import { passSecondFactor } from '../second-factor/gateway.ts';
import type { GivenFactor } from '../second-factor/gateway.ts';

/** `/auth/login`. */
export function passwordRoutes(context: Context): readonly Route[] {
  return [handle(loginRoute, async ({ body, request }) => (await signInByPassword(context, body, request)).tokens)];
}

/**
 * Signs in by a password, and by a second factor that comes with it.
 * @throws Problem `invalid_credentials`, `mfa_required`, `invalid_second_factor`, `rate_limited`
 */
export async function signInByPassword(
  context: Context,
  body: { readonly email: string; readonly password: string } & Pick<GivenFactor, 'totp_code' | 'recovery_code'>,
  request: RequestFacts,
): Promise<{ readonly userId: number; readonly tokens: TokenPair }> {
  const pool = context.database.api;
  const digest = createHash('sha256').update(body.email).digest('base64url').slice(0, 22);
  const failureKey = `failed-login:${digest}:${clientNetwork(request.remoteAddress)}`;
  const failedLogins = context.limits.rate('failed_login');
  const failures = await countedSoFar(pool, failureKey, failedLogins);
  // This one is not counted unless it fails.
  if (failures.used >= failures.quota) {
    const refusing = { ...failures, used: failures.quota + 1 };
    applyRates(request.reply, [refusing], 'failed logins', 'of this account from this address');
  }
  const account = await findLogin(pool, body.email);
  const matches = await passwordHasher(context).verify(account.password_hash, body.password);
  if (!matches || account.user_id === null) {
    await countOnce(pool, failureKey, failedLogins);
    await recordFailedLogin(pool, body.email, request);
    throw new Problem('invalid_credentials', 'the address or the password is wrong');
  }
  const entry = {
    userId: account.user_id,
    way: 'password',
    provenHash: account.password_hash ?? undefined,
  } as const;
  const { totp_code, recovery_code } = body;
  const isShown = totp_code !== undefined || recovery_code !== undefined;
  const pass = isShown ? () => passSecondFactor(context, entry, { totp_code, recovery_code }, request, {}) : undefined;
  return { userId: entry.userId, tokens: tokensOf(await enter(context, entry, request, pass)) };
}
