import type pg from 'pg';

/** What reads may go through: a pool or the client of a transaction. */
export type Reader = Pick<pg.Pool, 'query'>;

/** Whole microseconds of an instant, as bigint text; exact. */
export const microseconds = (expression: string): string => `(extract(epoch from ${expression}) * 1000000)::bigint`;
