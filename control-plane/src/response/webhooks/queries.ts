import { webhookLimits } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { byName, contains } from '../../platform/database/text-search.ts';
import type { Covered } from '../maintenance/index.ts';
import { webhookRow } from './row.ts';
import type { WebhookRow } from './row.ts';
import type { WebhookValues } from './values.ts';

const upTo = (state: 'queued' | 'missed') => sql.fragment`(
  select count(*)::integer from (
    select from webhook_deliveries d where d.webhook_id = w.id and d.state = ${sql.literalValue(state)} limit ${webhookLimits.queued}) counted)`;

const columns = sql.fragment`w.id, w.workspace_id, w.name, w.description, w.is_active, w.disabled_reason, w.sealed, w.origin, w.header_names,
  w.public_key, w.previous_until, w.events, w.covers_all, w.tags, w.during_maintenance, w.signature, w.content, w.max_per_second,
  w.failing_since, w.last_success_at, w.version, w.created_at, w.updated_at,
  ${upTo('queued')} as queued, ${upTo('missed')} as missed,
  (select coalesce(jsonb_agg(jsonb_build_object('type', s.type, 'id', s.id) order by s.place, s.id), '[]') from (
    select 1 as place, 'monitor' as type, t.monitor_id as id from webhook_subjects t where t.webhook_id = w.id and t.monitor_id is not null
    union all
    select 2, 'heartbeat', h.id from webhook_subjects t join heartbeats h on h.id = t.heartbeat_id
    where t.webhook_id = w.id and h.deleted_at is null
    union all
    select 3, 'webhook_check', c.id from webhook_subjects t join webhook_checks c on c.id = t.webhook_check_id
    where t.webhook_id = w.id and c.deleted_at is null) s) as subjects,
  array(select t.group_id from webhook_subjects t where t.webhook_id = w.id and t.group_id is not null order by t.group_id) as group_ids`;

const ofScope = (scope: Scope) =>
  sql.fragment`w.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and w.deleted_at is null`;

/** A webhook of the scope, or null. */
export async function findWebhook(
  scope: Scope,
  connection: CommonQueryMethods,
  id: number,
): Promise<WebhookRow | null> {
  return connection.maybeOne(sql.type(webhookRow)`
    select ${columns} from webhooks w where w.id = ${id} and ${ofScope(scope)}`);
}

/** A webhook of the scope, locked until the transaction ends: changes go one after another. */
export async function lockWebhook(scope: Scope, tx: Transaction, id: number): Promise<WebhookRow | null> {
  await tx.query(sql.unsafe`select from webhooks w where w.id = ${id} and ${ofScope(scope)} for no key update`);
  // In a statement of its own, which sees what the one waited for has done.
  return findWebhook(scope, tx, id);
}

export type WebhookFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly is_active?: boolean | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's webhooks by name, and how many match. */
export async function listWebhooks(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: WebhookFilter,
): Promise<{ readonly rows: readonly WebhookRow[]; readonly total: number }> {
  const matching = sql.fragment`from webhooks w where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or w.workspace_id = ${filter.workspace_id ?? null})
    and (${filter.is_active ?? null}::boolean is null or w.is_active = ${filter.is_active ?? null})
    and ${contains(filter.search, sql.fragment`w.name`, sql.fragment`w.description`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(webhookRow)`
    with page as (
      select w.id, row_number() over (order by ${byName(sql.fragment`w.name`)}, w.id) as place ${matching}
      order by place limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size})
    select ${columns} from page join webhooks w on w.id = page.id order by page.place`);
  return { rows, total };
}

/** How many webhooks a workspace of the scope has; until the transaction ends nobody else makes one there. */
export async function lockCount(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('webhooks of ' || ${workspaceId}::integer, 0))`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from webhooks w where w.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
}

/** The number of a webhook that is to be made: what it seals is bound to it. */
export async function nextWebhookId(tx: Transaction): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`select nextval('webhooks_id_seq')::integer as id`);
}

type Place = { readonly id: number; readonly workspaceId: number; readonly makerId: number };
type Keys = { readonly sealed: Buffer; readonly publicKey: string };

export async function insertWebhook(
  tx: Transaction,
  place: Place,
  keys: Keys,
  values: WebhookValues,
  covered: Covered,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into webhooks (
      id, workspace_id, maker_id, name, description, is_active, sealed, origin, header_names, public_key, events, covers_all, tags,
      during_maintenance, signature, content, max_per_second)
    overriding system value
    values (
      ${place.id}, ${place.workspaceId}, ${place.makerId}, ${values.name}, ${values.description}, ${values.is_active},
      ${sql.binary(keys.sealed)}, ${values.origin}, ${sql.array(values.header_names, 'text')}, ${keys.publicKey},
      ${sql.array(values.events, 'text')}, ${covered.all}, ${sql.array(covered.tags, 'text')}, ${values.during_maintenance},
      ${values.signature}, ${values.content}, ${values.max_per_second})`);
  await insertCovered(tx, place, covered);
}

/** Writes values as the next version of a webhook that the caller has locked. One that is switched on begins anew. */
export async function writeWebhook(
  tx: Transaction,
  row: WebhookRow,
  sealed: Buffer,
  values: WebhookValues,
  covered: Covered | undefined,
): Promise<void> {
  const begins = values.is_active && !row.is_active;
  await tx.query(sql.unsafe`
    update webhooks set
      name = ${values.name}, description = ${values.description}, is_active = ${values.is_active}, sealed = ${sql.binary(sealed)},
      origin = ${values.origin}, header_names = ${sql.array(values.header_names, 'text')}, events = ${sql.array(values.events, 'text')},
      during_maintenance = ${values.during_maintenance}, signature = ${values.signature}, content = ${values.content},
      max_per_second = ${values.max_per_second}, paced_at = null,
      disabled_reason = case when ${values.is_active} then null else disabled_reason end,
      failing_since = case when ${begins} then null else failing_since end, failures = case when ${begins} then 0 else failures end,
      mails_sent = case when ${begins} then 0 else mails_sent end,
      version = version + 1, updated_at = clock_timestamp()
    where id = ${row.id}`);
  if (covered === undefined) return;
  await tx.query(sql.unsafe`
    update webhooks set covers_all = ${covered.all}, tags = ${sql.array(covered.tags, 'text')} where id = ${row.id}`);
  await tx.query(sql.unsafe`delete from webhook_subjects where webhook_id = ${row.id}`);
  await insertCovered(tx, { id: row.id, workspaceId: row.workspace_id }, covered);
}

/** Writes new keys; those before sign beside them until `previousUntilMs`. */
export async function writeKeys(
  tx: Transaction,
  id: number,
  keys: Keys,
  previousUntilMs: number | null,
): Promise<void> {
  const until = previousUntilMs === null ? null : sql.timestamp(new Date(previousUntilMs));
  await tx.query(sql.unsafe`
    update webhooks set sealed = ${sql.binary(keys.sealed)}, public_key = ${keys.publicKey}, previous_until = ${until},
      version = version + 1, updated_at = clock_timestamp()
    where id = ${id}`);
}

/** A webhook is gone at once; a job removes its history. */
export async function markDeleted(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from webhook_subjects where webhook_id = ${id}`);
  await tx.query(sql.unsafe`update webhooks set deleted_at = clock_timestamp(), is_active = false where id = ${id}`);
}

async function insertCovered(
  tx: Transaction,
  { id, workspaceId }: Pick<Place, 'id' | 'workspaceId'>,
  covered: Covered,
): Promise<void> {
  const rows = [
    ...covered.monitorIds.map((one) => ['monitor', one]),
    ...covered.groupIds.map((one) => ['group', one]),
    ...covered.heartbeatIds.map((one) => ['heartbeat', one]),
    ...covered.webhookCheckIds.map((one) => ['webhook_check', one]),
  ];
  await tx.query(sql.unsafe`
    insert into webhook_subjects (workspace_id, webhook_id, monitor_id, group_id, heartbeat_id, webhook_check_id)
    select ${workspaceId}, ${id}, case given.type when 'monitor' then given.id end, case given.type when 'group' then given.id end,
      case given.type when 'heartbeat' then given.id end, case given.type when 'webhook_check' then given.id end
    from ${sql.unnest(rows, ['text', 'int4'])} as given (type, id)`);
}
