import type { DatabasePool } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { bucketOf } from './outcome.ts';
import type { Attempt, Outcome } from './outcome.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** An attempt that is over, and what becomes of its delivery. */
export type Done = {
  readonly id: number;
  readonly workspaceId: number;
  readonly webhookId: number;
  readonly tries: number;
  readonly attempt: Attempt;
  readonly outcome: Outcome;
};

const slowMs = 2_000;

/** An attempt as it is kept. */
export const attemptEntry = ({ atMs, durationMs, statusCode, errorCode, error, answer }: Attempt) => ({
  at: iso(atMs),
  duration_ms: durationMs,
  status_code: statusCode,
  error_code: errorCode,
  error: error?.slice(0, 1_000) ?? null,
  answer,
});

/**
 * Notes what became of deliveries, in one statement. Whoever comes after the end of the lease says nothing of an attempt that another makes
 * meanwhile, so outcomes may be noted again.
 */
export async function noteDeliveries(pool: DatabasePool, replica: string, done: readonly Done[]): Promise<void> {
  if (done.length > 0) await writeDeliveries(pool, replica, done);
}

/**
 * Notes what is known of webhooks by outcomes that were noted. Apart from them, so that no lock of a webhook is held while deliveries are
 * waited for: what dies between loses sums and no delivery.
 */
export async function noteWebhooks(pool: DatabasePool, done: readonly Done[]): Promise<void> {
  if (done.length === 0) return;
  await pool.transaction(async (transaction) => {
    await writeWebhooks(transaction, done);
    await writeSums(transaction, done);
  });
}

async function writeDeliveries(pool: DatabasePool, replica: string, done: readonly Done[]): Promise<void> {
  const rows = done.map(({ id, tries, attempt, outcome }) => [
    String(id),
    tries,
    outcome.state,
    outcome.state === 'queued' ? iso(outcome.dueMs) : null,
    iso(attempt.atMs + attempt.durationMs),
    attempt.statusCode,
    attempt.errorCode,
    attempt.durationMs,
    JSON.stringify([attemptEntry(attempt)]),
  ]);
  await pool.query(sql.unsafe`
    update webhook_deliveries d set state = g.state, due_at = coalesce(g.due_at, g.at), leased_by = null, attempts = d.attempts + 1,
      status_code = g.status_code, error_code = g.error_code, duration_ms = g.duration_ms, has_answers = true,
      history = case when jsonb_array_length(d.history) >= 20 then (d.history - 0) || g.entry else d.history || g.entry end,
      delivered_at = case when g.state = 'delivered' then g.at else d.delivered_at end,
      failed_at = case when g.state = 'failed' then g.at else d.failed_at end,
      retries = d.retries + (g.state = 'failed' and d.dlq_status is not distinct from 'retried')::integer,
      dlq_status = case when g.state = 'failed' and not d.is_test then 'failed' else d.dlq_status end,
      body = case when g.state = 'failed' then coalesce(d.body, (select e.body from events e where e.event_id = d.event_id)) else d.body end
    from ${sql.unnest(rows, [
      'int8',
      'int2',
      'text',
      'timestamptz',
      'timestamptz',
      'int2',
      'text',
      'int4',
      'jsonb',
    ])} as g (id, tries, state, due_at, at, status_code, error_code, duration_ms, entry)
    where d.id = g.id and d.state = 'queued' and d.leased_by = ${replica} and d.tries = g.tries`);
}

async function writeWebhooks(transaction: Transaction, done: readonly Done[]): Promise<void> {
  const byWebhook = Map.groupBy(done, ({ webhookId }) => webhookId);
  const rows = [...byWebhook]
    .toSorted(([one], [other]) => one - other)
    .map(([webhookId, some]) => {
      const ends = (wanted: boolean) =>
        some
          .filter(({ attempt }) => (attempt.errorCode === null) === wanted)
          .map(({ attempt }) => attempt.atMs + attempt.durationMs);
      const [successes, failures] = [ends(true), ends(false)];
      return [
        webhookId,
        successes.length === 0 ? null : iso(Math.max(...successes)),
        failures.length === 0 ? null : iso(Math.min(...failures)),
        failures.length === 0 ? null : iso(Math.max(...failures)),
        failures.length,
        (some.at(-1)?.attempt.durationMs ?? 0) > slowMs,
        some.some(({ outcome }) => outcome.state === 'failed' && outcome.isGone),
      ];
    });
  await transaction.query(sql.unsafe`
    select from webhooks where id = any(${sql.array([...byWebhook.keys()], 'int4')}) order by id for no key update`);
  await transaction.query(sql.unsafe`
    update webhooks w set is_slow = g.is_slow, last_success_at = greatest(w.last_success_at, g.success_at),
      failing_since = case when g.success_at is not null then null else coalesce(w.failing_since, g.first_failure) end,
      failures = case when g.success_at is not null then 0 else w.failures + g.failures end,
      mails_sent = case when g.success_at is not null then 0 else w.mails_sent end,
      last_failure_at = greatest(w.last_failure_at, g.last_failure),
      is_active = w.is_active and not g.is_gone,
      disabled_reason = case when w.is_active and g.is_gone then 'gone' else w.disabled_reason end
    from ${sql.unnest(rows, ['int4', 'timestamptz', 'timestamptz', 'timestamptz', 'int4', 'bool', 'bool'])}
      as g (id, success_at, first_failure, last_failure, failures, is_slow, is_gone)
    where w.id = g.id`);
}

const hourMs = 3_600_000;

async function writeSums(transaction: Transaction, done: readonly Done[]): Promise<void> {
  const hours = new Map<string, { key: [number, number, string]; success: number; error: number; attempts: number }>();
  const buckets = new Map<string, { key: [number, number, string]; bucket: number; count: number }>();
  for (const { workspaceId, webhookId, attempt, outcome } of done) {
    const hour = iso(Math.floor(attempt.atMs / hourMs) * hourMs);
    const name = `${webhookId} ${hour}`;
    const key: [number, number, string] = [workspaceId, webhookId, hour];
    const sum = hours.get(name) ?? { key, success: 0, error: 0, attempts: 0 };
    sum.attempts += 1;
    if (outcome.state === 'delivered') sum.success += 1;
    if (outcome.state === 'failed') sum.error += 1;
    hours.set(name, sum);
    if (attempt.statusCode === null) continue;
    const bucket = bucketOf(attempt.durationMs);
    const counted = buckets.get(`${name} ${bucket}`) ?? { key, bucket, count: 0 };
    counted.count += 1;
    buckets.set(`${name} ${bucket}`, counted);
  }
  const ordered = [...hours].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
  await transaction.query(sql.unsafe`
    insert into webhook_hours as h (workspace_id, webhook_id, hour, success, error, attempts)
    select g.workspace_id, g.webhook_id, g.hour, g.success, g.error, g.attempts
    from ${sql.unnest(
      ordered.map(({ key, success, error, attempts }) => [...key, success, error, attempts]),
      ['int4', 'int4', 'timestamptz', 'int4', 'int4', 'int4'],
    )} as g (workspace_id, webhook_id, hour, success, error, attempts) join webhooks w on w.id = g.webhook_id
    on conflict (webhook_id, hour) do update set success = h.success + excluded.success, error = h.error + excluded.error,
      attempts = h.attempts + excluded.attempts`);
  if (buckets.size === 0) return;
  await transaction.query(sql.unsafe`
    insert into webhook_latencies as l (workspace_id, webhook_id, hour, bucket, count)
    select g.workspace_id, g.webhook_id, g.hour, g.bucket, g.count
    from ${sql.unnest(
      [...buckets.values()].map(({ key, bucket, count }) => [...key, bucket, count]),
      ['int4', 'int4', 'timestamptz', 'int2', 'int4'],
    )} as g (workspace_id, webhook_id, hour, bucket, count) join webhooks w on w.id = g.webhook_id
    on conflict (webhook_id, hour, bucket) do update set count = l.count + excluded.count`);
}
