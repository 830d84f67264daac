import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Cursor } from '../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../platform/ordered-log/present.queries.ts';

/** Which events are read. */
export type Filter = {
  readonly workspaceIds: readonly number[];
  /** Patterns of types; empty: all. */
  readonly patterns: readonly string[];
  readonly subjectType: string | undefined;
  readonly subjectId: number | undefined;
};

const eventRow = z.object({
  xid: z.string(),
  id: z.bigint(),
  event_id: z.string(),
  body: z.string(),
  at: z.number(),
});

/** Events behind a place, oldest first, and the place after them. */
export type EventsRead = {
  readonly events: readonly { readonly eventId: string; readonly body: string }[];
  readonly next: Cursor;
};

const likeOf = (pattern: string): string =>
  pattern === '*' ? '%' : pattern.replaceAll('_', '\\_').replace(/\*$/, '%');

/** Reads events behind a place. Tenants are those of the filter. */
export async function readEvents(
  connection: CommonQueryMethods,
  filter: Filter,
  after: Cursor,
  limit: number,
): Promise<EventsRead> {
  // Asked first: what a later snapshot sees beyond it is read next time.
  const present = await presentCursor(connection);
  const types = filter.patterns.map(likeOf);
  const rows = await connection.any(sql.type(eventRow)`
    select e.xid::text as xid, e.id, e.event_id, e.body, e.at from events e
    where (e.xid, e.id) > (${String(after.xid)}::xid8, ${String(after.id)}::bigint) and e.xid < ${String(present.xid)}::xid8
      and e.workspace_id = any(${sql.array([...filter.workspaceIds], 'int4')})
      and ${types.length === 0 ? sql.fragment`true` : sql.fragment`e.type like any(${sql.array(types, 'text')})`}
      and ${filter.subjectType === undefined ? sql.fragment`true` : sql.fragment`e.subject_type = ${filter.subjectType}`}
      and ${filter.subjectId === undefined ? sql.fragment`true` : sql.fragment`e.subject_id = ${filter.subjectId}`}
    order by e.xid, e.id limit ${limit}`);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return {
    events: rows.map((row) => ({ eventId: row.event_id, body: row.body })),
    next: last === undefined ? present : { atMs: present.atMs, xid: BigInt(last.xid), id: last.id },
  };
}
