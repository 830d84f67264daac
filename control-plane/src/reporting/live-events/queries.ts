import type { DatabasePool } from 'slonik';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { Cursor } from '../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../platform/ordered-log/present.queries.ts';

/** Something that happened, as it is kept. */
export type LiveEvent = {
  readonly cursor: Cursor;
  readonly workspaceId: number;
  readonly kind: string;
  readonly payload: unknown;
};

/** What lies behind a place, oldest first, and the place after it. */
export type EventsRead = { readonly events: readonly LiveEvent[]; readonly upTo: Cursor; readonly isMore: boolean };

const eventRow = z.object({
  xid: z.string(),
  id: z.bigint(),
  workspace_id: z.number(),
  kind: z.string(),
  payload: z.unknown(),
  at: z.number(),
});

/** Keeps events in their order, in the transaction of what they tell. */
export async function keepEvents(
  transaction: Transaction,
  events: readonly { readonly workspaceId: number; readonly kind: string; readonly payload: unknown }[],
): Promise<void> {
  const rows = events.map(({ workspaceId, kind, payload }) => [workspaceId, kind, JSON.stringify(payload)]);
  await transaction.query(sql.unsafe`
    insert into live_events (workspace_id, kind, payload)
    select w.id, g.kind, g.payload::jsonb
    from ${sql.unnest(rows, ['int4', 'text', 'text'])} with ordinality as g (workspace_id, kind, payload, position)
      join workspaces w on w.id = g.workspace_id
    order by g.position`);
}

/** What lies behind a place, of all workspaces. For the worker login; who may see it is judged with each stream. */
export async function eventsBehind(worker: DatabasePool, after: Cursor, limit: number): Promise<EventsRead> {
  return readEvents(worker, sql.fragment`true`, after, limit);
}

/** The same of the workspaces of a scope. */
export async function eventsOfScope(
  scope: Scope,
  transaction: Transaction,
  after: Cursor,
  limit: number,
): Promise<EventsRead> {
  return readEvents(
    transaction,
    sql.fragment`workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`,
    after,
    limit,
  );
}

async function readEvents(
  connection: CommonQueryMethods,
  condition: ReturnType<typeof sql.fragment>,
  after: Cursor,
  limit: number,
): Promise<EventsRead> {
  // Asked first: what a later snapshot sees beyond it is read next time.
  const present = await presentCursor(connection);
  const rows = await connection.any(sql.type(eventRow)`
    -- By the columns: a bare xid would be the text above, in which 10 comes before 9.
    select xid::text as xid, id, workspace_id, kind, payload, at from live_events
    where (xid, id) > (${String(after.xid)}::xid8, ${String(after.id)}::bigint) and xid < ${String(present.xid)}::xid8
      and ${condition}
    order by live_events.xid, live_events.id limit ${limit}`);
  const events = rows.map((row) => ({
    cursor: { atMs: row.at, xid: BigInt(row.xid), id: row.id },
    workspaceId: row.workspace_id,
    kind: row.kind,
    payload: row.payload,
  }));
  const isMore = events.length === limit;
  return { events, isMore, upTo: (isMore ? events.at(-1)?.cursor : undefined) ?? present };
}

/** Removes what is older than it need be. @returns how many */
export async function forgetEvents(worker: DatabasePool, keepMs: number): Promise<number> {
  const done = await worker.query(sql.unsafe`
    delete from live_events where at < clock_timestamp() - make_interval(secs => ${keepMs / 1_000})`);
  return done.rowCount;
}
