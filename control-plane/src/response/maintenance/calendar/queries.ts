import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { answerOf } from '../answer.ts';
import { maintenanceRows } from '../queries.ts';
import type { CalendarEntry } from './write.ts';

const tokenRow = z.object({ token_sealed: z.instanceof(Buffer), created_at: z.number() });

/** The sealed token of a workspace's calendar, and when it was made; null when there is none. */
export async function findCalendarToken(
  scope: Scope,
  connection: CommonQueryMethods,
  workspaceId: number,
): Promise<{ readonly sealed: Buffer; readonly createdMs: number } | null> {
  const row = await connection.maybeOne(sql.type(tokenRow)`
    select token_sealed, created_at from calendar_tokens
    where workspace_id = ${workspaceId} and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`);
  return row === null ? null : { sealed: row.token_sealed, createdMs: row.created_at };
}

/** Writes a new token in the place of the one before. @returns when it was made, milliseconds since the epoch */
export async function writeCalendarToken(
  tx: Transaction,
  workspaceId: number,
  token: { readonly hash: Buffer; readonly sealed: Buffer },
): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ created_at: z.number() }))`
    insert into calendar_tokens (workspace_id, token_hash, token_sealed, created_at)
    values (${workspaceId}, ${sql.binary(token.hash)}, ${sql.binary(token.sealed)}, clock_timestamp())
    on conflict (workspace_id) do update set token_hash = excluded.token_hash, token_sealed = excluded.token_sealed,
      created_at = excluded.created_at
    returning created_at`);
}

/** Whose calendar a token opens: a look-up before the tenant is known. */
export async function workspaceOfToken(connection: CommonQueryMethods, hash: Buffer): Promise<number | null> {
  return connection.oneFirst(sql.type(z.object({ workspace_id: z.number().nullable() }))`
    select identity_calendar(${sql.binary(hash)}) as workspace_id`);
}

/** What one calendar shows at most, the latest first: a program that subscribes reads all of it each time. */
const mostEntries = 2_000;

/** What a calendar shows: what is to come, and what ended or was cancelled within the last 90 days. */
export async function calendarEntries(
  scope: Scope,
  connection: CommonQueryMethods,
): Promise<{ readonly name: string; readonly entries: readonly CalendarEntry[] }> {
  const rows = await connection.any(
    maintenanceRows(
      sql.fragment`where x.deleted_at is null and x.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
        and (x.status in ('scheduled', 'active') or x.updated_at > now() - interval '90 days')
        order by x.starts_at desc, x.id desc limit ${mostEntries}`,
    ),
  );
  const name = await connection.oneFirst(sql.type(z.object({ name: z.string() }))`
    select name from workspaces where id = any(${sql.array(scope.workspaceIds, 'int4')})`);
  return { name, entries: rows.map((row) => ({ maintenance: answerOf(row), uid: row.uid })) };
}
