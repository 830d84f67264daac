import { checkKinds, outcomes } from '@parallax/checks';
import type { CheckKind, Outcome } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
import { centralFlag, fallbackFlag } from '../flags.ts';
import { BitsError } from './bits.ts';
import type { BitReader, BitWriter } from './bits.ts';

/** Who ran a check: a probe, the control plane for a monitor without probes, or the control plane beside probes that could not vote. */
export const checkOrigins = ['probe', 'central', 'fallback'] as const;
export type CheckOrigin = (typeof checkOrigins)[number];

/** Which results are meant: those that have each property that is given. */
export type CountedResults = {
  readonly kind?: CheckKind | undefined;
  readonly outcome?: Outcome | undefined;
  readonly origin?: CheckOrigin | undefined;
};

export type CountedEntry = {
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly origin: CheckOrigin;
  readonly count: number;
};

/** Numbers of results by kind, outcome and origin. */
export type OutcomeCounts = {
  /** Of all. */
  readonly results: number;
  of(which: CountedResults): number;
  /** What is not zero. */
  entries(): readonly CountedEntry[];
};

/** One cell for each kind, outcome and origin. */
const cells = checkKinds.flatMap((kind) =>
  outcomes.flatMap((outcome) => checkOrigins.map((origin) => ({ kind, outcome, origin }))),
);
const cellBits = 6;
const countedFlags = 2_048;

/** The cell of a row by its flags, for all flags that matter here. */
const cellOfFlags = Uint8Array.from({ length: countedFlags }, (_, flags) => {
  // Like `resultItem`: only numbers that unpack are stored.
  const { kind, outcome } = unpackFlags(flags & 255) ?? { kind: 'scheduled', outcome: 'probe_error' };
  const origin = (flags & fallbackFlag) !== 0 ? 'fallback' : (flags & centralFlag) !== 0 ? 'central' : 'probe';
  return cells.findIndex((cell) => cell.kind === kind && cell.outcome === outcome && cell.origin === origin);
});

const holdsLatency = cells.map(
  ({ kind, outcome, origin }) =>
    kind === 'scheduled' && origin !== 'fallback' && (outcome === 'ok' || outcome === 'slow' || outcome === 'warn'),
);
const isLatencyOfFlags = Uint8Array.from(cellOfFlags, (cell) => (holdsLatency[cell] === true ? 1 : 0));

/** Whether the duration of a row with these flags counts among the latencies. */
export function isLatency(flags: number): boolean {
  return isLatencyOfFlags[flags & (countedFlags - 1)] === 1;
}

/** Counts that grow. */
export class OutcomeNumbers implements OutcomeCounts {
  readonly #counts = new Float64Array(cells.length);

  get results(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** How many durations count among the latencies. */
  get latencies(): number {
    return this.#counts.reduce((sum, count, cell) => (holdsLatency[cell] === true ? sum + count : sum), 0);
  }

  of({ kind, outcome, origin }: CountedResults): number {
    let sum = 0;
    for (const [index, cell] of cells.entries()) {
      if (kind !== undefined && cell.kind !== kind) continue;
      if (outcome !== undefined && cell.outcome !== outcome) continue;
      if (origin !== undefined && cell.origin !== origin) continue;
      sum += this.#counts[index] ?? 0;
    }
    return sum;
  }

  entries(): readonly CountedEntry[] {
    return cells.flatMap((cell, index) => {
      const count = this.#counts[index] ?? 0;
      return count === 0 ? [] : [{ ...cell, count }];
    });
  }

  addRow(flags: number): void {
    this.#add(cellOfFlags[flags & (countedFlags - 1)] ?? 0, 1);
  }

  addCounts(other: OutcomeNumbers): void {
    for (let cell = 0; cell < cells.length; cell += 1) this.#add(cell, other.#counts[cell] ?? 0);
  }

  clear(): void {
    this.#counts.fill(0);
  }

  write(out: BitWriter): void {
    out.writeCount(this.#counts.reduce((used, count) => (count > 0 ? used + 1 : used), 0));
    for (let cell = 0; cell < cells.length; cell += 1) {
      const count = this.#counts[cell] ?? 0;
      if (count === 0) continue;
      out.write(cell, cellBits);
      out.writeCount(count);
    }
  }

  /**
   * Adds what `write` wrote.
   * @returns how many of them are latencies
   * @throws BitsError for what cannot have been written; the counts are of no use then
   */
  addWritten(from: BitReader): number {
    const used = from.readCount();
    if (used > cells.length) throw new BitsError(`${used} kinds of results`);
    let latencies = 0;
    let before = -1;
    for (let index = 0; index < used; index += 1) {
      const cell = from.read(cellBits);
      const count = from.readCount();
      if (cell <= before || cell >= cells.length || count < 1)
        throw new BitsError(`${count} results of the kind ${cell}`);
      this.#add(cell, count);
      if (holdsLatency[cell] === true) latencies += count;
      before = cell;
    }
    return latencies;
  }

  #add(cell: number, count: number): void {
    this.#counts[cell] = (this.#counts[cell] ?? 0) + count;
  }
}
