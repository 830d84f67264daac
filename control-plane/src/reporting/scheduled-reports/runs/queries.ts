import type { ReportFormat } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { ReportPeriod } from '../periods.ts';
import type { ReportRow } from '../row.ts';
import { runRow } from './row.ts';
import type { RunRow } from './row.ts';

const columns = sql.fragment`n.id, n.workspace_id, n.from_at, n.to_at, n.trigger, n.status, n.recipients, n.error, n.created_at, n.finished_at,
  array(select f.format from scheduled_report_files f where f.run_id = n.id order by f.format desc) as formats`;

const ofScope = (scope: Scope) => sql.fragment`n.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

/** A page of the runs of a report of the scope, newest first, and how many there are. */
export async function listRuns(
  scope: Scope,
  tx: Transaction,
  reportId: number,
  { page, page_size: size }: { readonly page: number; readonly page_size: number },
): Promise<{ readonly rows: readonly RunRow[]; readonly total: number }> {
  const matching = sql.fragment`from scheduled_report_runs n where n.report_id = ${reportId} and ${ofScope(scope)}`;
  const total = await tx.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`);
  const rows = await tx.any(sql.type(runRow)`
    select ${columns} ${matching} order by n.id desc limit ${size} offset ${(page - 1) * size}`);
  return { rows, total };
}

/** Queues a run by hand. @returns null: one is under way */
export async function queueRun(
  tx: Transaction,
  report: Pick<ReportRow, 'id' | 'workspace_id'>,
  run: ReportPeriod & { readonly delivers: boolean },
): Promise<RunRow | null> {
  const id = await tx.maybeOneFirst(sql.typeAlias('id')`
    insert into scheduled_report_runs (workspace_id, report_id, from_at, to_at, trigger, delivers, status)
    values (${report.workspace_id}, ${report.id}, ${sql.timestamp(new Date(run.fromMs))}, ${sql.timestamp(new Date(run.toMs))}, 'manual',
      ${run.delivers}, 'queued')
    on conflict (report_id) where status in ('queued', 'running') do nothing
    returning id`);
  if (id === null) return null;
  return tx.one(sql.type(runRow)`select ${columns} from scheduled_report_runs n where n.id = ${id}`);
}

const fileRow = z.object({ content: z.instanceof(Buffer), from_at: z.number(), to_at: z.number() });

/** A file of a run of a report of the scope, or null: there is no such run, it has none in that format, or it is too old. */
export async function findFile(
  scope: Scope,
  connection: CommonQueryMethods,
  place: { readonly reportId: number; readonly runId: number; readonly format: ReportFormat },
): Promise<z.output<typeof fileRow> | null> {
  return connection.maybeOne(sql.type(fileRow)`
    select f.content, n.from_at, n.to_at from scheduled_report_runs n
    join scheduled_reports r on r.id = n.report_id
    join scheduled_report_files f on f.run_id = n.id and f.format = ${place.format}
    where n.id = ${place.runId} and n.report_id = ${place.reportId} and r.deleted_at is null and ${ofScope(scope)}`);
}
