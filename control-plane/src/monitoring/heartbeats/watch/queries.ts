import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { enqueueHeld } from '../../../platform/outbox/enqueue.ts';
import type { MoveDeadlines } from '../../intake-watch/index.ts';
import { noticeMiss } from '../miss.ts';
import { entryOf } from '../stored/announce.ts';
import { lockOverdue, writeRanges, writeStates } from '../stored/queries.ts';
import { rangeEdit } from '../stored/ranges.ts';
import { rulesOf } from '../stored/rules.ts';

const watchRow = z.object({ taken_until: z.number().nullable(), now: z.number() });

/**
 * Moves deadlines that were ahead at an instant, and with them how long open runs may take. Rows are locked in the order of the signals' batches, so that
 * neither waits for the other in a circle.
 */
export const moveHeartbeatDeadlines: MoveDeadlines = async (tx, aheadOfMs, creditMs) => {
  await tx.query(sql.unsafe`
    with moved as materialized (
      select id from heartbeats where deadline_at > ${sql.timestamp(new Date(aheadOfMs))} order by id for update
    )
    update heartbeats h set credit_ms = credit_ms + ${creditMs}, deadline_at = deadline_at + ${creditMs} * interval '1 millisecond',
      runs = (
        select coalesce(jsonb_agg(jsonb_set(run, '{alive_ms}', to_jsonb((run ->> 'alive_ms')::float8 + ${creditMs})) order by place), '[]')
        from jsonb_array_elements(h.runs) with ordinality as open (run, place))
    from moved where h.id = moved.id`);
};

/** Misses noticed in one transaction. */
const mostAtOnce = 100;

/**
 * Notices what was missed: deadlines that have passed while signals were taken, so that none of those is in an outage that is not credited yet. Several
 * workers may do it at once: a row is one's, and the update names what was seen. For the worker login.
 * @returns how many deadlines had passed
 */
export async function noticeMisses(worker: DatabasePool): Promise<number> {
  // Mostly there is none.
  const isAny = await worker.exists(sql.unsafe`select from heartbeats where deadline_at <= clock_timestamp()`);
  if (!isAny) return 0;
  return worker.transaction(async (tx) => {
    const { taken_until: takenMs, now: nowMs } = await tx.one(sql.type(watchRow)`
      select taken_until, clock_timestamp() as now from intake_watch`);
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
