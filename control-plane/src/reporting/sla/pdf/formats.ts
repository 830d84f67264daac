import type { Words } from './words.ts';

/** How a report writes numbers and times in its language. */
export type Formats = {
  readonly count: (value: number) => string;
  /** Rounded down to thousandths of a percent, so that a service with downtime is never said to be up 100%. */
  readonly uptime: (share: number | null) => string;
  /** Whole percent. */
  readonly share: (share: number) => string;
  readonly percent: (percent: number) => string;
  readonly rate: (rate: number) => string;
  /** The two largest units, such as "3 h 12 min". */
  readonly duration: (ms: number) => string;
  readonly latency: (ms: number | null) => string;
  /** `2026-03-01 12:34:56`, in UTC. */
  readonly moment: (ms: number) => string;
  /** To the minute, in UTC. */
  readonly dayAndTime: (ms: number) => string;
  readonly period: (fromMs: number, toMs: number) => string;
  /** `1 March 2026`. */
  readonly day: (ms: number) => string;
  /** For an axis: days, or hours of them. */
  readonly tick: (ms: number, stepMs: number) => string;
};

/** Stands for what is not known or does not apply. */
export const nothing = '–';

const narrowSpace = '\u00A0';
const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** @param timeZone in which days and times are written; only what is marked as UTC is in UTC always */
export function formatsOf({ language, units }: Words, timeZone = 'UTC'): Formats {
  const number = (options?: Intl.NumberFormatOptions): Intl.NumberFormat => new Intl.NumberFormat(language, options);
  const date = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { timeZone, ...options });
  const whole = number({ maximumFractionDigits: 0 });
  const fraction = number({ minimumFractionDigits: 3, maximumFractionDigits: 3, style: 'percent' });
  const wholePercent = number({ maximumFractionDigits: 0, style: 'percent' });
  const upTo3 = number({ maximumFractionDigits: 3, style: 'percent' });
  const rate = number({ maximumSignificantDigits: 3 });
  const tenths = number({ maximumFractionDigits: 1 });
  const seconds = number({ maximumFractionDigits: 2 });
  const longDay = date({ day: 'numeric', month: 'long', year: 'numeric' });
  const shortDay = date({ day: 'numeric', month: 'short' });
  const clock = date({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

  const quantity = (value: string, unit: string): string => `${value}${narrowSpace}${unit}`;
  const duration = (ms: number): string =>
    durationIn(
      ms,
      units,
      quantity,
      (value) => whole.format(value),
      (value) => tenths.format(value),
    );
  const dayAndTime = (ms: number): string => `${longDay.format(ms)}, ${clock.format(ms)}`;

  return {
    count: (value) => whole.format(value),
    uptime: (share) => {
      if (share === null) return nothing;
      return share >= 1 ? wholePercent.format(1) : fraction.format(roundedDown(share));
    },
    share: (share) => wholePercent.format(share),
    percent: (percent) => upTo3.format(percent / 100),
    rate: (value) => `${rate.format(value)}×`,
    duration,
    latency: (ms) => {
      if (ms === null) return nothing;
      if (ms >= 10_000) return quantity(tenths.format(ms / secondMs), units.seconds);
      if (ms >= secondMs) return quantity(seconds.format(ms / secondMs), units.seconds);
      return quantity(ms < 10 ? tenths.format(ms) : whole.format(ms), units.milliseconds);
    },
    moment: (ms) => new Date(ms).toISOString().slice(0, 19).replace('T', ' '),
    dayAndTime,
    period: (fromMs, toMs) => `${dayAndTime(fromMs)} – ${dayAndTime(toMs)}`,
    day: (ms) => longDay.format(ms),
    tick: (ms, stepMs) => (stepMs >= dayMs || ms % dayMs === 0 ? shortDay.format(ms) : clock.format(ms)),
  };
}

/** To 100,000ths. What lies within a rounding error below a step is on it: 0.99954 is not quite that in binary. */
function roundedDown(share: number): number {
  return Math.floor(share * 1e5 + 1e-6) / 1e5;
}

function durationIn(
  ms: number,
  units: Words['units'],
  quantity: (value: string, unit: string) => string,
  whole: (value: number) => string,
  tenths: (value: number) => string,
): string {
  if (ms < 0) return `−${durationIn(-ms, units, quantity, whole, tenths)}`;
  if (ms > 0 && ms < 10 * secondMs) return quantity(tenths(Math.max(0.1, ms / secondMs)), units.seconds);
  // Rounded to the smaller of the two units before they are taken apart, or 59.9 min would become 60.
  const pairs = [
    { above: dayMs, big: dayMs, small: hourMs, names: [units.days, units.hours] },
    { above: hourMs, big: hourMs, small: minuteMs, names: [units.hours, units.minutes] },
    { above: minuteMs, big: minuteMs, small: secondMs, names: [units.minutes, units.seconds] },
  ] as const;
  for (const { above, big, small, names } of pairs) {
    const rounded = Math.round(ms / small) * small;
    if (rounded < above) continue;
    const rest = (rounded % big) / small;
    const first = quantity(whole(Math.floor(rounded / big)), names[0]);
    return rest === 0 ? first : `${first} ${quantity(whole(rest), names[1])}`;
  }
  return quantity(whole(Math.round(ms / secondMs)), units.seconds);
}

/** A difference of shares in percentage points with its sign; null when it is none at the digits that are shown. */
export function pointsOf(difference: number, language: string): string | null {
  const points = Math.round(difference * 100_000) / 1_000;
  if (points === 0) return null;
  const number = new Intl.NumberFormat(language, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  return `${points > 0 ? '+' : '−'}${number.format(Math.abs(points))}`;
}
