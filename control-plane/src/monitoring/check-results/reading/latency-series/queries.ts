import type { CommonQueryMethods } from 'slonik';
import { RunningSummary, SummaryError } from '../../packed/summary.ts';
import { sumUp } from '../sums/queries.ts';
import { hourUs, hoursPerDay } from '../time.ts';
import { isEmpty, spanOf } from '../window.ts';
import type { ResultsWindow } from '../window.ts';

/** One step of a chart. Null where no scheduled result got an answer. */
export type LatencyStep = {
  /** Start of the step: `fromMs` and a multiple of `stepMs`. */
  readonly atMs: number;
  readonly count: number;
  readonly meanUs: number | null;
  readonly p50Us: number | null;
  readonly p95Us: number | null;
  readonly p99Us: number | null;
};

/** More would take too much space, and no chart shows them. */
const mostSteps = 2_000;

/**
 * Latencies of a window in steps, for charts; the last step may be shorter. Steps that hold nothing are there too. Cheapest where steps are
 * whole hours and days of UTC; others are told by rows.
 * @throws RangeError for steps of no length and for more than 2,000 of them
 * @throws ChunkError when packed results are damaged
 */
export async function latencySeries(
  connection: CommonQueryMethods,
  monitorId: number,
  window: ResultsWindow & { readonly stepMs: number },
): Promise<LatencyStep[]> {
  const { fromMs, toMs, stepMs } = window;
  const count = toMs > fromMs ? Math.ceil((toMs - fromMs) / stepMs) : 0;
  if (!(stepMs > 0) || count > mostSteps) {
    throw new RangeError(`${count} steps of ${stepMs} ms; at most ${mostSteps} are possible`);
  }
  let steps: Map<number, RunningSummary>;
  try {
    steps = await summaries(connection, monitorId, window, true);
  } catch (error) {
    // As in windowSummary.
    if (!(error instanceof SummaryError)) throw error;
    steps = await summaries(connection, monitorId, window, false);
  }
  return Array.from({ length: count }, (_, index) => stepOf(fromMs + index * stepMs, steps.get(index)));
}

function stepOf(atMs: number, summary: RunningSummary | undefined): LatencyStep {
  const latency = summary?.latency.timed();
  return {
    atMs,
    count: latency?.count ?? 0,
    meanUs: latency?.meanUs ?? null,
    p50Us: latency?.quantile(0.5) ?? null,
    p95Us: latency?.quantile(0.95) ?? null,
    p99Us: latency?.quantile(0.99) ?? null,
  };
}

/** The steps that hold something, by their number. */
async function summaries(
  connection: CommonQueryMethods,
  monitorId: number,
  window: ResultsWindow & { readonly stepMs: number },
  withRollups: boolean,
): Promise<Map<number, RunningSummary>> {
  const steps = new Map<number, RunningSummary>();
  const span = spanOf(window);
  if (isEmpty(span)) return steps;
  const startUs = Math.round(window.fromMs * 1_000);
  const stepUs = window.stepMs * 1_000;
  const indexOf = (us: number): number => Math.floor((us - startUs) / stepUs);
  const step = (index: number): RunningSummary => {
    const known = steps.get(index);
    if (known !== undefined) return known;
    const added = new RunningSummary();
    steps.set(index, added);
    return added;
  };
  const dayUs = hourUs * hoursPerDay;
  await sumUp(
    connection,
    monitorId,
    { ...span, probeId: window.probeId },
    {
      takesHour: (hour) => withRollups && indexOf(hour * hourUs) === indexOf((hour + 1) * hourUs - 1),
      addRollup: ({ fromHour, summary }) => step(indexOf(fromHour * hourUs)).addEncoded(summary),
      addRows: (_probeId, rows, from, to) => {
        for (let at = from; at < to; at += 1) {
          step(indexOf(rows.eUs[at] ?? 0)).addRow(rows.flags[at] ?? 0, rows.totalUs[at] ?? 0);
        }
      },
      addRow: ({ eUs, flags, totalUs }) => step(indexOf(eUs)).addRow(flags, totalUs),
    },
    withRollups && startUs % dayUs === 0 && stepUs % dayUs === 0,
  );
  return steps;
}
