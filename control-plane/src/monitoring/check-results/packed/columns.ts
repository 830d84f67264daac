/** A phase that the check did not have; no stored number has this value. */
export const noPhase = -2_147_483_648;

/** One stored result of a known monitor and probe, in the columns of `check_results`. */
export type ResultRow = {
  /** Effective time in whole microseconds since the epoch. */
  readonly eUs: number;
  readonly receivedUs: number;
  readonly probeRevision: number;
  /** As stored: see `flags.ts` and `packFlags` of `@parallax/wire`. */
  readonly flags: number;
  readonly freshS: number;
  readonly totalUs: number;
  /** Null where the check had no such phase. */
  readonly dnsUs: number | null;
  readonly connectUs: number | null;
  readonly tlsUs: number | null;
  readonly firstByteUs: number | null;
  readonly transferUs: number | null;
  readonly error: number;
};

/** Results of one monitor and probe as columns that are used again: `clear`, then `push` or write at `length` after `reserve`. */
export class ResultColumns {
  /** Rows in use; the arrays may be longer. */
  length = 0;
  eUs: Float64Array;
  receivedUs: Float64Array;
  probeRevision: Int32Array;
  flags: Int32Array;
  freshS: Int32Array;
  totalUs: Int32Array;
  /** `noPhase` where the check had no such phase; so in the four after it. */
  dnsUs: Int32Array;
  connectUs: Int32Array;
  tlsUs: Int32Array;
  firstByteUs: Int32Array;
  transferUs: Int32Array;
  error: Int32Array;

  constructor(capacity = 64) {
    this.eUs = new Float64Array(capacity);
    this.receivedUs = new Float64Array(capacity);
    this.probeRevision = new Int32Array(capacity);
    this.flags = new Int32Array(capacity);
    this.freshS = new Int32Array(capacity);
    this.totalUs = new Int32Array(capacity);
    this.dnsUs = new Int32Array(capacity);
    this.connectUs = new Int32Array(capacity);
    this.tlsUs = new Int32Array(capacity);
    this.firstByteUs = new Int32Array(capacity);
    this.transferUs = new Int32Array(capacity);
    this.error = new Int32Array(capacity);
  }

  clear(): void {
    this.length = 0;
  }

  /** Makes room for `rows` in all; what is there stays. */
  reserve(rows: number): void {
    if (rows <= this.eUs.length) return;
    const capacity = Math.max(rows, this.eUs.length * 2);
    this.eUs = grown(this.eUs, new Float64Array(capacity));
    this.receivedUs = grown(this.receivedUs, new Float64Array(capacity));
    this.probeRevision = grown(this.probeRevision, new Int32Array(capacity));
    this.flags = grown(this.flags, new Int32Array(capacity));
    this.freshS = grown(this.freshS, new Int32Array(capacity));
    this.totalUs = grown(this.totalUs, new Int32Array(capacity));
    this.dnsUs = grown(this.dnsUs, new Int32Array(capacity));
    this.connectUs = grown(this.connectUs, new Int32Array(capacity));
    this.tlsUs = grown(this.tlsUs, new Int32Array(capacity));
    this.firstByteUs = grown(this.firstByteUs, new Int32Array(capacity));
    this.transferUs = grown(this.transferUs, new Int32Array(capacity));
    this.error = grown(this.error, new Int32Array(capacity));
  }

  push(row: ResultRow): void {
    const at = this.length;
    this.reserve(at + 1);
    this.eUs[at] = row.eUs;
    this.receivedUs[at] = row.receivedUs;
    this.probeRevision[at] = row.probeRevision;
    this.flags[at] = row.flags;
    this.freshS[at] = row.freshS;
    this.totalUs[at] = row.totalUs;
    this.dnsUs[at] = row.dnsUs ?? noPhase;
    this.connectUs[at] = row.connectUs ?? noPhase;
    this.tlsUs[at] = row.tlsUs ?? noPhase;
    this.firstByteUs[at] = row.firstByteUs ?? noPhase;
    this.transferUs[at] = row.transferUs ?? noPhase;
    this.error[at] = row.error;
    this.length = at + 1;
  }

  /** Adds the row at an index of other columns. */
  pushFrom(from: ResultColumns, index: number): void {
    const at = this.length;
    this.reserve(at + 1);
    this.eUs[at] = from.eUs[index] ?? 0;
    this.receivedUs[at] = from.receivedUs[index] ?? 0;
    this.probeRevision[at] = from.probeRevision[index] ?? 0;
    this.flags[at] = from.flags[index] ?? 0;
    this.freshS[at] = from.freshS[index] ?? 0;
    this.totalUs[at] = from.totalUs[index] ?? 0;
    this.dnsUs[at] = from.dnsUs[index] ?? noPhase;
    this.connectUs[at] = from.connectUs[index] ?? noPhase;
    this.tlsUs[at] = from.tlsUs[index] ?? noPhase;
    this.firstByteUs[at] = from.firstByteUs[index] ?? noPhase;
    this.transferUs[at] = from.transferUs[index] ?? noPhase;
    this.error[at] = from.error[index] ?? 0;
    this.length = at + 1;
  }

  /** These columns when their rows are in order of time, ties by receipt, flags and duration; else new ones that are. */
  inOrder(): ResultColumns {
    let at = 1;
    while (at < this.length && this.compare(at - 1, at) <= 0) at += 1;
    if (at >= this.length) return this;
    const places = Array.from({ length: this.length }, (_, place) => place);
    places.sort((one, other) => this.compare(one, other));
    const ordered = new ResultColumns(this.length);
    for (const place of places) ordered.pushFrom(this, place);
    return ordered;
  }

  /** Below zero when the row at one index comes before that at another: by time, receipt, flags, duration. */
  compare(one: number, other: number): number {
    return (
      (this.eUs[one] ?? 0) - (this.eUs[other] ?? 0) ||
      (this.receivedUs[one] ?? 0) - (this.receivedUs[other] ?? 0) ||
      (this.flags[one] ?? 0) - (this.flags[other] ?? 0) ||
      (this.totalUs[one] ?? 0) - (this.totalUs[other] ?? 0)
    );
  }

  /** The row at an index below `length`. */
  row(at: number): ResultRow {
    return {
      eUs: this.eUs[at] ?? 0,
      receivedUs: this.receivedUs[at] ?? 0,
      probeRevision: this.probeRevision[at] ?? 0,
      flags: this.flags[at] ?? 0,
      freshS: this.freshS[at] ?? 0,
      totalUs: this.totalUs[at] ?? 0,
      dnsUs: phase(this.dnsUs[at]),
      connectUs: phase(this.connectUs[at]),
      tlsUs: phase(this.tlsUs[at]),
      firstByteUs: phase(this.firstByteUs[at]),
      transferUs: phase(this.transferUs[at]),
      error: this.error[at] ?? 0,
    };
  }
}

function phase(value: number | undefined): number | null {
  return value === undefined || value === noPhase ? null : value;
}

function grown<Values extends Float64Array | Int32Array>(from: Values, to: Values): Values {
  to.set(from);
  return to;
}
