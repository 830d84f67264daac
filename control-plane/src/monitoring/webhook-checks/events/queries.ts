import { payloadStatuses, refusalReasons, silentReasons } from '@parallax/api-contract';
import type { WebhookCheckEvent } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { Range } from './uptime.ts';

const eventRow = z.object({
  id: z.bigint(),
  received_at: z.number(),
  delivery_id: z.string().nullable(),
  accepted: z.boolean(),
  reason: z.enum([...refusalReasons, ...silentReasons]).nullable(),
  status: z.enum(payloadStatuses).nullable(),
  rule: z.number().nullable(),
  body: z.string().nullable(),
  body_truncated: z.boolean(),
  body_bytes: z.number(),
  remote_address: z.string(),
});

const ofCheck = (scope: Scope, checkId: number) =>
  sql.fragment`check_id = ${checkId} and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

const instant = (ms: number) => sql.timestamp(new Date(ms));

export type EventPage = {
  readonly page: number;
  readonly page_size: number;
  readonly accepted?: boolean | undefined;
};

/** A page of the deliveries to a check of the scope, the newest first, and how many there are. */
export async function listEvents(
  scope: Scope,
  tx: Transaction,
  checkId: number,
  { page, page_size: size, accepted }: EventPage,
): Promise<{ readonly events: readonly WebhookCheckEvent[]; readonly total: number }> {
  const matching = sql.fragment`from webhook_check_events
    where ${ofCheck(scope, checkId)} and (${accepted ?? null}::boolean is null or accepted = ${accepted ?? null})`;
  const total = await tx.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`);
  const rows = await tx.any(sql.type(eventRow)`
    select id, received_at, delivery_id, accepted, reason, status, rule, body, body_truncated, body_bytes, remote_address ${matching}
    order by id desc limit ${size} offset ${(page - 1) * size}`);
  const events = rows.map((row) => ({
    ...row,
    id: Number(row.id),
    received_at: new Date(row.received_at).toISOString(),
  }));
  return { events, total };
}

const countsRow = z.object({
  accepted: z.number(),
  duplicates: z.number(),
  refused: z.number(),
  up: z.number(),
  degraded: z.number(),
  down: z.number(),
});

/** Deliveries to a check of the scope since an instant. */
export async function countEvents(
  scope: Scope,
  tx: Transaction,
  checkId: number,
  fromMs: number,
): Promise<z.output<typeof countsRow>> {
  return tx.one(sql.type(countsRow)`
    select count(*) filter (where accepted)::integer as accepted,
      count(*) filter (where reason = 'duplicate')::integer as duplicates,
      count(*) filter (where not accepted)::integer as refused,
      count(*) filter (where status = 'up')::integer as up,
      count(*) filter (where status = 'degraded')::integer as degraded,
      count(*) filter (where status = 'down')::integer as down
    from webhook_check_events where ${ofCheck(scope, checkId)} and received_at >= ${instant(fromMs)}`);
}

const rangeRow = z.object({
  started_at: z.number(),
  ended_at: z.number().nullable(),
  status: z.enum(payloadStatuses),
  reason: z.string().nullable(),
});

/** How a check of the scope was since an instant, whole ranges in their order. */
export async function rangesSince(
  scope: Scope,
  tx: Transaction,
  checkId: number,
  fromMs: number,
): Promise<readonly Range[]> {
  const rows = await tx.any(sql.type(rangeRow)`
    select started_at, ended_at, status, reason from webhook_check_ranges
    where ${ofCheck(scope, checkId)} and (ended_at is null or ended_at > ${instant(fromMs)}) order by started_at`);
  return rows.map(({ started_at: startedMs, ended_at: endedMs, status, reason }) => ({
    startedMs,
    endedMs,
    status,
    isMissed: reason === 'missed',
  }));
}

const keptDays = 90;
const keptRangeDays = 730;

/** Removes a batch of deliveries that are older than 90 days, and of ranges that ended more than two years ago. @returns how many rows went */
export async function removeOldEvents(worker: DatabasePool, nowMs: number, limit: number): Promise<number> {
  const before = (days: number) => instant(nowMs - days * 86_400_000);
  const events = await worker.query(sql.unsafe`
    delete from webhook_check_events where id in (
      select id from webhook_check_events where received_at < ${before(keptDays)} limit ${limit})`);
  const ranges = await worker.query(sql.unsafe`
    delete from webhook_check_ranges where ctid = any (array(
      select ctid from webhook_check_ranges where ended_at < ${before(keptRangeDays)} limit ${limit}))`);
  return events.rowCount + ranges.rowCount;
}
