import { outcomes } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
import { rowsBeforeHorizon } from '../../../consensus/index.ts';
import type { StoredResult } from '../../../consensus/index.ts';
import type { ResultColumns } from '../../packed/columns.ts';

const manual = 2;
const skipped = outcomes.indexOf('skipped');

/** The rows of a chunk that vote and lie in [fromUs, toUs), as consensus needs them. */
export function votingRows(rows: ResultColumns, voter: number, fromUs: number, toUs: number): StoredResult[] {
  const voting: StoredResult[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const { eUs, flags, error, freshS, probeRevision, receivedUs } = rows.row(at);
    if (eUs < fromUs || eUs >= toUs || (flags & 3) === manual || ((flags >> 2) & 15) === skipped) continue;
    voting.push(storedResult({ eUs, voter, flags, error, freshS, probeRevision, receivedUs }));
  }
  return voting;
}

/** A row as consensus needs it. */
export function storedResult(row: Omit<StoredResult, 'kind' | 'outcome'> & { readonly flags: number }): StoredResult {
  const { flags, ...rest } = row;
  const unpacked = unpackFlags(flags & 255);
  return { ...rest, kind: unpacked?.kind ?? 'scheduled', outcome: unpacked?.outcome ?? 'probe_error' };
}

/**
 * Of each voter's rows those from its `rowsBeforeHorizon`-th latest verdict on: an outcome that is no probe error. Rows of one instant go or stay
 * together, as in the query for those that are not packed.
 */
export function fromLastVerdicts(rows: readonly StoredResult[]): StoredResult[] {
  const kept: StoredResult[] = [];
  for (const own of Map.groupBy(rows, (row) => row.voter).values()) {
    const latestFirst = own.toSorted((a, b) => b.eUs - a.eUs);
    let verdicts = 0;
    for (const peers of Map.groupBy(latestFirst, (row) => row.eUs).values()) {
      verdicts += peers.filter(isVerdict).length;
      if (verdicts > rowsBeforeHorizon) break;
      // Errors of the probe before the last verdict that matters tell nothing.
      kept.push(...(verdicts === rowsBeforeHorizon ? peers.filter(isVerdict) : peers));
      if (verdicts === rowsBeforeHorizon) break;
    }
  }
  return kept;
}

const isVerdict = (row: StoredResult): boolean => row.outcome !== 'probe_error';
