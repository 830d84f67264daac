import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import { covers } from '../scope/covers.ts';
import { release, well } from './hold.ts';
import type { AnnouncedState, AnnouncementKind } from './hold.ts';

/** Monitors that are released in one transaction. */
const atOnce = 200;
const at = (ms: number) => sql.timestamp(new Date(ms));

/** A monitor as an announcement names it; null when it is gone. */
export type Announced = { readonly monitorId: number; readonly workspaceId: number; readonly resetMs: number | null };

/**
 * What is told of a monitor, for whoever sends messages: outbox kind `monitor.announced`, in the order of the monitor's other news.
 * @param times when it is told, milliseconds since the epoch; `isHeld`: at the end of a maintenance instead of when it happened
 */
export function announcement(
  monitor: Pick<Announced, 'monitorId' | 'workspaceId'>,
  kind: AnnouncementKind,
  state: AnnouncedState,
  times: { readonly atMs: number; readonly isHeld: boolean },
): OutboxEntry {
  return {
    key: `monitor:${monitor.monitorId}`,
    kind: 'monitor.announced',
    payload: {
      monitor_id: monitor.monitorId,
      workspace_id: monitor.workspaceId,
      announcement: kind,
      at: new Date(times.atMs).toISOString(),
      since: new Date(state.sinceMs).toISOString(),
      was_held: times.isHeld,
    },
  };
}

/**
 * Lets monitors join the occurrences that cover them now: who has become a member of a group or got a tag is covered from this instant.
 * @param monitorId one alone; undefined: all
 * @returns how many joined
 */
export async function joinOccurrences(
  connection: CommonQueryMethods,
  nowMs: number,
  monitorId?: number,
): Promise<number> {
  const { rowCount } = await connection.query(sql.unsafe`
    insert into monitor_maintenance (monitor_id, occurrence_id, started_at)
    select m.id, o.id, ${at(nowMs)}
    from maintenance_occurrences o join maintenance x on x.id = o.maintenance_id join monitors m on ${covers}
    where o.ended_at is null and o.ends_at > ${at(nowMs)}
      and (${monitorId ?? null}::integer is null or m.id = ${monitorId ?? null})
      and not exists (
        select from monitor_maintenance mm where mm.monitor_id = m.id and mm.occurrence_id = o.id and mm.ended_at is null)
    on conflict (monitor_id, occurrence_id) where ended_at is null do nothing`);
  return rowCount;
}

/**
 * Whether a maintenance holds what is told of a monitor. Until the transaction ends nobody releases it: what is decided by this answer is
 * seen by whoever does so later.
 */
export async function isHeld(tx: Transaction, monitorId: number): Promise<boolean> {
  const rows = await tx.any(sql.unsafe`
    select id from monitor_maintenance where monitor_id = ${monitorId} and ended_at is null order by id for share`);
  return rows.length > 0;
}

const monitorRow = z.object({ workspace_id: z.number(), reset_at: z.number().nullable() });

/** A monitor that is not deleted, kept from being deleted until the transaction ends; null when it is gone. */
export async function findAnnounced(tx: Transaction, monitorId: number): Promise<Announced | null> {
  const row = await tx.maybeOne(sql.type(monitorRow)`
    select workspace_id, reset_at from monitors where id = ${monitorId} and deleted_at is null for key share`);
  return row === null ? null : { monitorId, workspaceId: row.workspace_id, resetMs: row.reset_at };
}

const stateRow = z.object({
  monitor_id: z.number(),
  told: z.enum(['up', 'down']),
  present: z.enum(['up', 'down']),
  since: z.number(),
  had_outage: z.boolean(),
});

const stateOf = (row: z.infer<typeof stateRow>): AnnouncedState => ({
  told: row.told,
  present: row.present,
  sinceMs: row.since,
  hadOutage: row.had_outage,
});

/** What was told of monitors and what is so, locked; those of which nothing bad is known are missing. */
export async function lockStates(
  tx: Transaction,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, AnnouncedState>> {
  const rows = await tx.any(sql.type(stateRow)`
    select monitor_id, told, present, since, had_outage from announced_states
    where monitor_id = any(${sql.array(monitorIds, 'int4')}) order by monitor_id for update`);
  return new Map(rows.map((row) => [row.monitor_id, stateOf(row)]));
}

/** Keeps what was told of a monitor. */
export async function writeState(tx: Transaction, monitorId: number, state: AnnouncedState): Promise<void> {
  const isWell = state.told === well.told && state.present === well.present && !state.hadOutage;
  if (isWell) return forgetAnnounced(tx, monitorId);
  await tx.query(sql.unsafe`
    insert into announced_states (monitor_id, told, present, since, had_outage)
    values (${monitorId}, ${state.told}, ${state.present}, ${at(state.sinceMs)}, ${state.hadOutage})
    on conflict (monitor_id) do update set told = excluded.told, present = excluded.present, since = excluded.since,
      had_outage = excluded.had_outage`);
}

/** Forgets what was told of a monitor: it was paused, reset or deleted. */
export async function forgetAnnounced(tx: CommonQueryMethods, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from announced_states where monitor_id = ${monitorId}`);
}

const releasedRow = z.object({ monitor_id: z.number(), ended_at: z.number() });
const placeRow = z.object({ id: z.number(), workspace_id: z.number() });

/**
 * Releases a batch of monitors: those of occurrences that have ended, and those that are not covered any more. What was held of them and
 * differs from what was told goes to the outbox. Rows that a change under way holds are left to the next round.
 * @param which `ended`: of occurrences that have ended alone
 * @returns how many were released
 */
export async function releaseSome(pool: DatabasePool, nowMs: number, which: 'ended' | 'all'): Promise<number> {
  // What is not covered any more is asked of every monitor under maintenance; what has ended is in an index of few rows.
  const candidates =
    which === 'ended'
      ? sql.fragment`
          from maintenance_occurrences o join monitor_maintenance mm on mm.occurrence_id = o.id and mm.ended_at is null
          where o.ended_at is not null and o.released_at is null`
      : sql.fragment`
          from monitor_maintenance mm
            left join maintenance_occurrences o on o.id = mm.occurrence_id
            left join maintenance x on x.id = o.maintenance_id
            left join monitors m on m.id = mm.monitor_id
          where mm.ended_at is null and (o.id is null or o.ended_at is not null or m.id is null or not ${covers})`;
  return pool.transaction(async (tx) => {
    const released = await tx.any(sql.type(releasedRow)`
      with picked as (
        select mm.id, coalesce(o.ended_at, ${at(nowMs)}) as at ${candidates}
        order by mm.monitor_id, mm.id limit ${atOnce}
        for update of mm skip locked)
      update monitor_maintenance mm set ended_at = greatest(picked.at, mm.started_at + interval '1 microsecond')
      from picked where mm.id = picked.id returning mm.monitor_id, mm.ended_at`);
    if (released.length === 0) return 0;
    const endedMs = new Map(released.map((row) => [row.monitor_id, row.ended_at]));
    // In this order: of two that release the last two occurrences of a monitor at once, the one that gets the state later sees that no
    // other one is left.
    const states = await lockStates(tx, [...endedMs.keys()]);
    const places = await tx.any(sql.type(placeRow)`
      select m.id, m.workspace_id from monitors m
      where m.id = any(${sql.array([...states.keys()], 'int4')}) and m.deleted_at is null
        and not exists (select from monitor_maintenance mm where mm.monitor_id = m.id and mm.ended_at is null)`);
    const news: OutboxEntry[] = [];
    for (const place of places) {
      const step = release(states.get(place.id) ?? well);
      await writeState(tx, place.id, step.state);
      const monitor = { monitorId: place.id, workspaceId: place.workspace_id };
      const times = { atMs: endedMs.get(place.id) ?? nowMs, isHeld: true };
      if (step.tell !== null) news.push(announcement(monitor, step.tell, step.state, times));
    }
    await enqueue(tx, ...news);
    return released.length;
  });
}

/** Marks occurrences of which nothing is held any more, and removes deleted maintenance that has none left. */
export async function finishReleased(pool: DatabasePool, nowMs: number): Promise<void> {
  await pool.query(sql.unsafe`
    update maintenance_occurrences o set released_at = ${at(nowMs)}
    where o.ended_at is not null and o.released_at is null
      and not exists (select from monitor_maintenance mm where mm.occurrence_id = o.id and mm.ended_at is null)`);
  await pool.query(sql.unsafe`
    delete from maintenance x where x.deleted_at is not null
      and not exists (select from maintenance_occurrences o where o.maintenance_id = x.id and o.released_at is null)`);
}
