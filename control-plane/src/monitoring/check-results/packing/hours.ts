/** Whole hours and whole UTC days since 1970-01-01, as packed results count them. */

export const hourMs = 3_600_000;
export const hourUs = 3_600_000_000;
export const hoursOfDay = 24;
export const dayMs = hoursOfDay * hourMs;

/** The day that an hour lies in. */
export const dayOfHour = (hour: number): number => Math.floor(hour / hoursOfDay);

/** The start of an hour as SQL takes it. */
export const startOfHour = (hour: number): string => new Date(hour * hourMs).toISOString();
