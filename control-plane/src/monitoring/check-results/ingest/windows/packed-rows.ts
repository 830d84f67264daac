import { outcomes } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
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
