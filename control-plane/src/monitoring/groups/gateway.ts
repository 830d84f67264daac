import { Problem } from '@parallax/api-contract';
import type { MonitorGroup } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { announceChange } from '../monitors/index.ts';
import { noGroup } from './not-found.ts';
import type { Switched } from './pauses/queries.ts';
import { findGroup, lockGroup } from './queries.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change of a group was: its row in the audit log, and which monitors it paused or resumed. */
export type Done = {
  readonly action: string;
  readonly detail?: AuditEvent['detail'];
  readonly switched?: Switched;
};

/**
 * Changes a group in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names; recorded, and told to
 * ingest and probes after the commit.
 * @param work writes; null when there was nothing to change
 * @returns the group as it is afterwards, undefined when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`, `name_taken`
 */
export async function changeGroup(
  context: Context,
  actor: Actor,
  groupId: number,
  work: (tx: Transaction, group: MonitorGroup) => Promise<Done | null>,
): Promise<MonitorGroup | undefined> {
  const scope = scopeOf(actor.caller);
  const { done, group } = await namesOfGroupsAreUnique(() =>
    inScope(context.database.api, scope, async (tx) => {
      const before = await lockGroup(scope, tx, groupId);
      if (before === null) throw noGroup(groupId);
      requireRole(actor.caller, before.workspace_id, 'editor');
      requireMatch(actor.request.header('if-match'), before.version);
      const outcome = await work(tx, before);
      if (outcome !== null) await record(tx, actor, before, outcome);
      return { done: outcome, group: await findGroup(scope, tx, groupId) };
    }),
  );
  tell(context, done?.switched);
  if (group === null) return undefined;
  actor.request.reply.header('etag', etagOf(group.version));
  return group;
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  actor: Actor,
  group: Pick<MonitorGroup, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, actor.caller, actor.request, {
    action,
    workspaceId: group.workspace_id,
    subjectType: 'monitor_group',
    subjectId: group.id,
    ...(detail === undefined ? {} : { detail }),
  });
}

/** Hints, after the commit, which monitors were paused or resumed. */
export function tell(context: Pick<Context, 'bus'>, switched: Switched | undefined): void {
  if (switched === undefined) return;
  const [first, ...others] = switched.shards;
  if (first === undefined) return;
  announceChange(context.bus, first, switched.probeIds);
  for (const shard of others) announceChange(context.bus, shard, []);
}

/** Runs `work`; a name that another group of the workspace has is told as such. */
export async function namesOfGroupsAreUnique<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UniqueIntegrityConstraintViolationError) || error.constraint !== 'monitor_groups_name') {
      throw error;
    }
    throw new Problem('name_taken', 'the workspace already has a monitor group with this name', {
      errors: [{ in: 'body', path: '/name', code: 'name_taken', message: 'must be unique within the workspace' }],
    });
  }
}
