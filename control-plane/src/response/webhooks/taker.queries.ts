import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { StoredEvent } from '../events/index.ts';
import { factsOf, matches } from './match.ts';
import type { WebhookFilters } from './match.ts';

const filterRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  is_active: z.boolean(),
  events: z.array(z.string()),
  during_maintenance: z.enum(['send', 'skip']),
  covers_all: z.boolean(),
  tags: z.array(z.string()),
  subjects: z.array(z.string()),
  group_ids: z.array(z.number()),
});
type Candidate = WebhookFilters & { readonly id: number; readonly workspaceId: number; readonly isActive: boolean };

/** The filters of webhooks of workspaces, or of one webhook; in one statement. */
export async function candidatesOf(
  connection: CommonQueryMethods,
  which: { readonly workspaceIds: readonly number[] } | { readonly webhookId: number },
): Promise<readonly Candidate[]> {
  const asked =
    'webhookId' in which
      ? sql.fragment`w.id = ${which.webhookId}`
      : sql.fragment`w.workspace_id = any(${sql.array(which.workspaceIds, 'int4')})`;
  const rows = await connection.any(sql.type(filterRow)`
    select w.id, w.workspace_id, w.is_active, w.events, w.during_maintenance, w.covers_all, w.tags,
      array(
        select case when s.monitor_id is not null then 'monitor ' || s.monitor_id
          when s.heartbeat_id is not null then 'heartbeat ' || s.heartbeat_id else 'webhook_check ' || s.webhook_check_id end
        from webhook_subjects s where s.webhook_id = w.id and s.group_id is null) as subjects,
      array(
        select s.group_id from webhook_subjects s where s.webhook_id = w.id and s.group_id is not null
        union select g.id from monitor_groups g where g.workspace_id = w.workspace_id and g.tags && w.tags) as group_ids
    from webhooks w where ${asked} and w.deleted_at is null`);
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    isActive: row.is_active,
    events: row.events,
    duringMaintenance: row.during_maintenance,
    all: row.covers_all,
    tags: row.tags,
    subjects: new Set(row.subjects),
    groupIds: new Set(row.group_ids),
  }));
}

/**
 * Inserts deliveries of events for the webhooks that want them: queued, or missed where a webhook is switched off. Events that were taken before
 * change nothing.
 */
export async function takeEvents(transaction: Transaction, events: readonly StoredEvent[]): Promise<void> {
  const workspaceIds = [...new Set(events.map(({ workspaceId }) => workspaceId))];
  if (workspaceIds.length === 0) return;
  const candidates = Map.groupBy(await candidatesOf(transaction, { workspaceIds }), ({ workspaceId }) => workspaceId);
  if (candidates.size === 0) return;
  const rows = events.flatMap((event) => {
    const facts = factsOf(event);
    return (candidates.get(event.workspaceId) ?? [])
      .filter((webhook) => matches(webhook, facts))
      .map((webhook) => [
        event.workspaceId,
        webhook.id,
        event.eventId,
        event.type,
        new Date(event.atMs).toISOString(),
        webhook.isActive ? 'queued' : 'missed',
      ]);
  });
  if (rows.length === 0) return;
  await transaction.query(sql.unsafe`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at)
    select g.workspace_id, g.webhook_id, g.event_id, g.type, g.event_at, g.state, g.event_at
    from ${sql.unnest(rows, ['int4', 'int4', 'text', 'text', 'timestamptz', 'text'])}
      as g (workspace_id, webhook_id, event_id, type, event_at, state)
    on conflict (webhook_id, event_id) do nothing`);
}
