import { deadLetterStatuses, deliveryStates } from '@parallax/api-contract';
import type { DeadLetterStatus, DeliveryState } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { attemptEntry } from '../sending/outcomes.queries.ts';
import type { Attempt } from '../sending/outcome.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));
const mostCounted = 100_001;

const deliveryRow = z.object({
  id: z.bigint().transform(Number),
  event_id: z.string(),
  type: z.string(),
  state: z.enum(deliveryStates),
  event_at: z.number(),
  attempts: z.number(),
  due_at: z.number(),
  is_leased: z.boolean(),
  status_code: z.number().nullable(),
  error_code: z.string().nullable(),
  duration_ms: z.number().nullable(),
  is_test: z.boolean(),
  dlq_status: z.enum(deadLetterStatuses).nullable(),
  failed_at: z.number().nullable(),
  retries: z.number(),
  delivered_at: z.number().nullable(),
  resolved_by: z.number().nullable(),
});
export type DeliveryRow = z.output<typeof deliveryRow>;

const columns = sql.fragment`d.id, d.event_id, d.type, d.state, d.event_at, d.attempts, d.due_at, d.leased_by is not null as is_leased,
  d.status_code, d.error_code, d.duration_ms, d.is_test, d.dlq_status, d.failed_at, d.retries, d.delivered_at, d.resolved_by`;

const ofWebhook = (scope: Scope, webhookId: number) =>
  sql.fragment`d.webhook_id = ${webhookId} and d.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

type Page = { readonly page: number; readonly page_size: number };
export type DeliveryFilter = Page & {
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};
type Rows = { readonly rows: readonly DeliveryRow[]; readonly total: number };

async function page(
  connection: CommonQueryMethods,
  matching: ReturnType<typeof sql.fragment>,
  order: ReturnType<typeof sql.fragment>,
  { page: number, page_size: size }: Page,
): Promise<Rows> {
  const total = await connection.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from (select ${matching} limit ${mostCounted}) counted`);
  const rows = await connection.any(sql.type(deliveryRow)`
    select ${columns} ${matching} order by ${order} limit ${size} offset ${(number - 1) * size}`);
  return { rows, total };
}

/** A page of what a webhook was sent, newest first. */
export function listDeliveries(
  scope: Scope,
  connection: CommonQueryMethods,
  webhookId: number,
  filter: DeliveryFilter,
): Promise<Rows> {
  const { state = null, type = null, start_time: from = null, end_time: to = null } = filter;
  const matching = sql.fragment`from webhook_deliveries d where ${ofWebhook(scope, webhookId)}
    and (${state}::text is null or d.state = ${state}) and (${type}::text is null or d.type = ${type})
    and (${from}::timestamptz is null or d.event_at >= ${from}::timestamptz)
    and (${to}::timestamptz is null or d.event_at <= ${to}::timestamptz)`;
  return page(connection, matching, sql.fragment`d.event_at desc, d.id desc`, filter);
}

/** A page of the dead letters of a webhook, newest first. */
export function listDeadLetters(
  scope: Scope,
  connection: CommonQueryMethods,
  webhookId: number,
  filter: Page & { readonly status: DeadLetterStatus },
): Promise<Rows> {
  const matching = sql.fragment`from webhook_deliveries d where ${ofWebhook(scope, webhookId)} and d.dlq_status = ${filter.status}`;
  return page(connection, matching, sql.fragment`d.failed_at desc, d.id desc`, filter);
}

const detailRow = deliveryRow.extend({
  body: z.string().nullable(),
  history: z.array(
    z.object({
      at: z.string(),
      duration_ms: z.number(),
      status_code: z.number().nullable(),
      error_code: z.string().nullable(),
      error: z.string().nullable(),
      answer: z.string().nullable(),
    }),
  ),
});
export type DeliveryDetail = z.output<typeof detailRow>;

/** A delivery with its body and its attempts, or null. */
export function findDelivery(
  scope: Scope,
  connection: CommonQueryMethods,
  webhookId: number,
  id: number,
): Promise<DeliveryDetail | null> {
  return connection.maybeOne(sql.type(detailRow)`
    select ${columns}, d.history, coalesce(d.body, (select e.body from events e where e.event_id = d.event_id)) as body
    from webhook_deliveries d where d.id = ${id} and ${ofWebhook(scope, webhookId)}`);
}

/** The same, locked until the transaction ends. */
export async function lockDelivery(
  scope: Scope,
  tx: Transaction,
  webhookId: number,
  id: number,
): Promise<DeliveryRow | null> {
  return tx.maybeOne(sql.type(deliveryRow)`
    select ${columns} from webhook_deliveries d where d.id = ${id} and ${ofWebhook(scope, webhookId)} for update`);
}

const anew = (nowMs: number) => sql.fragment`state = 'queued', due_at = ${at(nowMs)}, tries = 0, leased_by = null,
  dlq_status = case when dlq_status = 'failed' then 'retried' else dlq_status end`;

/** Queues a delivery that the caller has locked for ten attempts anew. */
export async function queueAgain(tx: Transaction, id: number, nowMs: number): Promise<void> {
  await tx.query(sql.unsafe`update webhook_deliveries set ${anew(nowMs)} where id = ${id}`);
}

/** Marks a dead letter that the caller has locked as resolved. */
export async function resolveLetter(tx: Transaction, id: number, userId: number): Promise<void> {
  await tx.query(sql.unsafe`
    update webhook_deliveries set dlq_status = 'resolved', resolved_by = ${userId} where id = ${id}`);
}

export type Range = { readonly sinceMs: number; readonly untilMs: number };
export type StoredDelivery = 'failed' | 'missed' | 'all';

const inRange = (webhookId: number, { sinceMs, untilMs }: Range, only: StoredDelivery) => sql.fragment`
  d.webhook_id = ${webhookId} and d.event_at between ${at(sinceMs)} and ${at(untilMs)} and not d.is_test and ${
    only === 'all'
      ? sql.fragment`d.state <> 'queued'`
      : sql.fragment`d.state = ${only} and d.dlq_status is distinct from 'resolved'`
  }`;

/** Whether a replay of a webhook is under way; until the transaction ends nobody else begins one. */
export async function isReplaying(tx: Transaction, webhookId: number): Promise<boolean> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('webhook replay ' || ${webhookId}::integer, 0))`);
  return tx.exists(sql.unsafe`
    select from webhook_deliveries where webhook_id = ${webhookId} and state = 'queued' and is_replay`);
}

/** Queues what a webhook was sent in a time, as a replay. @returns how many; above `most` the caller must undo it */
export async function replayStored(
  tx: Transaction,
  webhookId: number,
  range: Range,
  only: StoredDelivery,
  nowMs: number,
  most: number,
): Promise<number> {
  const { rowCount } = await tx.query(sql.unsafe`
    update webhook_deliveries set ${anew(nowMs)}, is_replay = true
    where id = any(array(
      select d.id from webhook_deliveries d where ${inRange(webhookId, range, only)} order by d.id limit ${most + 1} for update))`);
  return rowCount;
}

const eventRow = z.object({
  event_id: z.string(),
  type: z.string(),
  subject_type: z.string(),
  subject_id: z.number(),
  data: z.string(),
  at: z.number(),
});
export type PastEvent = z.output<typeof eventRow>;

/** Events of a workspace in a time of which a webhook has no delivery; of their bodies what filters look at. */
export async function eventsWithout(
  tx: Transaction,
  workspaceId: number,
  webhookId: number,
  { sinceMs, untilMs }: Range,
  most: number,
): Promise<readonly PastEvent[]> {
  return tx.any(sql.type(eventRow)`
    select e.event_id, e.type, e.subject_type, e.subject_id, e.at,
      jsonb_build_object('data', jsonb_build_object(
        'in_maintenance', e.body::jsonb #> '{data,in_maintenance}', 'members', e.body::jsonb #> '{data,members}',
        'subject', e.body::jsonb #> '{data,subject}'))::text as data
    from events e where e.workspace_id = ${workspaceId} and e.at between ${at(sinceMs)} and ${at(untilMs)}
      and not exists (select from webhook_deliveries d where d.webhook_id = ${webhookId} and d.event_id = e.event_id)
    order by e.xid, e.id limit ${most}`);
}

/** Inserts deliveries of events as a replay. */
export async function insertReplays(
  tx: Transaction,
  { workspaceId, webhookId }: { readonly workspaceId: number; readonly webhookId: number },
  events: readonly PastEvent[],
  nowMs: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at, is_replay)
    select ${workspaceId}, ${webhookId}, g.event_id, g.type, g.event_at, 'queued', ${at(nowMs)}, true
    from ${sql.unnest(
      events.map((event) => [event.event_id, event.type, new Date(event.at).toISOString()]),
      ['text', 'text', 'timestamptz'],
    )} as g (event_id, type, event_at)
    on conflict (webhook_id, event_id) do nothing`);
}

/** Notes a test with its one attempt. @returns its number */
export async function insertTest(
  tx: Transaction,
  test: {
    readonly workspaceId: number;
    readonly webhookId: number;
    readonly eventId: string;
    readonly type: string;
    readonly body: string;
    readonly attempt: Attempt;
  },
): Promise<number> {
  const { attempt } = test;
  const id = await tx.oneFirst(sql.type(z.object({ id: z.bigint() }))`
    insert into webhook_deliveries (
      workspace_id, webhook_id, event_id, type, event_at, body, state, due_at, tries, attempts, is_test, status_code, error_code, duration_ms,
      history, has_answers, delivered_at)
    values (
      ${test.workspaceId}, ${test.webhookId}, ${test.eventId}, ${test.type}, ${at(attempt.atMs)}, ${test.body},
      ${attempt.errorCode === null ? 'delivered' : 'failed'}, ${at(attempt.atMs)}, 1, 1, true, ${attempt.statusCode}, ${attempt.errorCode},
      ${attempt.durationMs}, ${JSON.stringify([attemptEntry(attempt)])}::jsonb, true,
      ${attempt.errorCode === null ? at(attempt.atMs + attempt.durationMs) : null})
    returning id`);
  return Number(id);
}

const sumRow = z.object({
  success: z.number(),
  error: z.number(),
  attempts: z.number(),
  dead_letters: z.number(),
});
const bucketRow = z.object({ bucket: z.number(), count: z.number() });

/** Sums of the last hours, the present one included, and the buckets of durations. */
export async function statsOf(
  connection: CommonQueryMethods,
  webhookId: number,
  sinceMs: number,
): Promise<z.output<typeof sumRow> & { readonly buckets: readonly z.output<typeof bucketRow>[] }> {
  const sums = await connection.one(sql.type(sumRow)`
    select coalesce(sum(success), 0)::integer as success, coalesce(sum(error), 0)::integer as error,
      coalesce(sum(attempts), 0)::integer as attempts,
      (select count(*)::integer from webhook_deliveries d where d.webhook_id = ${webhookId} and d.dlq_status = 'failed') as dead_letters
    from webhook_hours where webhook_id = ${webhookId} and hour > ${at(sinceMs)}`);
  const buckets = await connection.any(sql.type(bucketRow)`
    select bucket, sum(count)::integer as count from webhook_latencies
    where webhook_id = ${webhookId} and hour > ${at(sinceMs)} group by bucket order by bucket`);
  return { ...sums, buckets };
}
