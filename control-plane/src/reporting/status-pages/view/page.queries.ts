import { statusPageFileKinds, statusPageFileTypes, subscriberKinds } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { SubjectType } from '../../day-sums/index.ts';
import { locales } from './locale.ts';
import { verifiedDomain } from './page-address.ts';

const publishedRow = z.object({
  page_id: z.number(),
  workspace_id: z.number(),
  slug: z.string(),
  access_version: z.number(),
  password_hash: z.string().nullable(),
  allowed_mail_domains: z.array(z.string()),
  allowed_addresses: z.array(z.string()),
});

/** The published page that a slug leads to, in whatever workspace. */
export async function pageOfSlug(api: DatabasePool, slug: string): Promise<z.output<typeof publishedRow> | null> {
  return api.maybeOne(sql.prepared('page-of-slug', publishedRow)`
    select page_id, workspace_id, slug, access_version, password_hash, allowed_mail_domains, allowed_addresses
    from identity_status_page(${slug}) where page_id is not null`);
}

/** A page, and how often it was changed who may read it. */
export type AccessVersion = { readonly pageId: number; readonly accessVersion: number };

const versionRow = z.object({ slug: z.string(), page_id: z.number(), access_version: z.number() });

/** Returns the slugs that belong to published pages, in whatever workspace. */
export async function versionsOfSlugs(
  api: DatabasePool,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, AccessVersion>> {
  const rows = await api.any(sql.type(versionRow)`
    select slug, page_id, access_version from identity_status_page_versions(${sql.array([...slugs], 'text')})`);
  return new Map(rows.map((row) => [row.slug, { pageId: row.page_id, accessVersion: row.access_version }]));
}

const colour = z.string().regex(/^#[0-9a-f]{6}$/i);
const coloursSchema = z.object({
  background: colour.optional(),
  surface: colour.optional(),
  text: colour.optional(),
  accent: colour.optional(),
});
const themeSchema = z.object({
  scheme: z.enum(['system', 'light', 'dark']).default('system'),
  light: coloursSchema.default({}),
  dark: coloursSchema.default({}),
  font: z.enum(['system', 'serif', 'mono']).default('system'),
  radius: z.number().min(0).max(24).default(8),
});

const fileSchema = z.object({
  kind: z.enum(statusPageFileKinds),
  hash: z.string(),
  type: z.enum(statusPageFileTypes),
  width: z.number().nullable(),
  height: z.number().nullable(),
});

/** What a page is set to, as far as readers see it. */
export const shownPageRow = z.object({
  public_id: z.string(),
  name: z.string(),
  description: z.string(),
  slug: z.string(),
  noindex: z.boolean(),
  locale: z.enum(locales),
  locales: z.array(z.enum(locales)),
  timezone: z.string(),
  days: z.union([z.literal(30), z.literal(60), z.literal(90)]),
  theme: themeSchema.nullable().transform((theme) => theme ?? themeSchema.parse({})),
  links: z.array(z.object({ label: z.string(), url: z.string() })),
  announcement: z.string().nullable(),
  announcement_until: z.number().nullable(),
  embed_origins: z.array(z.string()),
  automatic_incidents: z.boolean(),
  delay_minutes: z.number(),
  notify_automatic: z.boolean(),
  subscribe: z.array(z.enum(subscriberKinds)),
  created_at: z.number(),
  updated_at: z.number(),
  /** The verified one; null: none is. */
  domain: z.string().nullable(),
  files: z.array(fileSchema),
});
export type PageRow = z.output<typeof shownPageRow>;

const itemRow = z.object({
  component_id: z.string(),
  name: z.string(),
  description: z.string(),
  section: z.string().nullable(),
  show_uptime: z.boolean(),
  show_response_times: z.boolean(),
  only_if_degraded: z.boolean(),
  monitor_id: z.number().nullable(),
  heartbeat_id: z.number().nullable(),
  webhook_check_id: z.number().nullable(),
  member_ids: z.array(z.number()).nullable(),
});

/** A thing that is watched. */
export type PageSubject = { readonly type: SubjectType; readonly id: number };

/** A component as its page is set to show it. */
export type PageItem = {
  readonly componentId: string;
  readonly name: string;
  readonly description: string;
  readonly section: string | null;
  readonly showsUptime: boolean;
  readonly showsResponseTimes: boolean;
  readonly isOnlyIfDegraded: boolean;
  readonly isGroup: boolean;
  /** The members of a group in their order; else the one that it is. */
  readonly subjects: readonly PageSubject[];
};

const pageWithItemsRow = shownPageRow.extend({ items: z.array(itemRow) });

/** What a page is set to, and its components in its order without what was deleted; null: it is gone, or not published. One statement. */
export async function publishedPage(
  scope: Scope,
  connection: CommonQueryMethods,
  pageId: number,
): Promise<{ readonly page: PageRow; readonly items: readonly PageItem[] } | null> {
  const source = sql.fragment`(select * from status_page_items where page_id = ${pageId})`;
  const found = await connection.maybeOne(sql.prepared('page-shown', pageWithItemsRow)`
    select p.public_id, p.name, p.description, p.slug, p.noindex, p.locale, p.locales, p.timezone, p.days, p.theme, p.links, p.announcement,
      p.announcement_until, p.embed_origins, p.automatic_incidents, p.delay_minutes, p.notify_automatic, p.subscribe, p.created_at, p.updated_at,
      ${verifiedDomain} as domain,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'kind', f.kind, 'hash', f.hash, 'type', f.type, 'width', f.width, 'height', f.height)), '[]')
        from status_page_files f where f.page_id = p.id) as files,
      (select coalesce(json_agg(row_to_json(i)), '[]') from (${itemsFrom(scope, source)}) i) as items
    from status_pages p
    where p.id = ${pageId} and p.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) and p.deleted_at is null and p.is_published`);
  if (found === null) return null;
  const { items, ...page } = found;
  return { page, items: items.map(itemOf) };
}

/** An item that no page has yet. */
export type UnsavedItem = {
  readonly type: 'monitor' | 'heartbeat' | 'webhook_check' | 'group';
  readonly id: number;
  readonly display_name: string | null;
  readonly description: string;
  readonly section: string | null;
  readonly show_uptime: boolean;
  readonly show_response_times: boolean;
  readonly only_if_degraded: boolean;
};

/** Items that no page has yet, as components in their order. @param workspaceId whose they are; of others none is found */
export async function itemsOfPreview(
  scope: Scope,
  connection: CommonQueryMethods,
  workspaceId: number,
  items: readonly UnsavedItem[],
): Promise<readonly PageItem[]> {
  const source = sql.fragment`(
      select g.position::integer as id, g.position, ${workspaceId}::integer as workspace_id, 'preview' || lpad(g.position::text, 5, '0') as component_id,
        g.item ->> 'display_name' as display_name, g.item ->> 'description' as description, g.item ->> 'section' as section,
        (g.item ->> 'show_uptime')::boolean as show_uptime, (g.item ->> 'show_response_times')::boolean as show_response_times,
        (g.item ->> 'only_if_degraded')::boolean as only_if_degraded,
        case when g.item ->> 'type' = 'monitor' then (g.item ->> 'id')::integer end as monitor_id,
        case when g.item ->> 'type' = 'heartbeat' then (g.item ->> 'id')::integer end as heartbeat_id,
        case when g.item ->> 'type' = 'webhook_check' then (g.item ->> 'id')::integer end as webhook_check_id,
        case when g.item ->> 'type' = 'group' then (g.item ->> 'id')::integer end as group_id
      from jsonb_array_elements(${JSON.stringify(items)}::jsonb) with ordinality as g (item, position))`;
  const rows = await connection.any(sql.type(itemRow)`${itemsFrom(scope, source)}`);
  return rows.map(itemOf);
}

const itemsFrom = (scope: Scope, source: ReturnType<typeof sql.fragment>) => sql.fragment`
    select i.component_id, coalesce(i.display_name, m.name, g.name, h.name, c.name) as name, i.description, i.section, i.show_uptime,
      i.show_response_times, i.only_if_degraded, i.monitor_id, i.heartbeat_id, i.webhook_check_id,
      case when i.group_id is not null then array(
        select t.monitor_id from monitor_group_members t join monitors n on n.id = t.monitor_id and n.deleted_at is null
        where t.group_id = i.group_id order by t.monitor_id) end as member_ids
    from ${source} i
      left join monitors m on m.id = i.monitor_id and m.deleted_at is null
      left join monitor_groups g on g.id = i.group_id
      left join heartbeats h on h.id = i.heartbeat_id and h.deleted_at is null
      left join webhook_checks c on c.id = i.webhook_check_id and c.deleted_at is null
    where i.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
      and coalesce(m.id, g.id, h.id, c.id) is not null
    order by i.position, i.id`;

function itemOf(row: z.output<typeof itemRow>): PageItem {
  return {
    componentId: row.component_id,
    name: row.name,
    description: row.description,
    section: row.section,
    showsUptime: row.show_uptime,
    showsResponseTimes: row.show_response_times,
    isOnlyIfDegraded: row.only_if_degraded,
    isGroup: row.member_ids !== null,
    subjects: subjectsOf(row),
  };
}

function subjectsOf(row: z.output<typeof itemRow>): PageSubject[] {
  if (row.monitor_id !== null) return [{ type: 'monitor', id: row.monitor_id }];
  if (row.heartbeat_id !== null) return [{ type: 'heartbeat', id: row.heartbeat_id }];
  if (row.webhook_check_id !== null) return [{ type: 'webhook_check', id: row.webhook_check_id }];
  return (row.member_ids ?? []).map((id) => ({ type: 'monitor', id }));
}
