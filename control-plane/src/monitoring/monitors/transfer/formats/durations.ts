import { RowFault } from '../file/cells.ts';

const units: ReadonlyMap<string, number> = new Map([
  ...['ms', 'msec', 'millisecond', 'milliseconds'].map((word) => [word, 0.001] as const),
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((word) => [word, 1] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((word) => [word, 60] as const),
  ...['h', 'hr', 'hrs', 'hour', 'hours'].map((word) => [word, 3_600] as const),
]);
/** A day is the longest interval. */
const maxIntervalS = 86_400;
/** The longest time that a check may take. */
const maxTimeoutS = 60;

/**
 * An interval in seconds.
 * @param text a number, with a unit or without
 * @param unit of a number without one; `guess`: seconds, but below 30 it can only be minutes
 * @throws RowFault for what is no duration
 */
export function intervalOf(text: string, unit: 'seconds' | 'minutes' | 'guess', warnings: string[]): number {
  const { amount, seconds } = durationOf(text, 'interval');
  if (seconds !== undefined) return seconds;
  if (unit === 'guess' && amount < 30) {
    warnings.push(`the interval ${amount} was read as minutes`);
    return amount * 60;
  }
  // More minutes than a day has can only be seconds.
  return unit === 'minutes' && amount * 60 <= maxIntervalS ? amount * 60 : amount;
}

/** How often StatusCake looks where it is told to look without a pause (`check_rate` 0): as often as its next faster rate. */
const steadySeconds = 30;

/** A check rate of StatusCake in seconds. @throws RowFault for what is no duration */
export function checkRateOf(text: string, warnings: string[]): number {
  const seconds = intervalOf(text, 'seconds', warnings);
  if (seconds > 0) return seconds;
  warnings.push(`the check rate 0 (without a pause) was read as ${steadySeconds} seconds`);
  return steadySeconds;
}

/** A timeout in whole seconds, at most 60. Above 120 it can only be milliseconds. @throws RowFault */
export function timeoutOf(text: string, warnings: string[]): number {
  const { amount, seconds } = durationOf(text, 'timeout');
  const wanted = seconds ?? (amount > 120 ? amount / 1_000 : amount);
  const whole = Math.max(1, Math.ceil(wanted));
  if (whole <= maxTimeoutS) return whole;
  warnings.push(`the timeout of ${whole} s was cut to ${maxTimeoutS} s`);
  return maxTimeoutS;
}

function durationOf(text: string, column: string): { readonly amount: number; readonly seconds: number | undefined } {
  const match = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([a-z]*)\.?$/i.exec(text.trim());
  const amount = Number(match?.[1]);
  const word = (match?.[2] ?? '').toLowerCase();
  const factor = word === '' ? undefined : units.get(word);
  if (match === null || (word !== '' && factor === undefined)) {
    throw new RowFault('invalid_cell', `${column}: "${text.slice(0, 50)}" is no duration`);
  }
  return { amount, seconds: factor === undefined ? undefined : amount * factor };
}
