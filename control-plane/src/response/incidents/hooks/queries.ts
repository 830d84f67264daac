import { z } from 'zod';
import type { DatabasePool } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { endMember, removeMembers } from '../members/queries.ts';
import { settleAfterReset } from '../folding/settle-after-reset.ts';
import { messageEntry } from '../state/message-entry.ts';
import type { IncidentFacts } from '../state/message-entry.ts';
import { isHeld, lockIncidents, settleIncident } from '../state/queries.ts';
import { factsOf, writeIncident } from '../state/writing/queries.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { ofMonitor } from '../subject.ts';

/* What becomes of incidents when a monitor is deleted, reset or moved. */

/** Hook of the deletion of a monitor: its outage ends, and its history stays. */
export async function resolveIncidentOfDeleted(transaction: Transaction, monitorId: number): Promise<void> {
  const incidentId = await endMember(transaction, ofMonitor(monitorId), 'deleted', undefined);
  if (incidentId !== null) await settleIncident(transaction, incidentId, Date.now());
}

/**
 * Hook of the reset of a monitor's statistics: its outages go with what they were made from, and incidents of which nothing is left.
 * @returns of how many incidents something was removed
 */
export async function removeIncidentsOfReset(
  transaction: Transaction,
  monitorId: number,
): Promise<{ readonly incidents: number }> {
  const before = new Map<number, IncidentFacts | null>();
  for (const id of await lockIncidentsWith(transaction, [monitorId])) before.set(id, await factsOf(transaction, id));
  const ids = (await removeMembers(transaction, ofMonitor(monitorId))).toSorted((a, b) => a - b);
  const emptied = await transaction.anyFirst(sql.typeAlias('id')`
    select id from incidents i where id = any(${sql.array(ids, 'int4')}) and not is_manual
      and not exists (select from incident_members u where u.incident_id = i.id) order by id for update`);
  for (const id of emptied) await tellRemoved(transaction, id, before.get(id) ?? null);
  await transaction.query(sql.unsafe`delete from incidents where id = any(${sql.array(emptied, 'int4')})`);
  const left = ids.filter((id) => !emptied.includes(id));
  for (const before of await lockIncidents(transaction, left)) {
    const { incident, messages } = settleAfterReset(before, Date.now(), await isHeld(transaction, before));
    await writeIncident(transaction, incident, messages);
  }
  return { incidents: ids.length };
}

/**
 * Locks the incidents that monitors are part of, in the order of their numbers: until the transaction ends nobody joins them or folds them into
 * others. Monitors are locked before, so that they join none. Looks again, since one may have been folded into another while it waited.
 */
async function lockIncidentsWith(
  transaction: Transaction,
  monitorIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const locked = new Set<number>();
  for (;;) {
    const ids = await transaction.anyFirst(sql.typeAlias('id')`
      select distinct incident_id as id from incident_members
      where subject_type = 'monitor' and subject_id = any(${sql.array(monitorIds, 'int4')})`);
    const others = ids.filter((id) => !locked.has(id));
    if (others.length === 0) return locked;
    await transaction.query(sql.unsafe`
      select from incidents where id = any(${sql.array(others, 'int4')}) order by id for update`);
    for (const id of others) locked.add(id);
  }
}

const toldRow = z.object({ n: z.number() });

/** Who was told of an incident is told that it is gone: nothing else will close it where services keep alarms open. */
async function tellRemoved(transaction: Transaction, incidentId: number, facts: IncidentFacts | null): Promise<void> {
  const told = await transaction.maybeOneFirst(sql.type(toldRow)`
    select told_seq as n from incidents where id = ${incidentId} and status <> 'resolved' and told_seq > 0 and deleted_at is null`);
  if (told !== null && facts !== null) {
    await enqueue(transaction, messageEntry(facts, { kind: 'deleted', reason: 'reset' }, told + 1));
  }
}

const sharedRow = z.object({ id: z.number(), is_shared: z.boolean() });

/**
 * Hook of the move of monitors to another workspace: their incidents come along. Of one that others of the old workspace are part of, theirs
 * becomes an incident of its own; what people wrote stays with the old one, as do incidents that they opened by hand.
 */
export async function moveIncidents(
  transaction: Transaction,
  monitors: readonly { readonly id: number }[],
  toWorkspaceId: number,
): Promise<readonly never[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  await lockIncidentsWith(
    transaction,
    monitors.map(({ id }) => id),
  );
  await transaction.query(sql.unsafe`
    delete from incident_members where subject_type = 'monitor' and subject_id = any(${ids}) and is_manual`);
  const incidents = await transaction.any(sql.type(sharedRow)`
    select i.id, bool_or(not (u.subject_type = 'monitor' and u.subject_id = any(${ids}))) or i.is_manual as is_shared
    from incidents i join incident_members u on u.incident_id = i.id
    where i.id in (select incident_id from incident_members where subject_type = 'monitor' and subject_id = any(${ids}))
    group by i.id order by i.id`);
  const own = incidents.filter((one) => !one.is_shared).map(({ id }) => id);
  await transaction.query(sql.unsafe`
    update incidents set folded_into = null where folded_into = any(${sql.array(own, 'int4')})`);
  await transaction.query(sql.unsafe`
    update incidents set workspace_id = ${toWorkspaceId}, folded_into = null, assignee_id = null where id = any(${sql.array(own, 'int4')})`);
  for (const id of own) await tellMoved(transaction, id);
  for (const { id } of incidents.filter((one) => one.is_shared)) {
    const made = await transaction.oneFirst(sql.typeAlias('id')`
      insert into incidents (workspace_id, title, status, severity, resolution, started_at, resolved_at, acknowledged_at, fold_key, detected_late,
        deleted_at, told_seq, told_at, tell_at, held_at, awaits_recovery)
      select ${toWorkspaceId}, title, status, severity, resolution, started_at, resolved_at, acknowledged_at, fold_key, detected_late,
        deleted_at, told_seq, told_at, tell_at, held_at, awaits_recovery
      from incidents where id = ${id} returning id`);
    await transaction.query(sql.unsafe`
      update incident_members set incident_id = ${made}, workspace_id = ${toWorkspaceId}
      where incident_id = ${id} and subject_type = 'monitor' and subject_id = any(${ids})`);
    await transaction.query(sql.unsafe`
      update incidents i set told_members = (select count(*) from incident_members u where u.incident_id = i.id) where id = ${made}`);
    await settleIncident(transaction, made, Date.now());
    await settleIncident(transaction, id, Date.now());
    await tellMoved(transaction, made);
  }
  return [];
}

/** What lasts and was told where it was is told where it is now: nobody there knows of it. */
async function tellMoved(transaction: Transaction, incidentId: number): Promise<void> {
  const told = await transaction.maybeOneFirst(sql.type(toldRow)`
    update incidents set told_seq = told_seq + 1
    where id = ${incidentId} and status <> 'resolved' and told_seq > 0 and deleted_at is null returning told_seq as n`);
  const facts = told === null ? null : await factsOf(transaction, incidentId);
  if (told !== null && facts !== null) await enqueue(transaction, messageEntry(facts, { kind: 'opened' }, told));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeIncidentsOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from incidents where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from incident_templates where workspace_id = ${workspaceId}`);
}
