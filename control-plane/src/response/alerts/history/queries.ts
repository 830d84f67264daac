import { notificationStatuses } from '@parallax/api-contract';
import type { AlertHistoryEntry, NotificationStatus } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

export type HistoryFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly alert_id?: number;
  readonly workspace_id?: number | undefined;
  readonly channel?: string | undefined;
  readonly status?: NotificationStatus | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

const entryRow = z.object({
  id: z.bigint().transform(Number),
  workspace_id: z.number(),
  alert_id: z.number().nullable(),
  alert_name: z.string(),
  occasion: z.string(),
  incident_id: z.number().nullable(),
  event: z.string(),
  kind: z.string(),
  severity: z.enum(['minor', 'major', 'critical']),
  title: z.string(),
  subject_type: z.string().nullable(),
  subject_id: z.number().nullable(),
  status: z.enum(notificationStatuses),
  reason: z.string().nullable(),
  channel: z.string(),
  target_masked: z.string(),
  attempts: z.number(),
  error_code: z.string().nullable(),
  error: z.string().nullable(),
  latency_ms: z.number().nullable(),
  text: z.string().nullable(),
  due_at: z.number().nullable(),
  sent_at: z.number().nullable(),
  created_at: z.number(),
});

const iso = (ms: number): string => new Date(ms).toISOString();

/** A page of what the scope's alerts have told, newest first, and how many entries match. */
export async function historyPage(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: HistoryFilter,
): Promise<{ readonly history: AlertHistoryEntry[]; readonly total: number }> {
  const at = (text: string) => sql.timestamp(new Date(text));
  const conditions = [
    sql.fragment`n.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`,
    // By which services close what was reset: all that was told of it is forgotten.
    sql.fragment`n.reason is distinct from 'reset'`,
    filter.alert_id === undefined ? undefined : sql.fragment`n.alert_id = ${filter.alert_id}`,
    filter.workspace_id === undefined ? undefined : sql.fragment`n.workspace_id = ${filter.workspace_id}`,
    filter.channel === undefined ? undefined : sql.fragment`n.channel = ${filter.channel}`,
    filter.status === undefined ? undefined : sql.fragment`n.status = ${filter.status}`,
    filter.start_time === undefined ? undefined : sql.fragment`n.created_at >= ${at(filter.start_time)}`,
    filter.end_time === undefined ? undefined : sql.fragment`n.created_at <= ${at(filter.end_time)}`,
  ];
  const matching = sql.fragment`from notifications n where ${sql.join(
    conditions.filter((one) => one !== undefined),
    sql.fragment` and `,
  )}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(entryRow)`
    with page as (
      select n.id ${matching} order by n.id desc limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size})
    select n.id, n.workspace_id, n.alert_id, n.alert_name, o.key as occasion, o.incident_id, n.event, n.kind, o.severity, n.title,
      n.subject_type, n.subject_id, n.status, n.reason, n.channel, n.target_masked, coalesce(d.attempts, 0) as attempts, d.error_code,
      d.error, d.latency_ms, d.text, case when n.status in ('held', 'queued') then coalesce(d.next_attempt_at, n.due_at) end as due_at,
      case when n.status = 'sent' then coalesce(d.done_at, n.done_at) end as sent_at, n.created_at
    from page join notifications n on n.id = page.id join alert_occasions o on o.id = n.occasion_id
    left join deliveries d on d.id = n.delivery_id
    order by n.id desc`);
  return { history: rows.map(entryOf), total };
}

function entryOf(row: z.output<typeof entryRow>): AlertHistoryEntry {
  const {
    subject_type: type,
    subject_id: id,
    alert_name: name,
    due_at: dueMs,
    sent_at: sentMs,
    created_at: createdMs,
    ...rest
  } = row;
  return {
    ...rest,
    alert_name: name === '' ? null : name,
    subject: type === null || id === null ? null : { type, id },
    due_at: dueMs === null ? null : iso(dueMs),
    sent_at: sentMs === null ? null : iso(sentMs),
    created_at: iso(createdMs),
  };
}
