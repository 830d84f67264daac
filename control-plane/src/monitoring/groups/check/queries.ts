import { groupCheckSettings, groupProtocol, invalidInput, Problem } from '@parallax/api-contract';
import type { GroupCheckSettings, InputError, InputPath, MonitorStatus } from '@parallax/api-contract';
import type pg from 'pg';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { findCycle, tellCycle } from './cycle.ts';
import type { Member } from './decide.ts';

// Aliases: g the group monitor, m one that may be its member. Both are of one workspace, always, and a deleted monitor is no member: so one that
// was deleted or moved away is none from then on, whatever the settings still say.
const isMember = sql.fragment`m.workspace_id = g.workspace_id and m.id <> g.id and (
  g.settings -> 'monitor_ids' @> to_jsonb(m.id)
  or exists (
    select from monitor_group_members gm
    where gm.group_id = (g.settings ->> 'group_id')::integer and gm.workspace_id = g.workspace_id and gm.monitor_id = m.id))`;
/** SQL: whether `m` is a member of the group monitor `g`, found by the identifiers that it names. */
export const liveMembers = sql.fragment`m.workspace_id = g.workspace_id and m.deleted_at is null and m.id in (
  select named::integer from jsonb_array_elements_text(coalesce(g.settings -> 'monitor_ids', '[]')) as named
  union all
  select gm.monitor_id from monitor_group_members gm
  where gm.group_id = (g.settings ->> 'group_id')::integer and gm.workspace_id = g.workspace_id)`;
// From the member's side.
const containsMember = sql.fragment`g.protocol = 'group' and g.deleted_at is null and ${isMember}`;

/** Settings of a monitor `m` as they are answered and built on: a group monitor names only members that are there. */
export const presentSettings = sql.fragment`(case when m.protocol = ${groupProtocol} and m.settings ? 'monitor_ids' then
  jsonb_set(m.settings, '{monitor_ids}', coalesce((
    select jsonb_agg(member.id order by member.id) from monitors member
    where member.workspace_id = m.workspace_id and member.deleted_at is null and member.id in (
      select named::integer from jsonb_array_elements_text(m.settings -> 'monitor_ids') as named)), '[]'))
  else m.settings end)`;

/** The same by name, as files have them (`namedGroupSettings`); the names in no order. One whose group was deleted watches nothing, and says so. */
export const namedSettings = sql.fragment`(case when m.protocol = ${groupProtocol} then
  (m.settings - 'monitor_ids' - 'group_id') || coalesce((
    select jsonb_build_object('group', watched.name) from monitor_groups watched
    where watched.id = (m.settings ->> 'group_id')::integer and watched.workspace_id = m.workspace_id
  ), jsonb_build_object('monitors', coalesce((
    select jsonb_agg(member.name) from monitors member
    where member.workspace_id = m.workspace_id and member.deleted_at is null and member.id in (
      select named::integer from jsonb_array_elements_text(coalesce(m.settings -> 'monitor_ids', '[]')) as named)), '[]')))
  else m.settings end)`;

// Any class of advisory locks that nothing else on this database uses; the second number is the workspace.
const lockClass = 715_203_706;

const presentRow = z.object({ id: z.number() });

/**
 * Shows that what a group monitor was just given to watch is there. The row is written by the caller, in this transaction.
 * @throws Problem `invalid_input`, which names each monitor or group that is not of the workspace, or the way on which it contains itself
 */
export async function requireWatchable(
  scope: Scope,
  tx: Transaction,
  monitor: { readonly workspaceId: number; readonly protocol: string; readonly settings: unknown },
): Promise<void> {
  if (monitor.protocol !== groupProtocol) return;
  const settings = groupCheckSettings.parse(monitor.settings);
  const { workspaceId } = monitor;
  if (!scope.workspaceIds.includes(workspaceId)) throw new Error(`workspace ${workspaceId} is not of the scope`);
  await requirePresent(tx, workspaceId, settings);
  await requireNoCycle(scope, tx, workspaceId, '/settings');
}

async function requirePresent(tx: Transaction, workspaceId: number, settings: GroupCheckSettings): Promise<void> {
  const { monitor_ids: monitorIds = [], group_id: groupId } = settings;
  if (groupId !== undefined) {
    const group = await tx.maybeOne(sql.type(presentRow)`
      select id from monitor_groups where id = ${groupId} and workspace_id = ${workspaceId}`);
    if (group !== null) return;
    const message = `there is no monitor group ${groupId} in workspace ${workspaceId}`;
    throw invalidInput('body', '/settings/group_id', 'unknown_group', message);
  }
  const found = await tx.anyFirst(sql.type(presentRow)`
    select id from monitors
    where id = any(${sql.array(monitorIds, 'int4')}) and workspace_id = ${workspaceId} and deleted_at is null`);
  const present = new Set(found);
  const errors = monitorIds.flatMap((id, index): InputError[] => {
    if (present.has(id)) return [];
    const message = `there is no monitor ${id} in workspace ${workspaceId}`;
    return [{ in: 'body', path: `/settings/monitor_ids/${index}`, code: 'unknown_monitor', message }];
  });
  if (errors[0] !== undefined) throw new Problem('invalid_input', errors[0].message, { errors: errors.slice(0, 100) });
}

const nodeRow = z.object({
  id: z.number(),
  name: z.string(),
  group_name: z.string().nullable(),
  members: z.array(z.number()),
});

/**
 * Shows that no group monitor of the workspace contains itself, after what the caller has written in this transaction. Whoever writes what group
 * monitors contain goes through here, one after another in a workspace until the transaction ends: of two that together close a circle the
 * second one sees what the first has done.
 * @param path what of the request is wrong when one does
 * @throws Problem `invalid_input` with the whole way
 */
export async function requireNoCycle(
  scope: Scope,
  tx: Transaction,
  workspaceId: number,
  path: InputPath,
): Promise<void> {
  if (!scope.workspaceIds.includes(workspaceId)) throw new Error(`workspace ${workspaceId} is not of the scope`);
  await tx.query(sql.unsafe`select pg_advisory_xact_lock(${lockClass}, ${workspaceId})`);
  // In a statement of its own, which sees what the one waited for has written. A monitor that names itself is a circle of one.
  const nodes = await tx.any(sql.type(nodeRow)`
    select g.id, g.name, watched.name as group_name, coalesce((
      select array_agg(m.id order by m.id) from monitors m where ${liveMembers} and m.protocol = ${groupProtocol}), '{}') as members
    from monitors g left join monitor_groups watched on watched.id = (g.settings ->> 'group_id')::integer
    where g.workspace_id = ${workspaceId} and g.protocol = ${groupProtocol} and g.deleted_at is null
    order by g.id`);
  const cycle = findCycle(nodes.map(({ group_name: group, ...node }) => ({ ...node, group })));
  if (cycle === undefined) return;
  throw invalidInput('body', path, 'group_cycle', `a group monitor would contain itself: ${tellCycle(cycle)}`);
}

/** Whether any of these monitors is a group monitor, so that one of its groups may close a circle. */
export async function areGroupMonitors(scope: Scope, tx: Transaction, monitorIds: readonly number[]): Promise<boolean> {
  return tx.exists(sql.unsafe`
    select from monitors where id = any(${sql.array(monitorIds, 'int4')}) and protocol = ${groupProtocol}
      and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`);
}

/** Group monitors that contain any of these monitors, directly. For the worker login. */
export async function groupMonitorsOf(
  worker: CommonQueryMethods,
  monitorIds: readonly number[],
): Promise<readonly number[]> {
  return worker.anyFirst(sql.typeAlias('id')`
    select distinct g.id from monitors m join monitors g on ${containsMember} where m.id = any(${sql.array(monitorIds, 'int4')})`);
}

/** The same over a bare connection. */
export async function groupMonitorsOfAny(
  worker: Pick<pg.Pool, 'query'>,
  monitorIds: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await worker.query<{ id: number }>({
    name: 'group-monitors-of',
    text: `select distinct g.id from monitors m join monitors g on ${containsMember.sql}
      where m.id = any ($1::integer[]) order by g.id`,
    values: [monitorIds],
  });
  return rows.map((row) => row.id);
}

/**
 * Hook of the deletion of a monitor, and of a move before it is done: it is taken out of the `monitor_ids` of group monitors. One whose row somebody
 * else has locked is left as it is rather than waited for, which could be for ever; what is no member any more is left out at every reading
 * all the same. Its version stays, as that of a group.
 * @returns the group monitors that have let go of each
 */
export async function leaveGroupMonitors(
  tx: Transaction,
  monitorIds: readonly number[],
): Promise<readonly { readonly groupId: number; readonly monitorId: number }[]> {
  const left = z.object({ group_id: z.number(), monitor_id: z.number() });
  const rows = await tx.any(sql.type(left)`
    with leaving as (
      select g.id, array_agg(m.id) as members from monitors m join monitors g on ${containsMember}
      where m.id = any(${sql.array(monitorIds, 'int4')}) and g.settings ? 'monitor_ids' group by g.id
    ), locked as (
      select g.id from monitors g where g.id in (select id from leaving) order by g.id for update skip locked
    ), changed as (
      update monitors g set changed_xid = pg_current_xact_id(), settings = jsonb_set(g.settings, '{monitor_ids}', coalesce((
        select jsonb_agg(named.id order by named.place) from jsonb_array_elements(g.settings -> 'monitor_ids') with ordinality as named (id, place)
        where named.id::integer <> all (leaving.members)), '[]'))
      from leaving join locked on locked.id = leaving.id where g.id = leaving.id returning g.id, leaving.members
    )
    select changed.id as group_id, unnest(changed.members) as monitor_id from changed`);
  return rows.map((row) => ({ groupId: row.group_id, monitorId: row.monitor_id }));
}

/** What is asked of the members of a group monitor; the monitor itself need not be stored. */
export type Asked = { readonly workspaceId: number; readonly settings: GroupCheckSettings };

type MemberRow = {
  place: number;
  id: number;
  name: string;
  status: MonitorStatus;
  since_ms: string | null;
  is_paused: boolean;
};

/**
 * The members of many group monitors as they are stored now, in one statement. For the worker login: each is answered of its own workspace only.
 * @returns in the order of what was asked
 */
export async function membersOf(
  worker: Pick<pg.Pool, 'query'>,
  asked: readonly Asked[],
): Promise<readonly (readonly Member[])[]> {
  const given = asked.map(({ workspaceId, settings }, place) => ({ place, workspace_id: workspaceId, settings }));
  const { rows } = await worker.query<MemberRow>({
    name: 'group-members',
    text: `select g.place, m.id, m.name, m.status,
        extract(epoch from coalesce(pause.started_at, m.status_since)) * 1000 as since_ms,
        not m.is_active or pause.started_at is not null as is_paused
      from jsonb_to_recordset($1::jsonb) as g (place integer, workspace_id integer, settings jsonb)
        join monitors m on ${liveMembers.sql}
        left join lateral (
          select min(p.started_at) as started_at from pauses p where p.monitor_id = m.id and p.ended_at is null
        ) pause on true
      order by g.place, m.id`,
    values: [JSON.stringify(given)],
  });
  const members: Member[][] = asked.map(() => []);
  for (const { place, since_ms: since, is_paused: isPaused, id, name, status } of rows) {
    members[place]?.push({ id, name, status, sinceMs: since === null ? null : Number(since), isPaused });
  }
  return members;
}
