/** A time of RFC 5545: an instant, a time of a wall clock, or a day of it; `ms` as a clock of UTC shows it. */
export type CalendarTime = { readonly kind: 'instant' | 'wall' | 'day'; readonly ms: number };

/** `20260301T020000` of a wall time. */
export function wallText(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
}

/** Reads `20260301`, `20260301T020000` or the same with `Z`; undefined when it is none of them, or no such day. */
export function readTime(text: string): CalendarTime | undefined {
  const [, year, month, day, time, hour = '0', minute = '0', second = '0', zulu] =
    /^(\d{4})(\d{2})(\d{2})(T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (h > 23 || mi > 59 || s > 59) return undefined;
  const ms = Date.UTC(y, mo - 1, d, h, mi, s);
  if (new Date(ms).getUTCDate() !== d || new Date(ms).getUTCMonth() !== mo - 1) return undefined;
  return { kind: time === undefined ? 'day' : zulu === 'Z' ? 'instant' : 'wall', ms };
}

/** Milliseconds of a duration such as `PT1H30M`, `P2D` or `P1W`; undefined when it is none or negative. */
export function readDuration(text: string): number | undefined {
  const [, weeks, days, hours, minutes, seconds] =
    /^\+?P(?:(\d{1,5})W|(?=.)(?:(\d{1,5})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?)$/.exec(
      text.trim().toUpperCase(),
    ) ?? [];
  const parts = [weeks, days, hours, minutes, seconds];
  if (parts.every((part) => part === undefined)) return undefined;
  const [w = 0, d = 0, h = 0, m = 0, s = 0] = parts.map((part) => Number(part ?? 0));
  return ((((w * 7 + d) * 24 + h) * 60 + m) * 60 + s) * 1_000;
}
