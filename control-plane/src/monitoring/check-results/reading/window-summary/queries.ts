import type { CommonQueryMethods } from 'slonik';
import { RunningSummary, SummaryError, mergeSummaries } from '../../packed/summary.ts';
import type { Summary } from '../../packed/summary.ts';
import { sumUp } from '../sums/queries.ts';
import { isEmpty, spanOf } from '../window.ts';
import type { ResultsWindow } from '../window.ts';

export type WindowSummary = {
  /** Of each probe that has results in the window; 0 is the control plane itself. */
  readonly perProbe: ReadonlyMap<number, Summary>;
  readonly all: Summary;
};

/**
 * Counts and latencies of a window: exact counts, quantiles at most 1 % off.
 * @throws ChunkError when packed results are damaged
 */
export async function windowSummary(
  connection: CommonQueryMethods,
  monitorId: number,
  window: ResultsWindow,
): Promise<WindowSummary> {
  let perProbe: Map<number, RunningSummary>;
  try {
    perProbe = await summaries(connection, monitorId, window, true);
  } catch (error) {
    // A damaged summary is no reason to have no answer: the results themselves are there.
    if (!(error instanceof SummaryError)) throw error;
    perProbe = await summaries(connection, monitorId, window, false);
  }
  return { perProbe, all: mergeSummaries(perProbe.values()) };
}

async function summaries(
  connection: CommonQueryMethods,
  monitorId: number,
  window: ResultsWindow,
  withRollups: boolean,
): Promise<Map<number, RunningSummary>> {
  const perProbe = new Map<number, RunningSummary>();
  const span = spanOf(window);
  if (isEmpty(span)) return perProbe;
  const ofProbe = (probeId: number): RunningSummary => {
    const known = perProbe.get(probeId);
    if (known !== undefined) return known;
    const added = new RunningSummary();
    perProbe.set(probeId, added);
    return added;
  };
  await sumUp(
    connection,
    monitorId,
    { ...span, probeId: window.probeId },
    {
      takesHour: () => withRollups,
      addRollup: ({ probeId, summary }) => ofProbe(probeId).addEncoded(summary),
      addRows: (probeId, rows, from, to) => {
        if (from < to) ofProbe(probeId).addRows(rows, from, to);
      },
      addRow: ({ probeId, flags, totalUs }) => ofProbe(probeId).addRow(flags, totalUs),
    },
    withRollups,
  );
  return perProbe;
}
