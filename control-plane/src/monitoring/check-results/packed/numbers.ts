import { BitsError } from './bits.ts';
import type { BitReader, BitWriter } from './bits.ts';
import { gridOf, modes, planOf } from './plan.ts';
import { readDistance, readUnsigned, widest, writeDistance, writeUnsigned } from './rice.ts';

/*
 * A column of whole numbers, |n| < 2^52, in few bits. Nearly every column of an hour of one monitor and probe is noise around a level, so the
 * level is written once and each number by its distance from it.
 */

const modeBits = 3;
const widthBits = 5;

/** Writes the first `count` numbers. @param isNested in a column of exceptions, which has none itself */
export function writeNumbers(out: BitWriter, numbers: Float64Array, count: number, isNested = false): void {
  if (count === 0) return;
  const { mode, level, width } = planOf(numbers, count, !isNested);
  out.write(mode, modeBits);
  if (mode === modes.constant) {
    out.writeSigned(level);
    return;
  }
  if (mode === modes.sparse) {
    out.writeSigned(level);
    writeExceptions(out, numbers, count, level);
    return;
  }
  out.write(width, widthBits);
  out.writeSigned(level / gridOf(mode, width));
  if (mode === modes.plain) {
    for (let at = 0; at < count; at += 1) out.write((numbers[at] ?? 0) - level, width);
  } else if (mode === modes.above) {
    for (let at = 0; at < count; at += 1) writeUnsigned(out, (numbers[at] ?? 0) - level, width);
  } else if (mode === modes.around) {
    for (let at = 0; at < count; at += 1) writeDistance(out, (numbers[at] ?? 0) - level, width);
  } else {
    let before = numbers[0] ?? 0;
    out.writeSigned(before);
    for (let at = 1; at < count; at += 1) {
      const number = numbers[at] ?? 0;
      writeDistance(out, number - before - level, width);
      before = number;
    }
  }
}

/** Reads `count` numbers. @throws BitsError for what cannot have been written */
export function readNumbers(from: BitReader, numbers: Float64Array, count: number, isNested = false): void {
  if (count === 0) return;
  const mode = from.read(modeBits);
  if (mode > (isNested ? modes.onward : modes.sparse)) throw new BitsError(`a column of the unknown kind ${mode}`);
  if (mode === modes.constant) {
    numbers.fill(from.readSigned(), 0, count);
    return;
  }
  if (mode === modes.sparse) {
    numbers.fill(from.readSigned(), 0, count);
    readExceptions(from, numbers, count);
    return;
  }
  const width = from.read(widthBits);
  if (width > widest) throw new BitsError(`a column of numbers of ${width} bits`);
  const level = from.readSigned() * gridOf(mode, width);
  if (mode === modes.plain) {
    for (let at = 0; at < count; at += 1) numbers[at] = level + from.read(width);
  } else if (mode === modes.above) {
    for (let at = 0; at < count; at += 1) numbers[at] = level + readUnsigned(from, width);
  } else if (mode === modes.around) {
    for (let at = 0; at < count; at += 1) numbers[at] = level + readDistance(from, width);
  } else {
    let before = from.readSigned();
    numbers[0] = before;
    for (let at = 1; at < count; at += 1) {
      before += level + readDistance(from, width);
      numbers[at] = before;
    }
  }
}

function writeExceptions(out: BitWriter, numbers: Float64Array, count: number, level: number): void {
  const gaps = new Float64Array(count);
  const others = new Float64Array(count);
  let found = 0;
  let before = -1;
  for (let at = 0; at < count; at += 1) {
    const number = numbers[at] ?? 0;
    if (number === level) continue;
    gaps[found] = at - before;
    others[found] = number;
    before = at;
    found += 1;
  }
  out.writeCount(found);
  writeNumbers(out, gaps, found, true);
  writeNumbers(out, others, found, true);
}

function readExceptions(from: BitReader, numbers: Float64Array, count: number): void {
  const found = from.readCount();
  if (found > count) throw new BitsError(`${found} exceptions among ${count} numbers`);
  const gaps = new Float64Array(found);
  const others = new Float64Array(found);
  readNumbers(from, gaps, found, true);
  readNumbers(from, others, found, true);
  let at = -1;
  for (let index = 0; index < found; index += 1) {
    at += gaps[index] ?? 0;
    if (!(at >= 0 && at < count)) throw new BitsError(`an exception at ${at} of ${count} numbers`);
    numbers[at] = others[index] ?? 0;
  }
}
