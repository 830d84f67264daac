import { rowsBeforeHorizon } from './fold.ts';
import type { StoredResult } from './types.ts';

/**
 * Keeps each voter's rows from its `rowsBeforeHorizon`-th latest verdict on (`FoldRestore.before`). Verdicts are counted in instants: of
 * several rows of one instant only one counts, and which one is known only where all of them are read. An instant at which the probe erred
 * too is no verdict, for the error may be what counts. Rows of one instant go or stay together.
 */
export function fromLastVerdicts<Row extends Pick<StoredResult, 'voter' | 'eUs' | 'outcome'>>(
  rows: readonly Row[],
): Row[] {
  const kept: Row[] = [];
  for (const own of Map.groupBy(rows, (row) => row.voter).values()) {
    const latestFirst = own.toSorted((a, b) => b.eUs - a.eUs);
    let verdicts = 0;
    for (const peers of Map.groupBy(latestFirst, (row) => row.eUs).values()) {
      kept.push(...peers);
      if (peers.every((row) => row.outcome !== 'probe_error')) verdicts += 1;
      // Errors of the probe before the last verdict that matters tell nothing.
      if (verdicts === rowsBeforeHorizon) break;
    }
  }
  return kept;
}
