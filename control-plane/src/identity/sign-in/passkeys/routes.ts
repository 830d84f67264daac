import {
  beginPasskeyRoute,
  beginPasskeySignInRoute,
  finishPasskeyRoute,
  finishPasskeySignInRoute,
  invalidInput,
  passkeyChallengeRoute,
  Problem,
  removePasskeyRoute,
} from '@parallax/api-contract';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { requireProof } from '../../accounts/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { beginChallenge, findChallenge, signIn, takeChallenge } from '../entry/queries.ts';
import { countWaysIn } from '../identities/queries.ts';
import { dropIdleRecoveryCodes, firstRecoveryCodes } from '../second-factor/gateway.ts';
import { readAccount } from '../second-factor/queries.ts';
import { passkeyAnswer } from './answer.ts';
import { judgeRegistration, registrationOptions, requestOptions } from './ceremony.ts';
import { judgedPasskey, requireParty } from './gateway.ts';
import { insertPasskey, listPasskeys, removePasskey } from './queries.ts';
import type { PasskeyRow } from './queries.ts';

const maxPasskeys = 20;

/** Passkeys: registered and removed by their owner, asked as a second factor, and as a way in of their own. */
export function passkeyRoutes(context: Context): readonly Route[] {
  return [...ownPasskeys(context), ...passkeySignIn(context)];
}

function ownPasskeys(context: Context): readonly Route[] {
  const pool = context.database.api;
  return [
    handle(beginPasskeyRoute, async ({ caller, body, request }) => {
      const party = requireParty(context);
      await requireProof(context, { caller, request }, body?.password, '/password');
      const scope = scopeOf(caller);
      const { email, passkeys } = await inScope(pool, scope, async (transaction) => ({
        ...(await readAccount(scope, transaction)),
        passkeys: await listPasskeys(scope, transaction),
      }));
      if (passkeys.length >= maxPasskeys) throw tooMany();
      const token = await beginChallenge(pool, 'passkey_registration', caller);
      const user = { id: caller.userId, name: email ?? `User ${caller.userId}`, passkeys: passkeys.map(known) };
      return { registration_token: token, options: await registrationOptions(party, user, token) };
    }),
    handle(finishPasskeyRoute, async ({ caller, body, request }) => {
      const party = requireParty(context);
      const token = body.registration_token;
      const challenge = await findChallenge(pool, 'passkey_registration', token);
      if (challenge.for_user !== caller.userId) throw unknownRegistration();
      const made = await judgeRegistration(party, body.passkey as RegistrationResponseJSON, token);
      if (made === undefined) {
        throw invalidInput(
          'body',
          '/passkey',
          'invalid_passkey',
          'is not the answer of an authenticator to this registration',
        );
      }
      const scope = scopeOf(caller);
      return inScope(pool, scope, async (transaction) => {
        if (!(await takeChallenge(transaction, 'passkey_registration', token))) throw unknownRegistration();
        if ((await listPasskeys(scope, transaction)).length >= maxPasskeys) throw tooMany();
        const row = await insertPasskey(scope, transaction, { ...made, name: body.name });
        if (row === null) throw new Problem('conflict', 'this passkey is registered already');
        const event = {
          action: 'passkey.registered',
          subjectType: 'passkey',
          subjectId: row.id,
          detail: { name: row.name },
        };
        await recordAudit(transaction, caller, request, event);
        const codes = await firstRecoveryCodes(scope, transaction);
        return { passkey: passkeyAnswer(row), recovery_codes: codes === null ? null : [...codes] };
      });
    }),
    handle(removePasskeyRoute, async ({ caller, params, body, request }) => {
      await requireProof(context, { caller, request }, body?.password, '/password');
      const scope = scopeOf(caller);
      await inScope(pool, scope, async (transaction) => {
        const ways = await countWaysIn(scope, transaction);
        if (!(await removePasskey(scope, transaction, params.id))) {
          throw new Problem('not_found', `there is no passkey ${params.id}`);
        }
        if (ways <= 1)
          throw new Problem('last_way_in', 'without this passkey nobody could sign in: add another way first');
        await dropIdleRecoveryCodes(scope, transaction);
        const event = { action: 'passkey.removed', subjectType: 'passkey', subjectId: params.id };
        await recordAudit(transaction, caller, request, event);
      });
    }),
  ];
}

function passkeySignIn(context: Context): readonly Route[] {
  const pool = context.database.api;
  return [
    handle(passkeyChallengeRoute, async ({ body }) => {
      const party = requireParty(context);
      const { for_user: userId } = await findChallenge(pool, 'second_factor', body.mfa_token);
      if (userId === null)
        throw new Problem('invalid_credentials', 'the mfa_token is not known or is too old: sign in again');
      const scope = { userId, workspaceIds: [] };
      const passkeys = await inScope(pool, scope, async (transaction) => listPasskeys(scope, transaction));
      if (passkeys.length === 0) throw new Problem('not_found', 'this account has no passkey');
      return { options: await requestOptions(party, passkeys.map(known), body.mfa_token) };
    }),
    handle(beginPasskeySignInRoute, async () => {
      const party = requireParty(context);
      const token = await beginChallenge(pool, 'passkey_sign_in', undefined);
      return { sign_in_token: token, options: await requestOptions(party, undefined, token) };
    }),
    handle(finishPasskeySignInRoute, async ({ body, request }) => {
      const token = body.sign_in_token;
      const { known: isKnown } = await findChallenge(pool, 'passkey_sign_in', token);
      const use = isKnown ? await judgedPasskey(context, { answer: body.passkey, token, isAlone: true }) : undefined;
      if (use === undefined) throw refused();
      return signIn(context, { userId: use.userId, way: 'passkey' }, request, async (scope, transaction) => {
        const isTaken = await takeChallenge(transaction, 'passkey_sign_in', token);
        if (!isTaken || !(await use(scope, transaction))) throw refused();
        return undefined;
      });
    }),
  ];
}

function known(row: PasskeyRow): { credentialId: Uint8Array; transports: readonly string[] } {
  return { credentialId: row.credential_id, transports: row.transports };
}

/** One answer for all that is wrong: nothing is told of which credentials exist. */
function refused(): Problem {
  return new Problem('invalid_credentials', 'the passkey does not let anybody in: begin again');
}

function unknownRegistration(): Problem {
  return new Problem('not_found', 'this registration is not known, was finished or is too old: begin again');
}

function tooMany(): Problem {
  return new Problem('conflict', `an account may have ${maxPasskeys} passkeys: remove one first`);
}
