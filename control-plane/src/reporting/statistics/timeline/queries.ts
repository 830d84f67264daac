import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { onsetOf } from '../../../monitoring/status-ranges/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import { maintenanceOfMonitors } from '../../../response/maintenance/index.ts';
import { createAvailabilityFold } from '../availability-fold.ts';
import type { AvailabilityReport, DayBounds } from '../availability-fold.ts';
import { measuredSpans } from '../spans.ts';
import type { ReportRange, Span, TimeInterval } from '../spans.ts';
import type { ReportWindow } from '../window.ts';

/** What is reported of a window beside its ranges. */
export type ReportOptions = {
  /** Outages that are listed at most. */
  readonly listedOutages: number;
  /** Lengths of the ends of the window that are wanted apart, in milliseconds. */
  readonly endsMs?: readonly number[];
  /** Days that fill the window, in order. Default: those of UTC. */
  readonly days?: readonly DayBounds[] | undefined;
  /** Says what the time counts as where that is not what was measured. */
  readonly correct?: (spans: readonly Span[]) => readonly Span[];
};

/** The availability of a monitor in a window, from its ranges; the memory for it does not grow with them. */
export async function readAvailability(
  connection: CommonQueryMethods,
  monitorId: number,
  window: Pick<ReportWindow, 'fromMs' | 'toMs' | 'openUntilMs'>,
  { correct = (spans) => spans, ...wanted }: ReportOptions,
): Promise<AvailabilityReport> {
  const pauses = await pausesOf(connection, monitorId, window);
  const maintenance = await maintenanceOfMonitors(connection, [monitorId], window);
  const slices = rangesOf(connection, monitorId, window);
  let ranges = (await slices.next()).value ?? [];
  const first = ranges.at(0);
  const startsFailing = first !== undefined && first.startedMs <= window.fromMs && isFailing(first);
  const onsetMs = startsFailing ? await onsetOf(connection, monitorId, first.startedMs) : undefined;
  const fold = createAvailabilityFold({ ...window, ...wanted, onsetMs });
  for (let { fromMs } = window; ; ) {
    const following = (await slices.next()).value ?? [];
    // What lies between two slices belongs to the first.
    const toMs = Math.max(fromMs, following.at(0)?.startedMs ?? window.toMs);
    fold.take(correct(measuredSpans({ ranges, pauses, maintenance, fromMs, toMs, openUntilMs: window.openUntilMs })));
    if (following.length === 0) return fold.result();
    ranges = following;
    fromMs = toMs;
  }
}

const isFailing = ({ status }: ReportRange): boolean => status === 'DOWN' || status === 'TIMEOUT';

const intervalRow = z.object({ started_at: z.number(), ended_at: z.number().nullable() });

/** Pauses of a monitor that overlap the window, whole. */
async function pausesOf(
  connection: CommonQueryMethods,
  monitorId: number,
  { fromMs, toMs }: Pick<ReportWindow, 'fromMs' | 'toMs'>,
): Promise<TimeInterval[]> {
  const rows = await connection.any(sql.type(intervalRow)`
    select p.started_at, p.ended_at from pauses p
    where p.monitor_id = ${monitorId} and p.started_at < ${at(toMs)} and (p.ended_at is null or p.ended_at > ${at(fromMs)})
    order by p.started_at`);
  return rows.map((row) => ({ fromMs: row.started_at, toMs: row.ended_at }));
}

const rangeRow = z.object({
  started_us: z.bigint(),
  ended_at: z.number().nullable(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  is_revised: z.boolean(),
  votes: z.unknown(),
});

/** Ranges that are read at once. */
const rangesAtOnce = 5_000;

// The votes of failures only: nobody asks why something is up, and they are most of a row.
const rangeColumns = sql.fragment`(extract(epoch from r.started_at) * 1000000)::bigint as started_us, r.ended_at, r.status,
  r.revised_at is not null as is_revised,
  case when r.status in ('DOWN', 'TIMEOUT') then r.evidence -> 'voters' end as votes`;

/**
 * The consensus ranges of a monitor that may overlap the window, oldest first, in slices of bounded size. Ranges of one monitor do not
 * overlap, so of those that began before the window only the last is read; none of before the reset.
 */
async function* rangesOf(
  connection: CommonQueryMethods,
  monitorId: number,
  { fromMs, toMs }: Pick<ReportWindow, 'fromMs' | 'toMs'>,
): AsyncGenerator<ReportRange[], void, undefined> {
  const first = sql.fragment`(
    select greatest(m.reset_at, (
      select max(b.started_at) from status_ranges b where b.monitor_id = ${monitorId} and b.started_at <= ${at(fromMs)}
    ), '-infinity') from monitors m where m.id = ${monitorId})`;
  let after: bigint | undefined;
  for (;;) {
    const start =
      after === undefined
        ? sql.fragment`r.started_at >= ${first}`
        : sql.fragment`r.started_at > 'epoch'::timestamptz + ${after} * interval '1 microsecond'`;
    const rows = await connection.any(sql.type(rangeRow)`
      select ${rangeColumns} from status_ranges r
      where r.monitor_id = ${monitorId} and ${start} and r.started_at < ${at(toMs)}
      order by r.started_at limit ${rangesAtOnce}`);
    if (rows.length > 0) yield rows.map(rangeOf);
    if (rows.length < rangesAtOnce) return;
    after = rows.at(-1)?.started_us;
  }
}

function rangeOf(row: z.infer<typeof rangeRow>): ReportRange {
  return {
    startedMs: Number(row.started_us / 1_000n),
    endedMs: row.ended_at,
    status: row.status,
    isRevised: row.is_revised,
    votes: row.votes,
  };
}

function at(ms: number) {
  return sql.timestamp(new Date(ms));
}
