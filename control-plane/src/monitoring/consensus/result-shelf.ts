import { rowsBeforeHorizon } from './fold.ts';
import { canVote } from './prepared-inputs.ts';
import type { StoredResult } from './types.ts';

/** Results of one monitor in memory, ordered by voter and time: what a fold is made anew from. Those that can never vote are not kept. */
export class ResultShelf {
  readonly #byVoter = new Map<number, StoredResult[]>();

  add(row: StoredResult): void {
    if (!canVote(row)) return;
    const rows = this.#byVoter.get(row.voter);
    if (rows === undefined) {
      this.#byVoter.set(row.voter, [row]);
      return;
    }
    let index = rows.length;
    while (index > 0 && (rows[index - 1]?.eUs ?? 0) > row.eUs) index -= 1;
    if (index === rows.length) rows.push(row);
    else rows.splice(index, 0, row);
  }

  /** What a fold with this horizon needs (`FoldRestore`). */
  around(horizonUs: number): { readonly before: StoredResult[]; readonly results: StoredResult[] } {
    const before: StoredResult[] = [];
    const results: StoredResult[] = [];
    for (const rows of this.#byVoter.values()) {
      const first = firstFrom(rows, horizonUs);
      for (let index = first; index < rows.length; index += 1) results.push(rows[index] as StoredResult);
      for (let index = neededFrom(rows, first); index < first; index += 1) before.push(rows[index] as StoredResult);
    }
    return { before, results };
  }

  /** Lets go of what began before a time, but for what a fold with that horizon needs. */
  forgetBefore(us: number): void {
    for (const rows of this.#byVoter.values()) {
      rows.splice(0, neededFrom(rows, firstFrom(rows, us)));
    }
  }
}

/** Index of the first row at or after a time; the length when there is none. */
function firstFrom(rows: readonly StoredResult[], us: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.eUs ?? 0) < us) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the oldest row that a fold needs whose horizon lies before the row at `index`; counted as by `fromLastVerdicts`. */
function neededFrom(rows: readonly StoredResult[], index: number): number {
  let from = index;
  for (let verdicts = 0; from > 0 && verdicts < rowsBeforeHorizon; ) {
    const eUs = rows[from - 1]?.eUs;
    let hasError = false;
    for (; rows[from - 1]?.eUs === eUs && from > 0; from -= 1) hasError ||= rows[from - 1]?.outcome === 'probe_error';
    if (!hasError) verdicts += 1;
  }
  return from;
}
