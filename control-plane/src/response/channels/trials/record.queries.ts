import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';
import type { Message } from '../../messages/index.ts';
import { asText } from '../../messages/index.ts';

/** A test message that was sent, or was to be. */
export type SentTest = {
  readonly ownerId: number;
  /** Null: of no alert, so it stands in the workspace that is the owner's default. */
  readonly alert: { readonly id: number; readonly workspaceId: number; readonly name: string } | null;
  readonly channel: string;
  readonly configId: number | null;
  readonly targetKey: string;
  readonly targetMasked: string;
  readonly message: Message;
  readonly latencyMs: number;
  /** Null: it has arrived. */
  readonly error: { readonly code: string; readonly fault: string; readonly message: string } | null;
};

const mostText = 4_000;
const mostError = 1_000;

/** Notes a test in the history, as an occasion of its own that is over. For the worker login. */
export async function recordTest(worker: CommonQueryMethods, test: SentTest, nowMs: number): Promise<void> {
  const { alert, channel, configId, error, message, ownerId, targetKey: key, targetMasked: masked } = test;
  const now = sql.timestamp(new Date(nowMs));
  const status = error === null ? 'sent' : 'failed';
  const text = error === null ? asText({ ...message, links: [] }, { most: mostText }) : null;
  await worker.query(sql.unsafe`
    with place as (
      select coalesce(${alert?.workspaceId ?? null}::integer, (
        select m.workspace_id from workspace_members m join workspaces w on w.id = m.workspace_id and w.deleted_at is null
        where m.user_id = ${ownerId} order by m.is_default desc, m.workspace_id limit 1)) as workspace_id
    ), occasion as (
      insert into alert_occasions (workspace_id, key, event, title, severity, is_lasting, started_at, opened_at, ended_at, seq, problem_seq)
      select workspace_id, ${message.id}, 'test', ${message.title}, 'minor', false, ${now}, ${now}, ${now}, 1, 1
      from place where workspace_id is not null returning id, workspace_id
    ), delivery as (
      insert into deliveries (workspace_id, owner_id, target_key, channel, config_id, target_masked, kind, status, attempts, error_code, error_fault,
        error, latency_ms, text, created_at, done_at)
      select workspace_id, ${ownerId}, ${key}, ${channel}, ${configId}, ${masked}, 'test', ${status}, 1, ${error?.code ?? null}, ${error?.fault ?? null},
        ${error?.message.slice(0, mostError) ?? null}, ${Math.round(test.latencyMs)}, ${text}, ${now}, ${now}
      from occasion returning id
    )
    insert into notifications (workspace_id, occasion_id, alert_id, alert_name, event, kind, seq, title, target_key, owner_id, channel, config_id,
      target_masked, status, delivery_id, created_at, done_at)
    select o.workspace_id, o.id, (select id from alerts where id = ${alert?.id ?? null}::integer), ${alert?.name ?? ''}, 'test', 'test', 1,
      ${message.title}, ${key}, ${ownerId}, ${channel}, ${configId}, ${masked}, ${status}, d.id, ${now}, ${now}
    from occasion o, delivery d`);
}
