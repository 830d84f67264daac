import { createAddressPolicy } from '@parallax/checks';
import { invalidInput, Problem } from '@parallax/api-contract';
import type { PushSubscription, SubscribePush } from '@parallax/api-contract';
import webPush from 'web-push';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import { installationKey } from '../../platform/crypto/sealed-keys.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { keysHash, readKeys } from './browser-keys.ts';
import { browserName } from './browser-name.ts';
import { endpointHash, readEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import {
  findByEndpoint,
  insertSubscription,
  lockSubscriptions,
  nextSubscriptionId,
  noteDelivered,
  readSealed,
  releaseEndpoint,
  removeGone,
  removeOldest,
  renewSubscription,
} from './queries.ts';
import type { KeptSubscription, SubscriptionRow } from './queries.ts';
import { openAddress, sealAddress } from './seal.ts';
import type { PushAddress } from './seal.ts';

type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What happens in the transaction in which a browser is subscribed: whatever was given up for want of one can be taken up again. */
export type OnSubscribed = (scope: Scope, tx: Transaction, subscriptionId: number) => Promise<void>;

/** Both halves of the installation's key (RFC 8292), base64url. */
type VapidKeys = { readonly publicKey: string; readonly privateKey: string };

/** The installation's key, made at first use: replicas agree on one, and it is sealed, backed up and re-wrapped like its other keys. */
export async function vapidKeys(context: Pick<Context, 'database' | 'sealer'>): Promise<VapidKeys> {
  const { secret, publicPart } = await installationKey(
    context.database.worker,
    context.sealer,
    'web push',
    async () => {
      const made = webPush.generateVAPIDKeys();
      return { secret: Buffer.from(made.privateKey, 'base64url'), publicPart: made.publicKey };
    },
  );
  if (publicPart === null) throw new Error('the key of web push has lost its public part');
  return { publicKey: publicPart, privateKey: secret.toString('base64url') };
}

/**
 * Subscribes a browser for the caller.
 * @returns whether it is new to them
 * @throws Problem `invalid_input`; `conflict` when another account has this endpoint with other keys
 */
export async function subscribe(
  context: Context,
  actor: Actor,
  body: SubscribePush,
  onSubscribed: readonly OnSubscribed[],
): Promise<{ readonly row: SubscriptionRow; readonly isNew: boolean }> {
  const address = addressOf(context, body);
  const kept = keptOf(actor, body, address);
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    await lockSubscriptions(scope, tx);
    const known = await findByEndpoint(scope, tx, kept.endpointHash);
    const row =
      known === null
        ? await addSubscription(context, actor, tx, kept, address)
        : await renewSubscription(scope, tx, known, kept, sealAddress(context.sealer, known, address), context.now());
    for (const act of onSubscribed) await act(scope, tx, row.id);
    return { row, isNew: known === null };
  });
}

async function addSubscription(
  context: Context,
  { caller, request }: Actor,
  tx: Transaction,
  kept: KeptSubscription,
  address: PushAddress,
): Promise<SubscriptionRow> {
  const scope = scopeOf(caller);
  const isFree = await releaseEndpoint(tx, kept.endpointHash, kept.keysHash);
  const id = await nextSubscriptionId(tx);
  const named = { ...kept, name: kept.name ?? browserName(kept.userAgent) };
  const sealed = sealAddress(context.sealer, id, address);
  const row = isFree ? await insertSubscription(scope, tx, id, named, sealed, context.now()) : null;
  if (row === null) {
    throw new Problem(
      'conflict',
      'this endpoint is subscribed with other keys: unsubscribe in the browser and subscribe anew',
    );
  }
  // Browsers make new subscriptions by themselves, in service workers where nobody reads a refusal, and leave old ones behind: so the one
  // that was not seen for the longest goes, and the new one is never refused.
  const removed = await removeOldest(scope, tx, id);
  const detail = { name: row.name, service: row.service };
  await recordAudit(tx, caller, request, {
    action: 'push_subscription.created',
    subjectType: 'push_subscription',
    subjectId: id,
    detail,
  });
  for (const gone of removed) {
    const event = { action: 'push_subscription.displaced', subjectType: 'push_subscription', subjectId: gone.id };
    await recordAudit(tx, caller, request, { ...event, detail: { name: gone.name } });
  }
  return row;
}

function addressOf(context: Context, body: SubscribePush): PushAddress & Endpoint {
  const addresses = createAddressPolicy({
    allowedPrivate: context.allowedPrivateHooks,
    deniedListeners: context.deniedListeners(),
  });
  const endpoint = readEndpoint(body.endpoint, addresses);
  if (!endpoint.ok) throw invalidInput('body', '/endpoint', 'invalid_endpoint', endpoint.message);
  const read = readKeys(body.keys);
  if (!read.ok) throw invalidInput('body', `/keys/${read.key}`, 'invalid_key', read.message);
  return { ...endpoint, endpoint: endpoint.url, keys: read.keys };
}

function keptOf({ request }: Actor, body: SubscribePush, address: PushAddress & Endpoint): KeptSubscription {
  const userAgent = body.user_agent === undefined ? (request.userAgent ?? null) : body.user_agent;
  const expiry = body.expiration_time ?? body.expirationTime ?? null;
  return {
    endpointHash: endpointHash(address.url),
    keysHash: keysHash(address.keys),
    name: body.name ?? null,
    userAgent: userAgent?.slice(0, 500) ?? null,
    service: address.service,
    expiresAtMs: typeof expiry === 'string' ? Date.parse(expiry) : expiry === null ? null : Math.floor(expiry),
  };
}

/** A subscription as its owner is shown it: neither endpoint nor keys. */
export function answerOf(row: SubscriptionRow): PushSubscription {
  const { endpoint_hash: hash, ...shown } = row;
  return {
    ...shown,
    endpoint_sha256: hash.toString('hex'),
    expires_at: isoTime(row.expires_at),
    created_at: new Date(row.created_at).toISOString(),
    seen_at: new Date(row.seen_at).toISOString(),
    last_delivered_at: isoTime(row.last_delivered_at),
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/**
 * Whether a target of web push, `all` or the number of a subscription, has anybody to tell. Until the transaction ends nobody subscribes, so who
 * gives up a target without one cannot miss a browser that is just coming.
 */
export async function hasBrowser(
  context: Pick<Context, 'now'>,
  ownerId: number,
  tx: Transaction,
  target: string,
): Promise<boolean> {
  const scope: Scope = { userId: ownerId, workspaceIds: [] };
  await lockSubscriptions(scope, tx);
  return (await readSealed(scope, tx, target === 'all' ? null : Number(target), context.now())).length > 0;
}

/** The browsers of a user, for the channel that tells them: `SubscribedBrowsers` of channels/channel.ts. */
export function subscribedBrowsers(context: Pick<Context, 'database' | 'sealer' | 'now'>, ownerId: number) {
  const scope: Scope = { userId: ownerId, workspaceIds: [] };
  const pool = context.database.worker;
  return {
    find: async (
      id: number | null,
    ): Promise<readonly (PushAddress & { readonly id: number; readonly name: string })[]> => {
      const rows = await readSealed(scope, pool, id, context.now());
      return rows.map((row) => ({ id: row.id, name: row.name, ...openAddress(context.sealer, row.id, row.sealed) }));
    },
    remove: (ids: readonly number[]): Promise<void> => removeGone(scope, pool, ids),
    noteDelivered: (ids: readonly number[]): Promise<void> => noteDelivered(scope, pool, ids, context.now()),
    vapidKeys: (): Promise<VapidKeys> => vapidKeys(context),
  };
}
