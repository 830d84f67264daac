import { subjectTypes } from '@parallax/api-contract';
import type { ReportFormat, RunStatus } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { byName } from '../../../platform/database/text-search.ts';
import type { RunRecipients } from '../runs/row.ts';

/** Longer than the longest report takes. */
const leaseSeconds = 600;
/** A run that ends its process each time is given up. */
export const mostAttempts = 3;

const claimedRow = z.object({
  id: z.number(),
  report_id: z.number(),
  workspace_id: z.number(),
  workspace_name: z.string(),
  from_at: z.number(),
  to_at: z.number(),
  is_late: z.boolean(),
  delivers: z.boolean(),
  attempts: z.number(),
});
/** A run that this process may make now. */
export type ClaimedRun = z.output<typeof claimedRow>;

/** Leases the run that has been due for longest; another process gets it when the lease runs out. Null: none is due. */
export async function claimRun(worker: DatabasePool): Promise<ClaimedRun | null> {
  return worker.maybeOne(sql.type(claimedRow)`
    update scheduled_report_runs n set status = 'running', attempts = n.attempts + 1,
      due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    from workspaces w
    where w.id = n.workspace_id and n.id = (
      select id from scheduled_report_runs where status in ('queued', 'running') and due_at <= clock_timestamp()
      order by due_at, id limit 1 for update skip locked)
    returning n.id, n.report_id, n.workspace_id, w.name as workspace_name, n.from_at, n.to_at, n.is_late, n.delivers, n.attempts`);
}

/** Ends a run that is still this process's. @returns false: its lease ran out and another process has it, or it is gone */
export async function endRun(
  connection: CommonQueryMethods,
  { id, attempts }: Pick<ClaimedRun, 'id' | 'attempts'>,
  outcome: { readonly status: RunStatus; readonly error?: string; readonly recipients?: RunRecipients },
): Promise<boolean> {
  const { rowCount } = await connection.query(sql.unsafe`
    update scheduled_report_runs set status = ${outcome.status}, error = ${outcome.error ?? null},
      recipients = ${JSON.stringify(outcome.recipients ?? [])}::jsonb, finished_at = clock_timestamp()
    where id = ${id} and status = 'running' and attempts = ${attempts}`);
  return rowCount === 1;
}

/** A run failed and is tried again. */
export async function putRunBack(
  worker: DatabasePool,
  { id, attempts }: Pick<ClaimedRun, 'id' | 'attempts'>,
  error: string,
  afterSeconds: number,
): Promise<void> {
  await worker.query(sql.unsafe`
    update scheduled_report_runs set status = 'queued', error = ${error}, due_at = clock_timestamp() + make_interval(secs => ${afterSeconds})
    where id = ${id} and status = 'running' and attempts = ${attempts}`);
}

/** Keeps a file of a run for those who download it. */
export async function keepRunFile(
  tx: Transaction,
  run: Pick<ClaimedRun, 'id' | 'workspace_id'>,
  format: ReportFormat,
  content: Buffer,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into scheduled_report_files (workspace_id, run_id, format, content)
    values (${run.workspace_id}, ${run.id}, ${format}, ${sql.binary(content)})`);
}

const namedRow = z.object({ type: z.enum(subjectTypes), id: z.number() });
export type NamedSubject = z.output<typeof namedRow>;

/** Subjects by name, no more than so many. */
export async function namesOf(
  connection: CommonQueryMethods,
  subjects: readonly NamedSubject[],
  most: number,
): Promise<readonly NamedSubject[]> {
  if (subjects.length <= most - 1) return subjects;
  const rows = subjects.map(({ type, id }) => [type, id]);
  return connection.any(sql.type(namedRow)`
    select g.type, g.id from ${sql.unnest(rows, ['text', 'int4'])} as g (type, id)
    left join monitors m on g.type = 'monitor' and m.id = g.id
    left join heartbeats h on g.type = 'heartbeat' and h.id = g.id
    left join webhook_checks c on g.type = 'webhook_check' and c.id = g.id
    order by ${byName(sql.fragment`coalesce(m.name, h.name, c.name)`)}, g.type, g.id limit ${most}`);
}
