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

/** Rows that a log has room for at first; it doubles. */
const firstCapacity = 8;

/**
 * Rows of one voter, oldest first, at most one per instant, as plain numbers: a fold keeps some minutes of every voter, and row objects
 * that live that long are what the garbage collector would spend its time on. Only rows that `canVote` belong here; a row that is
 * read back is scheduled and received at its own time, which means the same.
 */
export class RowLog {
  readonly #voter: number;
  #cells = new Float64Array(firstCapacity * width);
  #length = 0;

  constructor(voter: number) {
    this.#voter = voter;
  }

  get length(): number {
    return this.#length;
  }

  /** Effective time of a row; minus infinity where there is none. */
  eAt(index: number): number {
    if (index < 0 || index >= this.#length) return Number.NEGATIVE_INFINITY;
    return this.#cells[index * width + columns.e] ?? Number.NEGATIVE_INFINITY;
  }

  get lastUs(): number {
    return this.eAt(this.#length - 1);
  }

  /** Appends a row that is later than all others. */
  push(row: StoredResult): void {
    if (this.#length * width === this.#cells.length) this.#grow();
    this.#set(this.#length, row);
    this.#length += 1;
  }

  /**
   * Puts a row in its place. False when it says nothing new: a duplicate, or of two rows of one instant the one that does not count (a
   * probe's defect; the order among them is total, so the order of arrival cannot matter).
   */
  insert(row: StoredResult): boolean {
    let index = this.#length;
    while (this.eAt(index - 1) > row.eUs) index -= 1;
    if (this.eAt(index - 1) === row.eUs) {
      if (compareTwins(row, this.at(index - 1)) <= 0) return false;
      this.#set(index - 1, row);
      return true;
    }
    if (this.#length * width === this.#cells.length) this.#grow();
    this.#cells.copyWithin((index + 1) * width, index * width, this.#length * width);
    this.#set(index, row);
    this.#length += 1;
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
    for (let index = 0; index < this.#length; index += 1) yield this.at(index);
  }

  /** Lets go of the rows until `untilUs`, inclusive. */
  dropUntil(untilUs: number): void {
    let count = 0;
    while (count < this.#length && this.eAt(count) <= untilUs) count += 1;
    this.#cells.copyWithin(0, count * width, this.#length * width);
    this.#length -= count;
  }

  #set(index: number, row: StoredResult): void {
    const cells = this.#cells;
    const first = index * width;
    cells[first + columns.e] = row.eUs;
    cells[first + columns.outcome] = numberOf[row.outcome];
    cells[first + columns.error] = row.error;
    cells[first + columns.freshS] = row.freshS;
    cells[first + columns.revision] = row.probeRevision;
  }

  #grow(): void {
    const cells = new Float64Array(this.#length * 2 * width);
    cells.set(this.#cells);
    this.#cells = cells;
  }
}

/** Positive when `a` is the one of two rows of one voter and instant that counts. Zero: they say the same. */
function compareTwins(a: StoredResult, b: StoredResult): number {
  return (
    a.probeRevision - b.probeRevision ||
    numberOf[a.outcome] - numberOf[b.outcome] ||
    a.freshS - b.freshS ||
    a.error - b.error
  );
}
