/** A date and time of day as a clock on the wall shows it. Months count from 1. */
export type LocalTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}

/** What a clock in a zone shows at an instant, in milliseconds since the epoch. @throws RangeError for a zone that there is not */
export function localTime(ms: number, zone: string): LocalTime {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second };
}

/** A local time as if it were UTC: milliseconds that can be compared and added to. */
export function plainMs({ year, month, day, hour, minute, second }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const dayMs = 86_400_000;

/**
 * The instant at which a clock in a zone shows a local time. Of two, where clocks go back, it is the first. Where there is none, since clocks
 * go forward, it is read by the offset of before the gap (RFC 5545, section 3.3.5), so it is as much later as the gap is long, and says so.
 */
export function instantOf(local: LocalTime, zone: string): { readonly ms: number; readonly isShifted: boolean } {
  const plain = plainMs(local);
  const offsetAt = (ms: number): number => plainMs(localTime(ms, zone)) - ms;
  // No two changes of one zone's clocks are within two days.
  const before = offsetAt(plain - dayMs);
  const after = offsetAt(plain + dayMs);
  const fitting = [plain - before, plain - after].filter((ms) => plainMs(localTime(ms, zone)) === plain);
  const [first] = fitting.sort((a, b) => a - b);
  return first === undefined ? { ms: plain - before, isShifted: true } : { ms: first, isShifted: false };
}
