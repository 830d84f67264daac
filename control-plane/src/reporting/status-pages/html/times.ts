import type { Words } from './words/words.ts';

/** Numbers and times as a page writes them in one language and zone. */
export type Formats = {
  /** As the zone is called where times are computed. */
  readonly timeZone: string;
  /** What the zone is called, with its offset at an instant. */
  readonly zone: (ms: number) => string;
  readonly clock: (ms: number) => string;
  readonly dateTime: (ms: number) => string;
  /** The date of an instant in the zone, `2026-11-27`. */
  readonly dateOf: (ms: number) => string;
  /** Of dates such as `2026-11-27`; the long date and the month stand in headings. */
  readonly longDate: (date: string) => string;
  readonly shortDate: (date: string) => string;
  readonly dateRange: (first: string, last: string) => string;
  readonly month: (date: string) => string;
  readonly duration: (seconds: number) => string;
  readonly whole: (number: number) => string;
  readonly percent: (percent: number) => string;
  readonly wholePercent: (percent: number) => string;
  readonly list: (texts: readonly string[]) => string;
};

const made = new Map<string, Formats>();
/** Two languages and all the zones that there are, with room for their other spellings. */
const maxKept = 2000;
/** Zones are at whole quarters of hours from UTC, so no day begins within one. */
const quarterMs = 900_000;
const maxDates = 200;

export function formatsOf(words: Words, timezone: string): Formats {
  const key = `${words.language} ${timezone}`;
  let formats = made.get(key);
  if (formats === undefined) {
    if (made.size >= maxKept) made.clear();
    formats = makeFormats(words.language, isZone(timezone) ? timezone : 'UTC');
    made.set(key, formats);
  }
  return formats;
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format();
    return true;
  } catch {
    return false;
  }
}

function makeFormats(language: string, timeZone: string): Formats {
  const instant = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { timeZone, hourCycle: 'h23', ...options });
  const date = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { timeZone: 'UTC', ...options });
  const number = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options);
  const clock = instant({ hour: '2-digit', minute: '2-digit' });
  const offset = instant({ timeZoneName: 'shortOffset' });
  const dateTime = instant({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
  const parts = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const long = date({ weekday: 'long', day: 'numeric', month: 'long' });
  const short = date({ day: 'numeric', month: 'short' });
  const month = date({ month: 'long', year: 'numeric' });
  const whole = number({ maximumFractionDigits: 0 });
  const hundredths = number({ style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const wholePercent = number({ style: 'percent', maximumFractionDigits: 0 });
  const list = new Intl.ListFormat(language, { type: 'conjunction' });
  const unit = (unit: string) => number({ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 });
  const [day, hour, minute, second] = [unit('day'), unit('hour'), unit('minute'), unit('second')];
  const dates = new Map<number, string>();
  const at = (date: string): Date => new Date(`${date}T12:00:00Z`);
  return {
    timeZone,
    zone: (ms) => zoneName(offset, timeZone, ms),
    clock: (ms) => clock.format(ms),
    dateTime: (ms) => dateTime.format(ms),
    dateOf: (ms) => {
      const quarter = Math.floor(ms / quarterMs);
      const known = dates.get(quarter);
      if (known !== undefined) return known;
      const found = Object.fromEntries(parts.formatToParts(ms).map(({ type, value }) => [type, value]));
      const date = `${found['year']}-${found['month']}-${found['day']}`;
      if (dates.size >= maxDates) dates.clear();
      dates.set(quarter, date);
      return date;
    },
    longDate: (text) => capital(long.format(at(text))),
    shortDate: (text) => short.format(at(text)),
    dateRange: (first, last) => short.formatRange(at(first), at(last)),
    month: (text) => capital(month.format(at(text))),
    duration: (seconds) => {
      const all = Math.max(0, Math.round(seconds));
      if (all < 60) return second.format(all);
      const minutes = Math.floor(all / 60);
      const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
      const said = [days > 0 && day.format(days), hours > 0 && hour.format(hours), rest > 0 && minute.format(rest)];
      return said
        .filter((each) => each !== false)
        .slice(0, 2)
        .join(' ');
    },
    whole: (value) => whole.format(value),
    percent: (percent) => (percent >= 100 ? wholePercent.format(1) : hundredths.format(cut(percent, 100) / 100)),
    wholePercent: (percent) => wholePercent.format(cut(percent, 1) / 100),
    list: (texts) => list.format(texts),
  };
}

/** Days of the week and months are written small in Russian, but headings begin with a capital letter. */
function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Cut, never rounded up: what is not 100 % is not told as 100 %. */
function cut(value: number, parts: number): number {
  const below = Math.floor(value * parts);
  // A product of binary fractions may fall just below the number that was written.
  return ((below + 1) / parts <= value ? below + 1 : below) / parts;
}

function zoneName(format: Intl.DateTimeFormat, timeZone: string, ms: number): string {
  const offset = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value;
  const name = timeZone.replaceAll('_', ' ');
  return offset === undefined || offset === name || name === 'UTC' ? name : `${name} (${offset})`;
}
