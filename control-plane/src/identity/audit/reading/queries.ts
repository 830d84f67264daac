import type { QuerySqlToken } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

/** Which events are wanted; times in milliseconds since the epoch, both inclusive. */
export type AuditFilter = {
  readonly userId: number | undefined;
  /** The beginning of the action. */
  readonly action: string | undefined;
  readonly subjectType: string | undefined;
  readonly subjectId: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
};

/** The logs that are read: of workspaces, and that of the scope's user, which belongs to none. */
export type AuditLogs = { readonly workspaceIds: readonly number[]; readonly ofAccount: boolean };

const auditRow = z.object({
  id: z.bigint().transform(Number),
  workspace_id: z.number().nullable(),
  user_id: z.number().nullable(),
  actor: z.enum(['user', 'api_key', 'access_token', 'system', 'command']),
  action: z.string(),
  subject_type: z.string(),
  subject_id: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  remote_address: z.string().nullable(),
  request_id: z.string().nullable(),
  at: z.number(),
});
export type AuditRow = z.output<typeof auditRow>;

function conditions({ userId, action, subjectType, subjectId, fromMs, toMs }: AuditFilter) {
  return sql.join(
    [
      sql.fragment`true`,
      ...(userId === undefined ? [] : [sql.fragment`user_id = ${userId}`]),
      // Not LIKE: what is looked for may hold its wildcards.
      ...(action === undefined ? [] : [sql.fragment`starts_with(action, ${action})`]),
      ...(subjectType === undefined ? [] : [sql.fragment`subject_type = ${subjectType}`]),
      ...(subjectId === undefined ? [] : [sql.fragment`subject_id = ${subjectId}`]),
      ...(fromMs === undefined ? [] : [sql.fragment`at >= to_timestamp(${fromMs}::float8 / 1000)`]),
      // Answers show whole milliseconds, and the one that is named belongs to it.
      ...(toMs === undefined ? [] : [sql.fragment`at < to_timestamp(${toMs + 1}::float8 / 1000)`]),
    ],
    sql.fragment` and `,
  );
}

const columns = sql.fragment`
  id, workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id, at`;

/**
 * The statement of a page, newest first. Of each log it takes no more than what the page may need, from the index: it costs what lies before
 * the page and what the filters skip, not what the log holds.
 */
export function auditPage(
  scope: Scope,
  logs: AuditLogs,
  filter: AuditFilter,
  page: { readonly limit: number; readonly offset: number },
): QuerySqlToken<typeof auditRow> {
  const wanted = sql.fragment`${conditions(filter)} order by at desc, id desc limit ${page.limit + page.offset}`;
  const ofWorkspaces = sql.fragment`
    select event.* from unnest(${sql.array([...logs.workspaceIds], 'int4')}) as log (id)
    cross join lateral (select ${columns} from audit_log where workspace_id = log.id and ${wanted}) as event`;
  const ofAccount = sql.fragment`
    union all (select ${columns} from audit_log where workspace_id is null and user_id = ${scope.userId} and ${wanted})`;
  return sql.type(auditRow)`
    select ${columns} from (${ofWorkspaces} ${logs.ofAccount ? ofAccount : sql.fragment``}) as events
    order by at desc, id desc limit ${page.limit} offset ${page.offset}`;
}

/** A page of events, newest first. */
export async function readAuditPage(
  scope: Scope,
  transaction: Transaction,
  logs: AuditLogs,
  filter: AuditFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly AuditRow[]> {
  return transaction.any(auditPage(scope, logs, filter, page));
}

/** How many events there are. */
export async function countAudit(
  scope: Scope,
  transaction: Transaction,
  logs: AuditLogs,
  filter: AuditFilter,
): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select (
      (select count(*) from audit_log
       where workspace_id = any (${sql.array([...logs.workspaceIds], 'int4')}) and ${conditions(filter)})
      + (select count(*) from audit_log
         where ${logs.ofAccount} and workspace_id is null and user_id = ${scope.userId} and ${conditions(filter)})
    )::integer as total`);
}
