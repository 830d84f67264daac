/** An instant that a wall clock shows, and whether no wall clock shows that time. */
export type Placed = {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  /** The wall clock leaps over this time: the instant is later than asked for, by the length of the gap. */
  readonly isShifted: boolean;
};

const dayMs = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for a zone that is not known */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(zone, made);
  return made;
}

/** Whether the runtime knows an IANA zone. Offsets such as "+03:00" are none: they have no daylight saving and no name in a calendar. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/**
 * What the wall clock of a zone shows at an instant, as the milliseconds since the epoch at which a clock of UTC shows the same.
 * @throws RangeError for a zone that is not known
 */
export function wallOf(ms: number, zone: string): number {
  if (zone === 'UTC') return ms;
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const whole = Date.UTC(year, month - 1, day, hour, minute, second);
  return whole + (((ms % 1_000) + 1_000) % 1_000);
}

/**
 * The instant at which the wall clock of a zone shows a time (RFC 5545, 3.3.5): of two the first; in a gap the one that the offset of
 * before the gap makes of it, so it is later by the length of the gap.
 * @param wallMs the milliseconds since the epoch at which a clock of UTC shows that time
 */
export function instantOf(wallMs: number, zone: string): Placed {
  if (zone === 'UTC') return { ms: wallMs, isShifted: false };
  // Offsets lie within 14 hours, so a day before and behind stand on the two sides of a change that concerns this time.
  const before = wallMs - offsetAt(wallMs - dayMs, zone);
  const behind = wallMs - offsetAt(wallMs + dayMs, zone);
  const shown = [before, behind].filter((ms) => wallOf(ms, zone) === wallMs);
  if (shown.length > 0) return { ms: Math.min(...shown), isShifted: false };
  return { ms: before, isShifted: true };
}

const offsetAt = (ms: number, zone: string): number => wallOf(ms, zone) - ms;
