import { invalidInput, Problem } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { passwordHasher } from '../../auth/index.ts';
import { readProof } from '../queries.ts';
import type { ProofRow } from '../queries.ts';

/** How long a sign-in stands in for the password of an account that has none. */
const recentSeconds = 600;

/**
 * Has the caller prove that they are who signed in, for what outlives the session: by a sign-in of the last ten minutes, or by the password. So
 * a session that was left open, or stolen, gets no way in of its own.
 * @throws Problem `recent_sign_in_required`, or as `requireProof` does
 */
export async function requireRecentProof(
  context: Context,
  actor: { readonly caller: Caller; readonly request: RequestFacts },
  password?: string,
): Promise<void> {
  const scope = scopeOf(actor.caller);
  const { signed_in_seconds: age } = await inScope(context.database.api, scope, async (transaction) =>
    readProof(scope, transaction, actor.caller.sessionId),
  );
  if (age !== null && age <= recentSeconds) return;
  if (password === undefined) {
    throw new Problem('recent_sign_in_required', 'sign in again and repeat this within ten minutes');
  }
  await requireProof(context, actor, password, '/password');
}

/**
 * Has the caller prove that they are who signed in: by the password, or by a sign-in of the last ten minutes where the account has none.
 * @param path where the password stands in the body
 * @throws Problem `invalid_input` for a missing or wrong password, `recent_sign_in_required`, `rate_limited` after too many tries
 */
export async function requireProof(
  context: Context,
  { caller, request }: { readonly caller: Caller; readonly request: RequestFacts },
  password: string | undefined,
  path: '/password' | '/current_password',
): Promise<ProofRow> {
  const scope = scopeOf(caller);
  const proof = await inScope(context.database.api, scope, async (transaction) =>
    readProof(scope, transaction, caller.sessionId),
  );
  if (proof.password_hash === null) {
    if (proof.signed_in_seconds !== null && proof.signed_in_seconds <= recentSeconds) return proof;
    throw new Problem(
      'recent_sign_in_required',
      'this account has no password: sign in again and repeat this within ten minutes',
    );
  }
  if (password === undefined) throw invalidInput('body', path, 'required', 'the password of the account is needed');
  // A stolen access token must not find out the password by trying: counted before, so that many at once are no way around it.
  const tries = await countOnce(
    context.database.api,
    `password-again:${caller.userId}`,
    context.limits.rate('password_again'),
  );
  applyRates(request.reply, [tries], 'passwords that were asked for again', 'of this account');
  if (await passwordHasher(context).verify(proof.password_hash, password)) return proof;
  throw invalidInput('body', path, 'wrong_password', 'is not the password of this account');
}
