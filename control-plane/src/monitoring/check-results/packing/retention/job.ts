import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../../context.ts';
import { longestRetentionDays, plans } from '../../../../identity/plans/index.ts';
import { repeat } from '../../../../platform/repeat.ts';
import type { RunningService } from '../../../../platform/running-service.ts';
import { dayMs, hoursOfDay } from '../hours.ts';
import {
  deleteCursors,
  deleteDiagnoses,
  deleteEvidence,
  deleteEvidenceOf,
  deleteHours,
  deleteLosses,
  deleteProbeRanges,
  deleteRanges,
  deleteRejections,
  deleteSupplements,
  dropPartition,
  monitorsAfter,
} from './queries.ts';
import type { PlannedMonitor } from './queries.ts';

const everyMs = 600_000;
/** What has to be looked for monitor by monitor is looked for so often. */
const sweepEveryMs = 3_600_000;
/** Few enough that a batch holds its rows for some tens of milliseconds. */
const batchRows = 2_000;
const batchMonitors = 200;

/** What is kept for how many days; packed results and their evidence: `retentionDays` of the plans. */
const keptDays = {
  /** Ranges, days and diagnoses: questions reach back 17,520 h, and a day more because days are kept whole. */
  history: 732,
  cursors: 7,
  rejections: 30,
  losses: 90,
  /** What consensus is computed from again lies within the longest retention; a streak of it may have begun twenty days before. */
  supplements: longestRetentionDays + 20,
} as const;

/** Removes what is older than it is kept. */
export async function startRetention(context: Context, log: Logger): Promise<RunningService> {
  let sweptMs = Number.NEGATIVE_INFINITY;
  return repeat({
    everyMs,
    work: async (isStopped) => {
      const isSweepDue = performance.now() - sweptMs >= sweepEveryMs;
      const work = { ...context.database, nowMs: context.now(), log, isStopped };
      await removeByAge(work);
      if (!isSweepDue) return;
      await removeByMonitor(work);
      sweptMs = performance.now();
    },
    onError: (error) => log.warn({ err: error }, 'what is older than it is kept was not removed; it is tried again'),
  });
}

export type RetentionWork = Pick<Context['database'], 'raw' | 'worker'> & {
  /** The database's clock. */
  readonly nowMs: number;
  readonly log: Logger;
  readonly isStopped: () => boolean;
  /** Rows of one transaction; the usual number when absent. */
  readonly batchRows?: number | undefined;
};

/** How many rows of what were removed, and the names of partitions that were dropped. */
export type RemovedRows = { readonly rows: Record<string, number>; readonly partitions: string[] };

/** Removes what is found by its age alone. */
export async function removeByAge(work: RetentionWork): Promise<RemovedRows> {
  const { worker, nowMs, log } = work;
  const ago = (days: number): number => nowMs - days * dayMs;
  const partitions = [
    ...(await dropAll(work, 'hour', wholeDay(ago(longestRetentionDays)) * hoursOfDay)),
    ...(await dropAll(work, 'day', wholeDay(ago(keptDays.history)))),
  ];
  const rows = {
    result_evidence: await inBatches(work, (limit) => deleteEvidence(worker, ago(longestRetentionDays), limit)),
    rejected_batches: await inBatches(work, (limit) => deleteRejections(worker, ago(keptDays.rejections), limit)),
    lost_results: await inBatches(work, (limit) => deleteLosses(worker, ago(keptDays.losses), limit)),
    cursors: await inBatches(work, (limit) => deleteCursors(worker, ago(keptDays.cursors), limit)),
    supplements: await inBatches(work, (limit) => deleteSupplements(worker, ago(keptDays.supplements), limit)),
  };
  tell(log, { rows, partitions });
  return { rows, partitions };
}

/** Removes what is found monitor by monitor: history, and results of plans that keep them for less than the longest time. */
export async function removeByMonitor(work: RetentionWork): Promise<RemovedRows> {
  const rows: Record<string, number> = {};
  const count = (table: string, deleted: number): void => {
    rows[table] = (rows[table] ?? 0) + deleted;
  };
  for (let after = 0; !work.isStopped(); ) {
    const monitors = await monitorsAfter(work.worker, after, batchMonitors);
    const last = monitors.at(-1);
    if (last === undefined) break;
    await removeHistory(work, monitors, count);
    await removeResults(work, monitors, count);
    after = last.id;
  }
  tell(work.log, { rows, partitions: [] });
  return { rows, partitions: [] };
}

type Count = (table: string, deleted: number) => void;

async function removeHistory(work: RetentionWork, monitors: readonly PlannedMonitor[], count: Count): Promise<void> {
  const { worker } = work;
  const monitorIds = monitors.map(({ id }) => id);
  const beforeMs = work.nowMs - keptDays.history * dayMs;
  count('status_ranges', await inBatches(work, (limit) => deleteRanges(worker, monitorIds, beforeMs, limit)));
  count('probe_ranges', await inBatches(work, (limit) => deleteProbeRanges(worker, monitorIds, beforeMs, limit)));
  count('diagnoses', await inBatches(work, (limit) => deleteDiagnoses(worker, monitorIds, beforeMs, limit)));
}

async function removeResults(work: RetentionWork, monitors: readonly PlannedMonitor[], count: Count): Promise<void> {
  const { worker } = work;
  for (const [plan, { retentionDays }] of Object.entries(plans)) {
    const monitorIds = monitors.filter((monitor) => monitor.plan === plan).map(({ id }) => id);
    if (retentionDays === longestRetentionDays || monitorIds.length === 0) continue;
    // Whole days, so that a day and its hours tell the same.
    const beforeDay = wholeDay(work.nowMs - retentionDays * dayMs);
    count(
      'result_hours',
      await inBatches(work, (limit) => deleteHours(worker, monitorIds, beforeDay * hoursOfDay, limit)),
    );
    count(
      'result_evidence',
      await inBatches(work, (limit) => deleteEvidenceOf(worker, monitorIds, beforeDay * dayMs, limit)),
    );
  }
}

const wholeDay = (ms: number): number => Math.floor(ms / dayMs);

async function dropAll(work: RetentionWork, of: 'hour' | 'day', before: number): Promise<string[]> {
  const names: string[] = [];
  try {
    while (!work.isStopped()) {
      const name = await dropPartition(work.raw, of, before);
      if (name === null) break;
      names.push(name);
    }
  } catch (error) {
    work.log.info({ err: error }, 'old packed results could not be dropped yet; it is tried again');
  }
  return names;
}

async function inBatches(work: RetentionWork, deleteSome: (limit: number) => Promise<number>): Promise<number> {
  const limit = work.batchRows ?? batchRows;
  for (let deleted = 0; ; ) {
    const count = work.isStopped() ? 0 : await deleteSome(limit);
    deleted += count;
    if (count < limit) return deleted;
  }
}

function tell(log: Logger, { rows, partitions }: RemovedRows): void {
  const removed = Object.fromEntries(Object.entries(rows).filter(([, count]) => count > 0));
  if (Object.keys(removed).length + partitions.length === 0) return;
  log.info({ rows: removed, partitions }, 'what was older than it is kept was removed');
}
