import { bitLength } from './bits.ts';
import { bitsOfCode, bothSides, longest, tooFar, widest } from './rice.ts';

/** How the numbers of a column are written. */
export const modes = {
  /** All are the same one. */
  constant: 0,
  /** Distances from a level in the middle, to both sides. */
  around: 1,
  /** Distances from the least. */
  above: 2,
  /** The same, each in the same number of bits. */
  plain: 3,
  /** Distances from the number before plus a step. */
  onward: 4,
  /** All but a few are the same one: where the others stand, and which they are. */
  sparse: 5,
} as const;

export type Plan = { mode: number; level: number; width: number; bits: number };

/** How many distances have how many bits, for each way to predict; used again. */
const aroundLengths = new Int32Array(longest + 1);
const aboveLengths = new Int32Array(longest + 1);
const onwardLengths = new Int32Array(longest + 1);
/** Numbers that are looked at to choose how all are written. */
const lookedAt = 32;
const samples = new Float64Array(15);
/** Of each width, by the length of the distance. */
const codeBits = Float64Array.from({ length: (widest + 1) * (longest + 1) }, (_, index) =>
  bitsOfCode(index % (longest + 1), Math.floor(index / (longest + 1))),
);

/** The cheapest way to write the first `count` numbers, by an estimate. @param maySparse whether exceptions may be told apart */
export function planOf(numbers: Float64Array, count: number, maySparse: boolean): Plan {
  let least = numbers[0] ?? 0;
  let most = least;
  for (let at = 1; at < count; at += 1) {
    const number = numbers[at] ?? 0;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  if (least === most) return { mode: modes.constant, level: least, width: 0, bits: 0 };

  const middle = middleOf(numbers, count);
  const step = Math.round(((numbers[count - 1] ?? 0) - (numbers[0] ?? 0)) / (count - 1));
  const width = bitLength(most - least);
  // Twice the difference of two numbers, and its sign.
  const top = width + 2;
  const looked = countLengths(numbers, count, { least, middle, step, top });
  let best = riceOf(modes.around, middle, aroundLengths, top, looked);
  best = cheaper(best, riceOf(modes.above, least, aboveLengths, top, looked));
  const trend = riceOf(modes.onward, step, onwardLengths, top, looked);
  trend.bits += (bitLength(Math.abs(middle)) * looked) / count;
  best = cheaper(best, trend);
  if (width <= widest) best = cheaper(best, { mode: modes.plain, level: least, width, bits: width * looked });
  const rare = maySparse ? sparsePlan(numbers, count, middle, width) : undefined;
  if (rare !== undefined) best = cheaper(best, { ...rare, bits: (rare.bits * looked) / count });
  // A level needs no more precision than the distances from it have.
  const grid = gridOf(best.mode, best.width);
  return grid === 1 ? best : { ...best, level: Math.round(best.level / grid) * grid };
}

const cheaper = (one: Plan, other: Plan): Plan => (other.bits < one.bits ? other : one);

/** Levels that need not be exact are multiples of this. */
export function gridOf(mode: number, width: number): number {
  return mode === modes.around && width > 2 ? 2 ** (width - 2) : 1;
}

/** Near the median: that of some of the numbers, spread over all. */
function middleOf(numbers: Float64Array, count: number): number {
  const wanted = Math.min(count, samples.length);
  for (let index = 0; index < wanted; index += 1) {
    const number = numbers[Math.floor((index * count) / wanted)] ?? 0;
    let place = index;
    while (place > 0 && (samples[place - 1] ?? 0) > number) {
      samples[place] = samples[place - 1] ?? 0;
      place -= 1;
    }
    samples[place] = number;
  }
  return samples[wanted >>> 1] ?? 0;
}

/** Undefined where too many numbers are others than the one in the middle. @param width bits of the difference of two numbers */
function sparsePlan(numbers: Float64Array, count: number, middle: number, width: number): Plan | undefined {
  // Of fewer numbers than are looked at, the others are left over from another column.
  const looked = Math.min(count, samples.length);
  let same = 0;
  for (let at = 0; at < looked; at += 1) if (samples[at] === middle) same += 1;
  if (same * 2 < looked) return undefined;
  let others = 0;
  for (let at = 0; at < count; at += 1) if (numbers[at] !== middle) others += 1;
  if (others * 2 > count) return undefined;
  // A gap, a number, and what two columns cost by themselves.
  const bits = others * (bitLength(Math.round(count / others)) + 1 + width) + 50;
  return { mode: modes.sparse, level: middle, width: 0, bits };
}

/** The best width for distances of which so many have each length up to `top`. */
function riceOf(mode: number, level: number, lengths: Int32Array, top: number, count: number): Plan {
  let most = top;
  while (lengths[most] === 0) most -= 1;
  let least = 0;
  while (lengths[least] === 0) least += 1;
  // The best width is near the length of the distance in the middle.
  let middle = least;
  for (let below = lengths[least] ?? 0; below * 2 < count; below += lengths[middle] ?? 0) middle += 1;
  let best = Number.POSITIVE_INFINITY;
  let bestWidth = 0;
  for (let width = Math.min(widest, middle + 1); width >= Math.max(0, Math.min(widest, middle - 2)); width -= 1) {
    let bits = 0;
    for (let length = least; length <= most; length += 1) {
      bits += (lengths[length] ?? 0) * (codeBits[width * (longest + 1) + length] ?? 0);
    }
    if (bits < best) {
      best = bits;
      bestWidth = width;
    }
  }
  return { mode, level, width: bestWidth, bits: best };
}

/** Counts the lengths of the distances of some numbers, spread over all: they tell how the rest are best written. @returns of how many */
function countLengths(
  numbers: Float64Array,
  count: number,
  { least, middle, step, top }: Record<'least' | 'middle' | 'step' | 'top', number>,
): number {
  for (let length = 0; length <= top; length += 1) {
    aroundLengths[length] = 0;
    aboveLengths[length] = 0;
    onwardLengths[length] = 0;
  }
  const stride = Math.ceil(count / lookedAt);
  let looked = 0;
  for (let at = Math.max(1, stride - 1); at < count; at += stride) {
    const number = numbers[at] ?? 0;
    addLength(aroundLengths, bothSides(number - middle));
    addLength(aboveLengths, number - least);
    addLength(onwardLengths, bothSides(number - (numbers[at - 1] ?? 0) - step));
    looked += 1;
  }
  return looked;
}

function addLength(lengths: Int32Array, distance: number): void {
  const length = distance < tooFar ? 32 - Math.clz32(distance | 0) : bitLength(distance);
  lengths[length] = (lengths[length] ?? 0) + 1;
}
