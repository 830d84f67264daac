export const hourUs = 3_600_000_000;
export const hoursPerDay = 24;

/** 9999-12-31, as far as ISO 8601 goes without an agreement; in microseconds. */
const lastUs = 253_402_214_400_000_000;

/** A half-open time [fromUs, toUs) in microseconds since the epoch. */
export type Span = { readonly fromUs: number; readonly toUs: number };

/** A half-open run of whole hours since the epoch. */
export type HourSpan = { readonly fromHour: number; readonly toHour: number };

/** A bound as asked for, in milliseconds, brought into what the database can tell. */
export function boundUs(ms: number): number {
  return Math.min(lastUs, Math.max(0, Math.round(ms * 1_000)));
}

/** An instant as the database reads it, exact to the microsecond. */
export function isoOfUs(us: number): string {
  const ms = Math.floor(us / 1_000);
  const rest = String(us - ms * 1_000).padStart(3, '0');
  return new Date(ms).toISOString().replace('Z', `${rest}Z`);
}

/** The hour that an instant lies in. */
export const hourOf = (us: number): number => Math.floor(us / hourUs);

/** The whole hours of a span; none when `toHour` is not above `fromHour`. */
export function wholeHours({ fromUs, toUs }: Span): HourSpan {
  return { fromHour: Math.ceil(fromUs / hourUs), toHour: hourOf(toUs) };
}
