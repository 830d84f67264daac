import { mostHeartbeats, Problem, slugSchema } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import { requireRoom } from '../../identity/unconfirmed/index.ts';
import type { AddressRules } from '../../identity/unconfirmed/index.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { enqueueHeld } from '../../platform/outbox/enqueue.ts';
import { uuidContext } from './answer.ts';
import type { HeartbeatRow } from './answer.ts';
import type { Configured } from './change.ts';
import { freeSlug, makeSecret, makeUuid } from './make.ts';
import { noHeartbeat } from './not-found.ts';
import { findHeartbeat, insertHeartbeat, lockSlugs } from './queries.ts';
import { entryOf } from './stored/announce.ts';
import { lockStates, writeRanges, writeStates } from './stored/queries.ts';
import type { Locked } from './stored/queries.ts';
import { rangeEdit } from './stored/ranges.ts';
import type { Switched } from './switches.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change of a heartbeat was: its row in the audit log. */
export type Done = { readonly action: string; readonly detail?: AuditEvent['detail'] };

/**
 * Changes a heartbeat in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names; recorded.
 * @param work writes; null when there was nothing to change
 * @returns the heartbeat as it is afterwards, undefined when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`, `slug_taken`
 */
export async function changeHeartbeat(
  context: Context,
  actor: Actor,
  id: number,
  work: (tx: Transaction, row: HeartbeatRow, locked: Locked) => Promise<Done | null>,
): Promise<HeartbeatRow | undefined> {
  const scope = scopeOf(actor.caller);
  const after = await slugsAreUnique(() =>
    inScope(context.database.api, scope, async (tx) => {
      const [locked] = await lockStates(scope, tx, [id]);
      const row = await findHeartbeat(scope, tx, id);
      if (locked === undefined || row === null) throw noHeartbeat(id);
      requireRole(actor.caller, row.workspace_id, 'editor');
      requireMatch(actor.request.header('if-match'), row.version);
      const done = await work(tx, row, locked);
      if (done !== null) await record(tx, actor, row, done);
      return findHeartbeat(scope, tx, id);
    }),
  );
  if (after === null) return undefined;
  actor.request.reply.header('etag', etagOf(after.version));
  return after;
}

/** Writes a row of the audit log. */
export function record(
  tx: Transaction,
  actor: Actor,
  heartbeat: { readonly id: number; readonly workspace_id: number },
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, actor.caller, actor.request, {
    action,
    workspaceId: heartbeat.workspace_id,
    subjectType: 'heartbeat',
    subjectId: heartbeat.id,
    ...(detail === undefined ? {} : { detail }),
  });
}

/** Writes what a person made of a state, with its timeline and its news; the row is locked by the caller. */
export async function writeSwitched(tx: Transaction, locked: Locked, switched: Switched, nowMs: number): Promise<void> {
  const { state: before } = locked;
  const { state: after, announcements } = switched;
  await writeStates(tx, [{ id: locked.id, before, after }]);
  const edit = rangeEdit(before, after);
  if (edit !== null) await writeRanges(tx, [{ heartbeatId: locked.id, workspaceId: locked.workspace_id, edit }]);
  await enqueueHeld(
    tx,
    announcements.map((each) => entryOf(locked, { before, after, nowMs }, each)),
  );
}

/** What a new heartbeat is known by outside. */
export type Credentials = {
  readonly secret: string;
  readonly uuid?: string | undefined;
  readonly pushToken?: string | undefined;
};

/**
 * Makes a heartbeat with a slug that is free.
 * @param wantsExactly the slug was named by the client: taken, it is refused instead of getting a number
 * @returns its identifier; null when its uuid or token is another heartbeat's
 * @throws Problem `slug_taken`, `too_many_heartbeats`, `address_unconfirmed`
 */
export async function makeHeartbeat(
  context: Pick<Context, 'sealer'> & AddressRules,
  scope: Scope,
  tx: Transaction,
  workspaceId: number,
  given: { readonly fields: Configured; readonly wantsExactly: boolean; readonly isPaused?: boolean },
  credentials: Credentials,
): Promise<number | null> {
  const { count, slugs } = await lockSlugs(scope, tx, workspaceId);
  if (count >= mostHeartbeats) {
    throw new Problem('too_many_heartbeats', `the workspace has ${mostHeartbeats} heartbeats; delete one first`);
  }
  await requireRoom(context, tx, 'heartbeats', new Map([[workspaceId, 1]]));
  const isFree = (slug: string): boolean => !slugs.has(slug) && slugSchema.safeParse(slug).success;
  if (given.wantsExactly && slugs.has(given.fields.slug)) throw slugTaken();
  const uuid = credentials.uuid ?? makeUuid();
  const uuidHash = randomKeyHash(uuid);
  return insertHeartbeat(tx, {
    ...given.fields,
    slug: freeSlug(given.fields.slug, isFree),
    workspace_id: workspaceId,
    uuid_hash: uuidHash,
    sealed_uuid: context.sealer.seal(uuid, uuidContext(uuidHash)),
    secret_hash: randomKeyHash(credentials.secret),
    push_hash: credentials.pushToken === undefined ? null : randomKeyHash(credentials.pushToken),
    is_paused: given.isPaused === true,
  });
}

export function newCredentials(): Credentials {
  return { secret: makeSecret() };
}

function slugTaken(): Problem {
  return new Problem('slug_taken', 'the workspace already has a heartbeat with this slug', {
    errors: [{ in: 'body', path: '/slug', code: 'slug_taken', message: 'must be unique within the workspace' }],
  });
}

async function slugsAreUnique<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UniqueIntegrityConstraintViolationError) || error.constraint !== 'heartbeats_slug')
      throw error;
    throw slugTaken();
  }
}
