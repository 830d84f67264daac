import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { enqueueHeld } from '../../../platform/outbox/enqueue.ts';
import { noticeMiss } from '../miss.ts';
import { entryOf } from '../stored/announce.ts';
import { lockOverdue, writeRanges, writeStates } from '../stored/queries.ts';
import { rangeEdit } from '../stored/ranges.ts';
import { rulesOf } from '../stored/rules.ts';
import { creditOf } from './credit.ts';

const watchRow = z.object({ taken_until: z.number().nullable(), now: z.number() });

/**
 * Notes that signals are taken now. After a time in which no replica took any, deadlines that were still ahead when it began are moved, in the same
 * transaction: whoever reads the note finds them moved. For the worker login.
 * @returns by what they were moved, milliseconds; null for not at all
 */
export async function noteTaken(worker: DatabasePool): Promise<number | null> {
  return worker.transaction(async (tx) => {
    // A note that a crash takes with it is as one that was not written: an outage counts from the one before.
    await tx.query(sql.unsafe`set local synchronous_commit = off`);
    const { taken_until: beforeMs, now: nowMs } = await tx.one(sql.type(watchRow)`
      select taken_until, clock_timestamp() as now from ping_watch for update`);
    await tx.query(
      sql.unsafe`update ping_watch set taken_until = greatest(taken_until, ${sql.timestamp(new Date(nowMs))})`,
    );
    const creditMs = creditOf(beforeMs, nowMs);
    if (creditMs === null || beforeMs === null) return null;
    const from = sql.timestamp(new Date(beforeMs));
    await tx.query(sql.unsafe`
      insert into ping_outages (from_at, to_at, credit_ms) values (${from}, ${sql.timestamp(new Date(nowMs))}, ${creditMs})
      on conflict (from_at) do nothing`);
    await tx.query(sql.unsafe`
      update heartbeats set credit_ms = credit_ms + ${creditMs}, deadline_at = deadline_at + ${creditMs} * interval '1 millisecond',
        runs = (
          select coalesce(jsonb_agg(jsonb_set(run, '{alive_ms}', to_jsonb((run ->> 'alive_ms')::float8 + ${creditMs})) order by place), '[]')
          from jsonb_array_elements(runs) with ordinality as open (run, place))
      where deadline_at > ${from}`);
    return creditMs;
  });
}

/** Misses noticed in one transaction. */
const mostAtOnce = 100;

/**
 * Notices what was missed: deadlines that have passed while signals were taken, so that none of those is in an outage that is not credited yet. Several
 * workers may do it at once: a row is one's, and the update names what was seen. For the worker login.
 * @returns how many deadlines had passed
 */
export async function noticeMisses(worker: DatabasePool): Promise<number> {
  return worker.transaction(async (tx) => {
    const { taken_until: takenMs, now: nowMs } = await tx.one(sql.type(watchRow)`
      select taken_until, clock_timestamp() as now from ping_watch`);
    if (takenMs === null) return 0;
    const untilMs = Math.min(takenMs, nowMs);
    const overdue = await lockOverdue(tx, untilMs, mostAtOnce);
    const missed = overdue.flatMap((heartbeat) => {
      const found = noticeMiss(rulesOf(heartbeat), heartbeat.state, untilMs);
      return found === null ? [] : [{ heartbeat, ...found }];
    });
    const written = new Set(
      await writeStates(
        tx,
        missed.map(({ heartbeat, state }) => ({ id: heartbeat.id, before: heartbeat.state, after: state })),
      ),
    );
    const mine = missed.filter(({ heartbeat }) => written.has(heartbeat.id));
    await writeRanges(
      tx,
      mine.flatMap(({ heartbeat, state }) => {
        const edit = rangeEdit(heartbeat.state, state);
        return edit === null ? [] : [{ heartbeatId: heartbeat.id, workspaceId: heartbeat.workspace_id, edit }];
      }),
    );
    await enqueueHeld(
      tx,
      mine.flatMap(({ heartbeat, state, announcements }) =>
        announcements.map((each) => entryOf(heartbeat, { before: heartbeat.state, after: state, nowMs }, each)),
      ),
    );
    return overdue.length;
  });
}
