import type { Outcome } from '@parallax/checks';
import type { StoredResult } from './types.ts';

/** The columns of a row that a vote depends on; the number of an outcome is also its rank among twins. */
const columns = { e: 0, outcome: 1, error: 2, freshS: 3, revision: 4 } as const;
const width = 5;

const outcomeOf: readonly Outcome[] = ['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error'];
const numberOf: Readonly<Record<Outcome, number>> = {
  ok: 0,
  slow: 1,
  warn: 2,
  fail: 3,
  timeout: 4,
  skipped: 5,
  probe_error: 6,
};

/**
 * Rows of one voter, oldest first, at most one per instant, as plain numbers in one array: a fold keeps some minutes of every voter, and
 * row objects that live that long are what the garbage collector would spend its time on. Only rows that `canVote` belong here; a
 * row that is read back is scheduled and received at its own time, which means the same.
 */
export class RowLog {
  readonly #voter: number;
  #cells: number[] = [];

  constructor(voter: number) {
    this.#voter = voter;
  }

  get length(): number {
    return this.#cells.length / width;
  }

  /** Effective time of a row; minus infinity where there is none. */
  eAt(index: number): number {
    return this.#cells[index * width + columns.e] ?? Number.NEGATIVE_INFINITY;
  }

  get lastUs(): number {
    return this.eAt(this.length - 1);
  }

  /** Appends a row that is later than all others. */
  push(row: StoredResult): void {
    this.#cells.push(row.eUs, numberOf[row.outcome], row.error, row.freshS, row.probeRevision);
  }

  /**
   * Puts a row in its place. False when it says nothing new: a duplicate, or of two rows of one instant the one that does not count (a
   * probe's defect; the order among them is total, so the order of arrival cannot matter).
   */
  insert(row: StoredResult): boolean {
    let index = this.length;
    while (index > 0 && this.eAt(index - 1) > row.eUs) index -= 1;
    const cells = [row.eUs, numberOf[row.outcome], row.error, row.freshS, row.probeRevision];
    const hasTwin = this.eAt(index - 1) === row.eUs;
    if (hasTwin && this.#rankOver(index - 1, cells) <= 0) return false;
    if (hasTwin) this.#cells.splice((index - 1) * width, width, ...cells);
    else this.#cells.splice(index * width, 0, ...cells);
    return true;
  }

  at(index: number): StoredResult {
    const cell = (column: number): number => this.#cells[index * width + column] ?? 0;
    const eUs = cell(columns.e);
    return {
      eUs,
      voter: this.#voter,
      kind: 'scheduled',
      outcome: outcomeOf[cell(columns.outcome)] ?? 'skipped',
      error: cell(columns.error),
      freshS: cell(columns.freshS),
      probeRevision: cell(columns.revision),
      receivedUs: eUs,
    };
  }

  *[Symbol.iterator](): Generator<StoredResult> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }

  /** Lets go of the rows until `untilUs`, inclusive. */
  dropUntil(untilUs: number): void {
    let count = 0;
    while (count < this.length && this.eAt(count) <= untilUs) count += 1;
    if (count > 0) this.#cells = this.#cells.slice(count * width);
  }

  /** Positive when the cells are those of the row that counts in the place of the one at `index`. Zero: they say the same. */
  #rankOver(index: number, cells: readonly number[]): number {
    for (const column of [columns.revision, columns.outcome, columns.freshS, columns.error]) {
      const difference = (cells[column] ?? 0) - (this.#cells[index * width + column] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
