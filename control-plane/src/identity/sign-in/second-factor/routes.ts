import { randomBytes } from 'node:crypto';
import {
  beginTotpRoute,
  confirmTotpRoute,
  invalidInput,
  listFactorsRoute,
  newRecoveryCodesRoute,
  Problem,
  removeTotpRoute,
  verifySecondFactorRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { requireProof } from '../../accounts/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { factorsOf, findChallenge, takeChallenge } from '../entry/queries.ts';
import { listPasskeys } from '../passkeys/queries.ts';
import { passkeyAnswer } from '../passkeys/answer.ts';
import { dropIdleRecoveryCodes, firstRecoveryCodes, newRecoveryCodes, passSecondFactor, totpSeal } from './gateway.ts';
import { beginTotp, confirmTotp, countRecoveryCodes, findTotp, readAccount, removeTotp } from './queries.ts';
import { describeTotp, matchingStep, totpSecretBytes } from './totp.ts';

/** Routes below `/auth/mfa`, except those of passkeys. */
export function secondFactorRoutes(context: Context): readonly Route[] {
  const pool = context.database.api;
  return [
    handle(listFactorsRoute, async ({ caller }) => {
      const scope = scopeOf(caller);
      return inScope(pool, scope, async (transaction) => {
        const totp = await findTotp(scope, transaction);
        const passkeys = await listPasskeys(scope, transaction);
        const { left } = await countRecoveryCodes(scope, transaction);
        const confirmedAtMs = totp?.confirmed_at ?? null;
        return {
          totp: confirmedAtMs === null ? null : { confirmed_at: new Date(confirmedAtMs).toISOString() },
          passkeys: passkeys.map(passkeyAnswer),
          recovery_codes_left: left,
        };
      });
    }),
    handle(beginTotpRoute, async ({ caller, body, request }) => {
      await requireProof(context, { caller, request }, body?.password, '/password');
      const scope = scopeOf(caller);
      const secret = randomBytes(totpSecretBytes);
      const sealed = context.sealer.seal(secret, totpSeal(caller.userId));
      const { email } = await inScope(pool, scope, async (transaction) => {
        if (!(await beginTotp(scope, transaction, sealed))) throw alreadyConfirmed();
        const event = { action: 'totp.begun', subjectType: 'user', subjectId: caller.userId };
        await recordAudit(transaction, caller, request, event);
        return readAccount(scope, transaction);
      });
      const { base32, url } = describeTotp(secret, email ?? `User ${caller.userId}`);
      return { secret: base32, otpauth_url: url };
    }),
    handle(confirmTotpRoute, async ({ caller, body, request }) => {
      const scope = scopeOf(caller);
      const codes = await inScope(pool, scope, async (transaction) => {
        const totp = await findTotp(scope, transaction);
        if (totp === null) throw new Problem('not_found', 'no authenticator app waits to be confirmed');
        if (totp.confirmed_at !== null) throw alreadyConfirmed();
        const secret = context.sealer.open(totp.secret, totpSeal(caller.userId));
        const step = matchingStep(secret, body.code, context.now());
        if (step === undefined) {
          throw invalidInput(
            'body',
            '/code',
            'wrong_code',
            'is not the code of now: compare the clocks of both devices',
          );
        }
        if (!(await confirmTotp(scope, transaction, totp.secret, step))) throw alreadyConfirmed();
        const event = { action: 'totp.confirmed', subjectType: 'user', subjectId: caller.userId };
        await recordAudit(transaction, caller, request, event);
        return firstRecoveryCodes(scope, transaction);
      });
      return { recovery_codes: codes === null ? null : [...codes] };
    }),
    handle(removeTotpRoute, async ({ caller, body, request }) => {
      await requireProof(context, { caller, request }, body?.password, '/password');
      const scope = scopeOf(caller);
      await inScope(pool, scope, async (transaction) => {
        if (!(await removeTotp(scope, transaction))) throw new Problem('not_found', 'there is no authenticator app');
        await dropIdleRecoveryCodes(scope, transaction);
        const event = { action: 'totp.removed', subjectType: 'user', subjectId: caller.userId };
        await recordAudit(transaction, caller, request, event);
      });
    }),
    handle(newRecoveryCodesRoute, async ({ caller, body, request }) => {
      await requireProof(context, { caller, request }, body?.password, '/password');
      const scope = scopeOf(caller);
      const codes = await inScope(pool, scope, async (transaction) => {
        if ((await factorsOf(scope, transaction)).length === 0) {
          throw new Problem('conflict', 'recovery codes stand in for a second factor, and this account has none');
        }
        const event = { action: 'recovery_codes.replaced', subjectType: 'user', subjectId: caller.userId };
        await recordAudit(transaction, caller, request, event);
        return newRecoveryCodes(scope, transaction);
      });
      return { recovery_codes: [...codes] };
    }),
    handle(verifySecondFactorRoute, async ({ body, request }) => {
      const { mfa_token: token, passkey, ...codes } = body;
      const { known, for_user: userId, way } = await findChallenge(pool, 'second_factor', token);
      if (!known || userId === null || way === null) throw tokenHasEnded();
      const given = { ...codes, ...(passkey === undefined ? {} : { passkey: { answer: passkey, token } }) };
      return passSecondFactor(context, { userId, way }, given, request, {
        token,
        take: async (transaction) => {
          if (!(await takeChallenge(transaction, 'second_factor', token))) throw tokenHasEnded();
        },
      });
    }),
  ];
}

function alreadyConfirmed(): Problem {
  return new Problem('conflict', 'this account has an authenticator app: remove it first');
}

function tokenHasEnded(): Problem {
  return new Problem('invalid_credentials', 'the mfa_token is not known, was used or is too old: sign in again');
}
