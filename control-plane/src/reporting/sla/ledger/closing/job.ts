import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../../context.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { repeat } from '../../../../platform/repeat.ts';
import type { RunningService } from '../../../../platform/running-service.ts';
import { maintenanceOfMonitors } from '../../../../response/maintenance/index.ts';
import { createAvailabilityFold, measuredSpans, readAvailability } from '../../../statistics/index.ts';
import { daySummary } from '../entry.ts';
import type { DaySummary } from '../entry.ts';
import { appendEntries } from '../queries.ts';
import { entryOfDay } from './plan.ts';
import { beginClosing, monitorsOfDay, noteProgress, pausesOfMonitors, rangesOfMonitors, takeDue } from './queries.ts';
import type { DayMonitor, Progress } from './queries.ts';

const everyMs = 60_000;
const dayMs = 86_400_000;
/** Monitors of one transaction. */
const monitorsAtOnce = 500;
/** Ranges that are read at once; an ordinary day of 500 monitors has some hundred. */
const rangesAtOnce = 20_000;

/** Closes days of the ledger when their time has come, and catches up after a standstill. */
export async function startClosing(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      const appended = await closeDays(context, () => !isStopped());
      if (appended > 0) log.info({ entries: appended }, 'days were appended to the ledger');
    },
    onError: (error) => log.warn({ err: error }, 'closing days of the ledger failed; it is tried again'),
  });
}

/** Works off what is due, a transaction for each batch of monitors. @returns how many entries were appended */
export async function closeDays(
  context: Pick<Context, 'database' | 'now'>,
  mayGoOn: () => boolean,
  atOnce: { readonly monitors: number; readonly ranges: number } = { monitors: monitorsAtOnce, ranges: rangesAtOnce },
): Promise<number> {
  const { worker } = context.database;
  await beginClosing(worker);
  let appended = 0;
  while (mayGoOn()) {
    const step = await worker.transaction(async (tx) => {
      const due = await takeDue(tx);
      return due === null ? null : closeSome(tx, due, context.now(), atOnce);
    });
    if (step === null) break;
    appended += step;
  }
  return appended;
}

async function closeSome(
  tx: Transaction,
  due: Progress,
  nowMs: number,
  atOnce: { readonly monitors: number; readonly ranges: number },
): Promise<number> {
  const monitors = await monitorsOfDay(tx, due, atOnce.monitors);
  const { summaries, isComplete } = await summariesOf(tx, due.day, monitors, atOnce.ranges);
  const entries = summaries
    .map(({ monitor, summary }) => entryOfDay(due.kind, monitor, summary, Math.floor(nowMs)))
    .filter((entry) => entry !== null);
  await appendEntries(tx, entries);
  const last = summaries.at(-1)?.monitor.id;
  const isDone = last === undefined || (isComplete && monitors.length < atOnce.monitors);
  await noteProgress(tx, due, isDone ? null : last + 1);
  return entries.length;
}

type Summarized = { readonly monitor: DayMonitor; readonly summary: DaySummary };

/** The day of each monitor; of fewer monitors than asked for where they have too many ranges, but of one at least. */
async function summariesOf(
  tx: Transaction,
  day: string,
  monitors: readonly DayMonitor[],
  mostRanges: number,
): Promise<{ readonly summaries: readonly Summarized[]; readonly isComplete: boolean }> {
  const whole = dayWindow(day, Number.NEGATIVE_INFINITY);
  const ids = monitors.map(({ id }) => id);
  const ranges = await rangesOfMonitors(tx, ids, whole, mostRanges);
  const [first] = monitors;
  const cut = ranges.length < mostRanges ? undefined : ranges.at(-1)?.monitorId;
  if (first !== undefined && cut === first.id) {
    return { summaries: [await summaryOfMany(tx, day, first)], isComplete: monitors.length === 1 };
  }
  const read = cut === undefined ? monitors : monitors.filter(({ id }) => id < cut);
  const rangesById = Map.groupBy(ranges, ({ monitorId }) => monitorId);
  const pausesById = Map.groupBy(await pausesOfMonitors(tx, ids, whole), ({ monitorId }) => monitorId);
  const maintenance = await maintenanceOfMonitors(tx, ids, whole);
  const maintenanceById = Map.groupBy(maintenance, ({ monitorId }) => monitorId);
  const summaries = read.map((monitor) => {
    const window = dayWindow(day, monitor.sinceMs);
    const fold = createAvailabilityFold({ ...window, openUntilMs: window.toMs, listedOutages: 0 });
    const spans = measuredSpans({
      ...window,
      openUntilMs: window.toMs,
      ranges: rangesById.get(monitor.id) ?? [],
      pauses: pausesById.get(monitor.id) ?? [],
      maintenance: maintenanceById.get(monitor.id) ?? [],
    });
    fold.take(spans);
    return { monitor, summary: daySummary(day, window, fold.result()) };
  });
  return { summaries, isComplete: cut === undefined };
}

/** The same for one monitor with more ranges than are held at once. */
async function summaryOfMany(tx: Transaction, day: string, monitor: DayMonitor): Promise<Summarized> {
  const window = dayWindow(day, monitor.sinceMs);
  const report = await readAvailability(tx, monitor.id, { ...window, openUntilMs: window.toMs }, { listedOutages: 0 });
  return { monitor, summary: daySummary(day, window, report) };
}

/** The part of a UTC day in which a monitor was there. */
function dayWindow(day: string, sinceMs: number): { readonly fromMs: number; readonly toMs: number } {
  const fromMs = Date.parse(`${day}T00:00:00.000Z`);
  return { fromMs: Math.max(fromMs, Math.ceil(sinceMs)), toMs: fromMs + dayMs };
}
