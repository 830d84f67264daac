import { subscriberKinds } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { SubjectType } from '../../day-sums/index.ts';
import { locales } from './locale.ts';

const publishedRow = z.object({ page_id: z.number(), workspace_id: z.number(), slug: z.string() });

/** The published page that a slug leads to, in whatever workspace. */
export async function pageOfSlug(api: DatabasePool, slug: string): Promise<z.output<typeof publishedRow> | null> {
  return api.maybeOne(sql.type(publishedRow)`
    select page_id, workspace_id, slug from identity_status_page(${slug}) where page_id is not null`);
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

const pageRow = z.object({
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
});
export type PageRow = z.output<typeof pageRow>;

/** What a page is set to; null: it is gone, or not published. */
export async function publishedPage(
  scope: Scope,
  connection: CommonQueryMethods,
  pageId: number,
): Promise<PageRow | null> {
  return connection.maybeOne(sql.type(pageRow)`
    select p.public_id, p.name, p.description, p.slug, p.noindex, p.locale, p.locales, p.timezone, p.days, p.theme, p.links, p.announcement,
      p.announcement_until, p.embed_origins, p.automatic_incidents, p.delay_minutes, p.notify_automatic, p.subscribe, p.created_at, p.updated_at
    from status_pages p
    where p.id = ${pageId} and p.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) and p.deleted_at is null and p.is_published`);
}

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
  /** Of a group its members, in order; else the one that it is. */
  readonly subjects: readonly PageSubject[];
};

/** The components of a page in its order. What was deleted is left out. */
export async function itemsOfPage(
  scope: Scope,
  connection: CommonQueryMethods,
  pageId: number,
): Promise<readonly PageItem[]> {
  const rows = await connection.any(sql.type(itemRow)`
    select i.component_id, coalesce(i.display_name, m.name, g.name, h.name, c.name) as name, i.description, i.section, i.show_uptime,
      i.show_response_times, i.only_if_degraded, i.monitor_id, i.heartbeat_id, i.webhook_check_id,
      case when i.group_id is not null then array(
        select t.monitor_id from monitor_group_members t join monitors n on n.id = t.monitor_id and n.deleted_at is null
        where t.group_id = i.group_id order by t.monitor_id) end as member_ids
    from status_page_items i
      left join monitors m on m.id = i.monitor_id and m.deleted_at is null
      left join monitor_groups g on g.id = i.group_id
      left join heartbeats h on h.id = i.heartbeat_id and h.deleted_at is null
      left join webhook_checks c on c.id = i.webhook_check_id and c.deleted_at is null
    where i.page_id = ${pageId} and i.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
      and coalesce(m.id, g.id, h.id, c.id) is not null
    order by i.position, i.id`);
  return rows.map((row) => ({
    componentId: row.component_id,
    name: row.name,
    description: row.description,
    section: row.section,
    showsUptime: row.show_uptime,
    showsResponseTimes: row.show_response_times,
    isOnlyIfDegraded: row.only_if_degraded,
    isGroup: row.member_ids !== null,
    subjects: subjectsOf(row),
  }));
}

function subjectsOf(row: z.output<typeof itemRow>): PageSubject[] {
  if (row.monitor_id !== null) return [{ type: 'monitor', id: row.monitor_id }];
  if (row.heartbeat_id !== null) return [{ type: 'heartbeat', id: row.heartbeat_id }];
  if (row.webhook_check_id !== null) return [{ type: 'webhook_check', id: row.webhook_check_id }];
  return (row.member_ids ?? []).map((id) => ({ type: 'monitor', id }));
}
