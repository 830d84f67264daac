import { countedAsValues } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { TimeByStatus } from '../../statistics/index.ts';
import type { CorrectedTime } from '../correction.ts';
import type { Correction } from '../report.ts';

const timeSchema = z.object({
  upMs: z.number(),
  degradedMs: z.number(),
  downMs: z.number(),
  timeoutMs: z.number(),
  unknownMs: z.number(),
  maintenanceMs: z.number(),
  pausedMs: z.number(),
  excludedMs: z.number(),
});

const correctionRow = z.object({
  id: z.number(),
  started_at: z.number(),
  ended_at: z.number(),
  counted_as: z.enum(countedAsValues),
  reason: z.string(),
  created_by: z.number().nullable(),
  created_by_name: z.string(),
  before: timeSchema,
  after: timeSchema,
  created_at: z.number(),
});

const columns = sql.fragment`c.id, c.started_at, c.ended_at, c.counted_as, c.reason, c.created_by, c.created_by_name, c.before, c.after, c.created_at`;

/** A monitor's present chain; corrections of earlier ones count no more. */
export type CorrectedMonitor = { readonly id: number; readonly sla_chain: number };

/** Corrections of a monitor that touch a time, oldest first; with the limit on their number all fit into one answer. */
export async function correctionsOf(
  connection: CommonQueryMethods,
  scope: Scope,
  monitor: CorrectedMonitor,
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<Correction[]> {
  const rows = await connection.any(sql.type(correctionRow)`
    select ${columns} from sla_corrections c
    where ${ofMonitor(scope, monitor)} and c.ended_at > ${sql.timestamp(new Date(window.fromMs))}
      and c.started_at < ${sql.timestamp(new Date(window.toMs))}
    order by c.id`);
  return rows.map(correctionOf);
}

const timesRow = correctionRow
  .pick({ id: true, started_at: true, ended_at: true, counted_as: true })
  .extend({ monitor_id: z.number() });

/** What corrections say of the times of several monitors of the scope, as far as they touch a time; one statement. */
export async function correctedTimes(
  scope: Scope,
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<ReadonlyMap<number, readonly CorrectedTime[]>> {
  const rows = await connection.any(sql.prepared('corrected-times', timesRow)`
    select c.id, c.monitor_id, c.started_at, c.ended_at, c.counted_as
    from monitors m join sla_corrections c on c.monitor_id = m.id and c.chain = m.sla_chain and c.workspace_id = m.workspace_id
    where m.id = any(${sql.array([...monitorIds], 'int4')}) and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and c.ended_at > ${sql.timestamp(new Date(window.fromMs))} and c.started_at < ${sql.timestamp(new Date(window.toMs))}
    order by c.id`);
  return new Map(
    [...Map.groupBy(rows, (row) => row.monitor_id)].map(([monitorId, own]) => [
      monitorId,
      own.map((row) => ({ id: row.id, startedMs: row.started_at, endedMs: row.ended_at, countedAs: row.counted_as })),
    ]),
  );
}

/** A page of a monitor's corrections, latest first, and how many there are. */
export async function correctionsPage(
  connection: CommonQueryMethods,
  scope: Scope,
  monitor: CorrectedMonitor,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<{ readonly corrections: Correction[]; readonly total: number }> {
  const rows = await connection.any(sql.type(correctionRow)`
    select ${columns} from sla_corrections c where ${ofMonitor(scope, monitor)}
    order by c.id desc limit ${pageSize} offset ${(page - 1) * pageSize}`);
  return { corrections: rows.map(correctionOf), total: await countCorrections(connection, scope, monitor) };
}

/** How many corrections a monitor has. */
export async function countCorrections(
  connection: CommonQueryMethods,
  scope: Scope,
  monitor: CorrectedMonitor,
): Promise<number> {
  return connection.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from sla_corrections c where ${ofMonitor(scope, monitor)}`);
}

/** Holds a monitor's row against a reset and everybody else who appends to its ledger, until the transaction ends. */
export async function lockForCorrection(transaction: Transaction, scope: Scope, monitorId: number): Promise<void> {
  await transaction.query(sql.unsafe`
    select from monitors m where m.id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) for update`);
}

/** How others may know the caller: by the display name, else by a number. */
export async function nameOfUser(connection: CommonQueryMethods, scope: Scope): Promise<string> {
  const name = await connection.maybeOneFirst(
    sql.type(
      z.object({ display_name: z.string().nullable() }),
    )`select display_name from users where id = ${scope.userId}`,
  );
  return name ?? `User ${scope.userId}`;
}

/** Stores a correction. @returns it with its number and time */
export async function insertCorrection(
  transaction: Transaction,
  monitor: CorrectedMonitor & { readonly workspace_id: number },
  given: Omit<Correction, 'id' | 'createdMs'>,
): Promise<Correction> {
  const row = await transaction.one(sql.type(correctionRow)`
    insert into sla_corrections as c (workspace_id, monitor_id, chain, started_at, ended_at, counted_as, reason, created_by,
      created_by_name, before, after)
    values (${monitor.workspace_id}, ${monitor.id}, ${monitor.sla_chain}, ${sql.timestamp(new Date(given.startedMs))},
      ${sql.timestamp(new Date(given.endedMs))}, ${given.countedAs}, ${given.reason}, ${given.userId}, ${given.by},
      ${sql.jsonb(columnsOf(given.before))}, ${sql.jsonb(columnsOf(given.after))})
    returning ${columns}`);
  return correctionOf(row);
}

function ofMonitor(scope: Scope, monitor: CorrectedMonitor) {
  return sql.fragment`c.monitor_id = ${monitor.id} and c.chain = ${monitor.sla_chain}
    and c.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;
}

/** Only what the column is for. */
function columnsOf(time: TimeByStatus): z.infer<typeof timeSchema> {
  return timeSchema.parse(time);
}

function correctionOf(row: z.infer<typeof correctionRow>): Correction {
  return {
    id: row.id,
    startedMs: row.started_at,
    endedMs: row.ended_at,
    countedAs: row.counted_as,
    reason: row.reason,
    by: row.created_by_name,
    userId: row.created_by,
    createdMs: row.created_at,
    before: row.before,
    after: row.after,
  };
}
