/** A scale from 0 up: where it ends, and what is written at it. */
export type ValueAxis = { readonly max: number; readonly ticks: readonly number[] };

/** Round numbers (1, 2 or 5 times a power of ten) from 0 to at least `max`; about `count` of them. */
export function valueAxis(max: number, count: number): ValueAxis {
  if (max <= 0) return { max: 1, ticks: [0, 1] };
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const steps = Math.max(1, Math.ceil(max / step - 1e-9));
  return { max: steps * step, ticks: Array.from({ length: steps + 1 }, (_, index) => index * step) };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const timeStepsMs = [
  60_000,
  5 * 60_000,
  15 * 60_000,
  30 * 60_000,
  hourMs,
  2 * hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
  dayMs,
  2 * dayMs,
  5 * dayMs,
  10 * dayMs,
  20 * dayMs,
  50 * dayMs,
  100 * dayMs,
];

/** Times inside a window at which something is written: whole minutes, hours or days of UTC, at most `most` of them. */
export function timeTicks(
  fromMs: number,
  toMs: number,
  most: number,
): { readonly stepMs: number; readonly atMs: number[] } {
  const stepMs =
    timeStepsMs.find((step) => (toMs - fromMs) / step <= most) ?? Math.ceil((toMs - fromMs) / most / dayMs) * dayMs;
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  const count = Math.max(0, Math.floor((toMs - first) / stepMs) + 1);
  return { stepMs, atMs: Array.from({ length: Math.min(count, most) }, (_, index) => first + index * stepMs) };
}
