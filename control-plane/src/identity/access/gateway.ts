import { Problem } from '@parallax/api-contract';
import type { RouteContract } from '@parallax/api-contract';
import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { applyRates } from '../../platform/http/apply-rates.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { clientAddress, clientNetwork } from '../../platform/http/client-address.ts';
import { createOnce } from '../../platform/http/idempotency/index.ts';
import { countOnce, countTwice, perHour, perMinute } from '../../platform/http/rate-limits.ts';
import type { RequestGuards } from '../../platform/http/register-route.ts';
import { apiKeyKind } from '../api-keys/index.ts';
import { readAccessToken, tokenKeys } from '../auth/index.ts';
import type { CredentialKind } from '../durable-credentials/index.ts';
import { accessTokenKind, isOfAccount, isPersonalToken, takesPersonalTokens } from '../tokens/index.ts';
import { givenCredentials } from './credentials.ts';
import { callerOfCredential, callerOfSession } from './queries.ts';
import type { CallerRow } from './queries.ts';

/** What stands before every handler: who calls, and how often. */
export function createRequestGuards(context: Context): RequestGuards {
  return {
    authenticate: async (request, contract) => authenticate(context, request.headers, contract),
    limit: async (request, reply, caller, contract) => {
      if (contract.perAddressPerMinute !== undefined) {
        const address = clientAddress(request.ip, request.socket.remoteAddress);
        await limitAddress(context, reply, address, contract, contract.perAddressPerMinute);
      }
      if (caller !== undefined) await limitCaller(context, reply, caller);
    },
    once: createOnce({ pool: context.database.api, sealer: context.sealer, log: context.log }),
  };
}

async function authenticate(
  context: Context,
  headers: Parameters<typeof givenCredentials>[0],
  contract: RouteContract,
): Promise<Caller | undefined> {
  const accepts = contract.credentials;
  // The secret of a heartbeat is judged by its own route.
  if (accepts === 'none' || accepts === 'secret-header') return undefined;
  const given = givenCredentials(headers);
  if (given.kind === 'none') {
    if (accepts === 'bearer-or-none') return undefined;
    const wanted =
      accepts === 'key-or-bearer'
        ? 'Authorization: Bearer <access token> or X-API-Key'
        : 'Authorization: Bearer <access token>';
    throw new Problem('unauthenticated', `this route needs the header ${wanted}`);
  }
  if (given.kind === 'bearer') {
    if (!isPersonalToken(given.token)) return callerOfToken(context, given.token);
    const caller = await callerOfSecret(context, accessTokenKind, given.token);
    if (takesPersonalTokens(contract)) return narrowEnough(caller, contract);
    throw new Problem('wrong_credential_kind', 'this route needs a session: log in, and send its access token');
  }
  const caller = await callerOfSecret(context, apiKeyKind, given.key);
  if (accepts !== 'key-or-bearer') {
    throw new Problem('wrong_credential_kind', 'this route takes an access token, not an API key');
  }
  return narrowEnough(caller, contract);
}

/** @throws Problem `wrong_credential_kind` when a credential that is narrower than its account asks for the account itself */
function narrowEnough(caller: Caller, contract: RouteContract): Caller {
  if (!(caller.isLimited || caller.readOnly) || !isOfAccount(contract)) return caller;
  const noun = caller.kind === 'api_key' ? 'API keys' : 'tokens';
  throw new Problem(
    'wrong_credential_kind',
    `this route belongs to the account: ${noun} that are read-only or limited to workspaces are not taken here`,
  );
}

async function callerOfToken(context: Context, token: string): Promise<Caller> {
  const keys = await tokenKeys(context);
  const sessionId = await readAccessToken(keys.access, token, context.now());
  const caller = callerOf(await callerOfSession(context.database.api, sessionId), 'user');
  if (caller === undefined) throw new Problem('invalid_credentials', 'the session has ended; log in again');
  return { ...caller, sessionId };
}

async function callerOfSecret(context: Context, kind: CredentialKind, secret: string): Promise<Caller> {
  const row = kind.form.isForm(secret)
    ? await callerOfCredential(context.database.api, kind, randomKeyHash(secret))
    : undefined;
  const caller = row === undefined ? undefined : callerOf(row, kind.subject);
  if (caller === undefined) {
    throw new Problem('invalid_credentials', `the ${kind.noun} is not valid, expired or revoked`);
  }
  return caller;
}

function callerOf(row: CallerRow, kind: Caller['kind']): Caller | undefined {
  if (row.user_id === null || row.plan === null) return undefined;
  return {
    kind,
    userId: row.user_id,
    // The rights of an administrator belong to no workspace.
    isAdministrator: row.is_administrator === true && !row.is_limited,
    workspaces: new Map(Object.entries(row.roles ?? {}).map(([id, role]) => [Number(id), role])),
    plan: row.plan,
    readOnly: row.read_only === true,
    ...(row.scopes === null ? {} : { scopes: row.scopes }),
    isLimited: row.is_limited,
  };
}

async function limitAddress(
  context: Context,
  reply: FastifyReply,
  address: string,
  contract: RouteContract,
  quota: number,
): Promise<void> {
  const key = `address:${contract.method} ${contract.path}:${clientNetwork(address)}`;
  const state = await countOnce(context.database.api, key, context.limits.ofRoute(contract, quota));
  applyRates(reply, [state], 'requests', 'from this address');
}

async function limitCaller(context: Context, reply: FastifyReply, caller: Caller): Promise<void> {
  const { requests } = context.limits.plan(caller.plan);
  if (requests === undefined) return;
  const states = await countTwice(
    context.database.api,
    `user:${caller.userId}`,
    perMinute(requests.perMinute),
    perHour(requests.perHour),
  );
  applyRates(reply, states, 'requests', `for the plan ${caller.plan}`);
}
