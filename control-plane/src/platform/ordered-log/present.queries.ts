import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../database/pools.ts';
import type { Cursor } from './cursor.ts';

const placeRow = z.object({ at: z.number(), xid: z.string() });

/** The present: everything of transactions that are over lies before it. */
export async function presentCursor(connection: CommonQueryMethods): Promise<Cursor> {
  const { at, xid } = await connection.one(sql.type(placeRow)`
    select clock_timestamp() as at, pg_snapshot_xmin(pg_current_snapshot())::text as xid`);
  return { atMs: at, xid: BigInt(xid), id: 0n };
}
