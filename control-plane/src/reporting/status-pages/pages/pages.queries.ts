import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { byName, contains } from '../../../platform/database/text-search.ts';
import { pageRow } from './row.ts';
import type { PageRow } from './row.ts';
import type { PageValues } from './values.ts';

// Heartbeats and webhook checks that were deleted stay as rows for a while.
const columns = sql.fragment`p.id, p.workspace_id, p.public_id, p.name, p.description, p.slug, p.is_published, p.noindex, p.locale, p.locales,
  p.timezone, p.days, p.theme, p.links, p.announcement, p.announcement_until, p.embed_origins, p.automatic_incidents, p.delay_minutes,
  p.notify_automatic, p.subscribe, p.password_hash, p.allowed_mail_domains, p.allowed_addresses, p.version, p.created_at, p.updated_at,
  (select jsonb_build_object('domain', d.domain, 'proof', d.proof, 'state', d.state)
    from status_page_domains d where d.page_id = p.id) as domain,
  (select coalesce(jsonb_agg(jsonb_build_object('kind', f.kind, 'hash', f.hash, 'type', f.type)), '[]')
    from status_page_files f where f.page_id = p.id) as files,
  (select coalesce(jsonb_agg(jsonb_build_object(
      'type', case when i.monitor_id is not null then 'monitor' when i.heartbeat_id is not null then 'heartbeat'
        when i.webhook_check_id is not null then 'webhook_check' else 'group' end,
      'id', coalesce(i.monitor_id, i.heartbeat_id, i.webhook_check_id, i.group_id), 'component_id', i.component_id,
      'display_name', i.display_name, 'description', i.description, 'section', i.section, 'show_uptime', i.show_uptime,
      'show_response_times', i.show_response_times, 'only_if_degraded', i.only_if_degraded) order by i.position, i.id), '[]')
    from status_page_items i
      left join heartbeats h on h.id = i.heartbeat_id
      left join webhook_checks c on c.id = i.webhook_check_id
    where i.page_id = p.id and h.deleted_at is null and c.deleted_at is null) as items`;

const ofScope = (scope: Scope) =>
  sql.fragment`p.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and p.deleted_at is null`;

/** A page of the scope, or null. */
export async function findPage(scope: Scope, connection: CommonQueryMethods, id: number): Promise<PageRow | null> {
  return connection.maybeOne(sql.type(pageRow)`
    select ${columns} from status_pages p where p.id = ${id} and ${ofScope(scope)}`);
}

/** A page of the scope, locked until the transaction ends: changes go one after another. */
export async function lockPage(scope: Scope, tx: Transaction, id: number): Promise<PageRow | null> {
  await tx.query(sql.unsafe`select from status_pages p where p.id = ${id} and ${ofScope(scope)} for no key update`);
  // In a statement of its own, which sees what the one waited for has done.
  return findPage(scope, tx, id);
}

export type PageFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly search?: string | undefined;
};

/** One page of the list of the scope's status pages by name, and how many match. */
export async function listPages(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: PageFilter,
): Promise<{ readonly rows: readonly PageRow[]; readonly total: number }> {
  const matching = sql.fragment`from status_pages p where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or p.workspace_id = ${filter.workspace_id ?? null})
    and ${contains(filter.search, sql.fragment`p.name`, sql.fragment`p.description`, sql.fragment`p.slug`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(pageRow)`
    with listed as (
      select p.id, row_number() over (order by ${byName(sql.fragment`p.name`)}, p.id) as place ${matching}
      order by place limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size})
    select ${columns} from listed join status_pages p on p.id = listed.id order by listed.place`);
  return { rows, total };
}

/** How many pages a workspace of the scope has; until the transaction ends nobody else makes one there. */
export async function lockCount(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('status pages of ' || ${workspaceId}::integer, 0))`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from status_pages p where p.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
}

/** The time zone that the scope's user has set. */
export async function ownTimezone(scope: Scope, connection: CommonQueryMethods): Promise<string> {
  return connection.oneFirst(sql.type(z.object({ timezone: z.string() }))`
    select timezone from users where id = ${scope.userId}`);
}

const json = (value: unknown) => sql.fragment`${value === null ? null : JSON.stringify(value)}::jsonb`;
const at = (ms: number | null) => (ms === null ? null : sql.timestamp(new Date(ms)));

/** Inserts a page without items. The index of slugs makes it fail where its slug is taken. @returns its identifier */
export async function insertPage(
  tx: Transaction,
  place: { readonly workspaceId: number; readonly slug: string },
  values: PageValues,
): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`
    insert into status_pages (
      workspace_id, slug, name, description, is_published, noindex, locale, locales, timezone, days, theme, links, announcement,
      announcement_until, embed_origins, automatic_incidents, delay_minutes, notify_automatic, subscribe, password_hash, allowed_mail_domains, allowed_addresses)
    values (
      ${place.workspaceId}, ${place.slug}, ${values.name}, ${values.description}, ${values.is_published}, ${values.noindex},
      ${values.locale}, ${sql.array(values.locales, 'text')}, ${values.timezone}, ${values.days}, ${json(values.theme)},
      ${json(values.links)}, ${values.announcement}, ${at(values.announcement_until)}, ${sql.array(values.embed_origins, 'text')},
      ${values.automatic_incidents}, ${values.delay_minutes}, ${values.notify_automatic},
      ${sql.array(values.subscribe, 'text')}, ${values.password_hash},
      ${sql.array(values.allowed_mail_domains, 'text')}, ${sql.array(values.allowed_addresses, 'text')})
    returning id`);
}

/** Writes values as the next version of a page that the caller has locked. A change of who may read it ends what was unlocked before. */
export async function writePage(tx: Transaction, id: number, values: PageValues): Promise<void> {
  const access = sql.fragment`${values.password_hash}::text, ${sql.array(values.allowed_mail_domains, 'text')},
    ${sql.array(values.allowed_addresses, 'text')}`;
  await tx.query(sql.unsafe`
    update status_pages set
      name = ${values.name}, description = ${values.description}, is_published = ${values.is_published}, noindex = ${values.noindex},
      locale = ${values.locale}, locales = ${sql.array(values.locales, 'text')}, timezone = ${values.timezone}, days = ${values.days},
      theme = ${json(values.theme)}, links = ${json(values.links)}, announcement = ${values.announcement},
      announcement_until = ${at(values.announcement_until)}, embed_origins = ${sql.array(values.embed_origins, 'text')},
      automatic_incidents = ${values.automatic_incidents}, delay_minutes = ${values.delay_minutes},
      notify_automatic = ${values.notify_automatic}, subscribe = ${sql.array(values.subscribe, 'text')},
      access_version = access_version
        + ((password_hash, allowed_mail_domains, allowed_addresses) is distinct from (${access}))::integer,
      (password_hash, allowed_mail_domains, allowed_addresses) = (${access}), version = version + 1, updated_at = clock_timestamp()
    where id = ${id}`);
}

/** Counts a change of a page's items as one of its versions. */
export async function countVersion(tx: Transaction, id: number): Promise<void> {
  await tx.query(
    sql.unsafe`update status_pages set version = version + 1, updated_at = clock_timestamp() where id = ${id}`,
  );
}

/** A page is gone at once; its row stays until its slug is free. */
export async function markDeleted(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from status_page_items where page_id = ${id}`);
  await tx.query(sql.unsafe`delete from status_page_domains where page_id = ${id}`);
  await tx.query(sql.unsafe`delete from status_page_files where page_id = ${id}`);
  await tx.query(sql.unsafe`delete from status_page_subscribers where page_id = ${id}`);
  await tx.query(sql.unsafe`update status_pages set deleted_at = clock_timestamp() where id = ${id}`);
}
