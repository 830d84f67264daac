import { BitsError, bitLength } from './bits.ts';
import type { BitReader, BitWriter } from './bits.ts';
import { noPhase } from './columns.ts';
import type { ResultColumns } from './columns.ts';

/** What rows of one hour have in common nearly always; written once, and then which rows have it. */
type Shape = {
  readonly probeRevision: number;
  readonly flags: number;
  readonly freshS: number;
  readonly error: number;
  /** A bit for each phase that there is, `dns` the lowest. */
  readonly phases: number;
};

const phaseCount = 5;

/** A run of rows of one shape. */
type Run = { readonly shape: number; rows: number };

/** Writes revision, flags, freshness and error of every row, and which phases it has. @returns a bit for each phase that some row has */
export function writeShapes(out: BitWriter, rows: ResultColumns): number {
  const shapes: Shape[] = [];
  const runs: Run[] = [];
  let open: Run | undefined;
  const { flags, error, freshS, probeRevision } = rows;
  let phases = -1;
  for (let at = 0; at < rows.length; at += 1) {
    const before = phases;
    phases = phasesAt(rows, at);
    if (
      open !== undefined &&
      phases === before &&
      flags[at] === flags[at - 1] &&
      error[at] === error[at - 1] &&
      freshS[at] === freshS[at - 1] &&
      probeRevision[at] === probeRevision[at - 1]
    ) {
      open.rows += 1;
      continue;
    }
    let shape = shapes.findIndex((one) => hasShape(rows, at, phases, one));
    if (shape < 0) shape = shapes.push(shapeAt(rows, at, phases)) - 1;
    open = { shape, rows: 1 };
    runs.push(open);
  }
  out.writeCount(shapes.length);
  for (const shape of shapes) {
    out.writeSigned(shape.probeRevision);
    out.writeSigned(shape.flags);
    out.writeSigned(shape.freshS);
    out.writeSigned(shape.error);
    out.write(shape.phases, phaseCount);
  }
  const bits = bitLength(shapes.length - 1);
  if (shapes.length > 1) {
    for (const run of runs) {
      out.writeLong(run.shape, bits);
      out.writeCount(run.rows);
    }
  }
  return shapes.reduce((all, shape) => all | shape.phases, 0);
}

/**
 * Reads them into the first `rows.length` rows. A phase that a row has is 0 for now.
 * @returns a bit for each phase that some row has
 */
export function readShapes(from: BitReader, rows: ResultColumns): number {
  const count = from.readCount();
  if (count < 1 || count > rows.length) throw new BitsError(`${count} shapes of ${rows.length} rows`);
  const shapes: Shape[] = [];
  for (let index = 0; index < count; index += 1) {
    shapes.push({
      probeRevision: from.readSigned(),
      flags: from.readSigned(),
      freshS: from.readSigned(),
      error: from.readSigned(),
      phases: from.read(phaseCount),
    });
  }
  const bits = bitLength(count - 1);
  let at = 0;
  while (at < rows.length) {
    const shape = shapes[from.readLong(bits)];
    const length = count === 1 ? rows.length : from.readCount();
    if (shape === undefined || length < 1 || length > rows.length - at) {
      throw new BitsError(`a run of ${length} at row ${at} of ${rows.length}`);
    }
    fill(rows, at, at + length, shape);
    at += length;
  }
  return shapes.reduce((all, shape) => all | shape.phases, 0);
}

function fill(rows: ResultColumns, from: number, to: number, shape: Shape): void {
  rows.probeRevision.fill(shape.probeRevision, from, to);
  rows.flags.fill(shape.flags, from, to);
  rows.freshS.fill(shape.freshS, from, to);
  rows.error.fill(shape.error, from, to);
  rows.dnsUs.fill((shape.phases & 1) === 0 ? noPhase : 0, from, to);
  rows.connectUs.fill((shape.phases & 2) === 0 ? noPhase : 0, from, to);
  rows.tlsUs.fill((shape.phases & 4) === 0 ? noPhase : 0, from, to);
  rows.firstByteUs.fill((shape.phases & 8) === 0 ? noPhase : 0, from, to);
  rows.transferUs.fill((shape.phases & 16) === 0 ? noPhase : 0, from, to);
}

function phasesAt(rows: ResultColumns, at: number): number {
  return (
    (rows.dnsUs[at] === noPhase ? 0 : 1) |
    (rows.connectUs[at] === noPhase ? 0 : 2) |
    (rows.tlsUs[at] === noPhase ? 0 : 4) |
    (rows.firstByteUs[at] === noPhase ? 0 : 8) |
    (rows.transferUs[at] === noPhase ? 0 : 16)
  );
}

function hasShape(rows: ResultColumns, at: number, phases: number, shape: Shape): boolean {
  return (
    phases === shape.phases &&
    rows.flags[at] === shape.flags &&
    rows.error[at] === shape.error &&
    rows.freshS[at] === shape.freshS &&
    rows.probeRevision[at] === shape.probeRevision
  );
}

function shapeAt(rows: ResultColumns, at: number, phases: number): Shape {
  return {
    probeRevision: rows.probeRevision[at] ?? 0,
    flags: rows.flags[at] ?? 0,
    freshS: rows.freshS[at] ?? 0,
    error: rows.error[at] ?? 0,
    phases,
  };
}
