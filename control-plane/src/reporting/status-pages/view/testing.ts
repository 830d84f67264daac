import { publicStatusSchema } from '@parallax/api-contract';
import type { PublicStatus } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import { z } from 'zod';
import { auditCapability } from '../../../identity/audit/index.ts';
import { groupsCapability } from '../../../monitoring/groups/index.ts';
import { heartbeatsCapability } from '../../../monitoring/heartbeats/index.ts';
import { webhookChecksCapability } from '../../../monitoring/webhook-checks/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Database } from '../../../platform/database/pools.ts';
import { incidentsCapability } from '../../../response/incidents/index.ts';
import { maintenanceCapability } from '../../../response/maintenance/index.ts';
import { refreshDays } from '../../day-sums/refresh.job.ts';
import type { SubjectType } from '../../day-sums/index.ts';
import { reportingApi } from '../../testing.ts';
import type { ReportingApi } from '../../testing.ts';
import { statusPagesCapability } from '../index.ts';
import { readPageView } from './page-view.gateway.ts';
import { publicStatusOf } from './public-status.ts';
import type { PageView } from './page-view.ts';

export const at = (ms: number | null) =>
  ms === null ? sql.fragment`null` : sql.fragment`${sql.timestamp(new Date(ms))}`;

export type Page = { readonly id: number; readonly slug: string };

export type PagesApi = ReportingApi & {
  readonly page: (fields?: Partial<PageFields>) => Promise<Page>;
  readonly item: (page: Page, subject: ItemSubject, fields?: Partial<ItemFields>) => Promise<string>;
  readonly view: (page: Page) => Promise<PageView>;
  readonly status: (page: Page) => Promise<PublicStatus>;
  readonly incident: (fields: IncidentFields) => Promise<number>;
  readonly say: (incidentId: number, fields: Partial<UpdateFields>) => Promise<void>;
  readonly heartbeat: (name: string) => Promise<number>;
  readonly check: (name: string) => Promise<number>;
  readonly group: (name: string, monitorIds: readonly number[]) => Promise<number>;
  /** Sums days, and says that all is evaluated up to now. */
  readonly settle: () => Promise<void>;
};

type PageFields = {
  readonly slug: string;
  readonly workspaceId: number;
  readonly timezone: string;
  readonly days: number;
  readonly isPublished: boolean;
  readonly automaticIncidents: boolean;
  readonly delayMinutes: number;
  readonly announcement: string | null;
};

export type ItemSubject = { readonly type: SubjectType | 'group'; readonly id: number };

type ItemFields = {
  readonly name: string | null;
  readonly section: string | null;
  readonly showUptime: boolean;
  readonly showResponseTimes: boolean;
  readonly onlyIfDegraded: boolean;
};

export type IncidentFields = {
  readonly title?: string;
  readonly publicTitle?: string | null;
  readonly visibility?: 'auto' | 'public' | 'hidden';
  readonly severity?: 'minor' | 'major' | 'critical';
  readonly isManual?: boolean;
  readonly startedMs: number;
  readonly resolvedMs?: number | null;
  readonly resolution?: string | null;
  readonly isHeld?: boolean;
  readonly isLate?: boolean;
  readonly foldedInto?: number | null;
  readonly postmortem?: string | null;
  readonly isPostmortemPublic?: boolean;
  readonly members?: readonly { readonly type: SubjectType; readonly id: number }[];
};

export type UpdateFields = {
  readonly kind: string;
  readonly body: string;
  readonly isPublic: boolean;
  readonly createdMs: number;
  readonly displayMs: number | null;
  readonly impacts: readonly { readonly component_id: string; readonly status: string }[];
};

const idRow = z.object({ id: z.number() });
const componentRow = z.object({ component_id: z.string() });
const workspaceRow = z.object({ workspace_id: z.number() });

/** For tests: the API with all that pages show, at a time that stands still. Pages are written as their management would write them. */
export async function pagesApi(t: TestContext): Promise<PagesApi> {
  const api = await reportingApi(t, {
    more: [
      auditCapability,
      groupsCapability,
      heartbeatsCapability,
      webhookChecksCapability,
      incidentsCapability,
      maintenanceCapability,
      statusPagesCapability,
    ],
  });
  const { worker } = api.database;
  let made = 0;
  const make = async (path: string, body: object): Promise<number> => {
    const answer = await api.call('POST', path, { token: api.token, body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return Number(answer.body['id']);
  };
  const view = async (page: Page): Promise<PageView> => {
    const workspaceId = await worker.oneFirst(
      sql.type(workspaceRow)`select workspace_id from status_pages where id = ${page.id}`,
    );
    const view = await readPageView(api.context, { workspaceId, pageId: page.id }, api.nowMs);
    if (view === null) throw new Error(`there is no page ${page.slug}`);
    return view;
  };
  return {
    ...api,
    page: async (fields = {}) => {
      made += 1;
      const slug = fields.slug ?? `page-${made}`;
      const pageId = await worker.oneFirst(sql.type(idRow)`
        insert into status_pages (workspace_id, name, description, slug, is_published, timezone, days, automatic_incidents, delay_minutes, announcement,
          created_at, updated_at)
        values (${fields.workspaceId ?? api.workspaceId}, 'Shop status', 'How the shop is.', ${slug}, ${fields.isPublished ?? true},
          ${fields.timezone ?? 'UTC'}, ${fields.days ?? 90}, ${fields.automaticIncidents ?? true}, ${fields.delayMinutes ?? 0},
          ${fields.announcement ?? null}, ${at(api.nowMs - 3_600_000)}, ${at(api.nowMs - 3_600_000)})
        returning id`);
      return { id: pageId, slug };
    },
    item: async (page, subject, fields = {}) => {
      const column = sql.identifier([`${subject.type}_id`]);
      return worker.oneFirst(sql.type(componentRow)`
        insert into status_page_items (workspace_id, page_id, ${column}, display_name, section, position, show_uptime, show_response_times,
          only_if_degraded)
        select p.workspace_id, p.id, ${subject.id}, ${fields.name ?? null}, ${fields.section ?? null},
          (select count(*) from status_page_items o where o.page_id = p.id), ${fields.showUptime ?? true}, ${fields.showResponseTimes ?? false},
          ${fields.onlyIfDegraded ?? false}
        from status_pages p where p.id = ${page.id} returning component_id`);
    },
    view,
    status: async (page) => publicStatusSchema.parse(publicStatusOf(await view(page))),
    incident: (fields) => insertIncident(api, fields),
    say: (incidentId, fields) => insertUpdate(api.database, incidentId, { createdMs: api.nowMs, ...fields }),
    heartbeat: (name) => make(`/api/v1/heartbeats?workspace_id=${api.workspaceId}`, { name }),
    check: (name) => make('/api/v1/webhook-checks', { workspace_id: api.workspaceId, name }),
    group: (name, monitorIds) =>
      make('/api/v1/monitor-groups', { workspace_id: api.workspaceId, name, monitor_ids: monitorIds }),
    settle: async () => {
      await worker.query(sql.unsafe`
        insert into shards (shard, folded_until) values (0, ${at(api.nowMs)}) on conflict (shard) do update set folded_until = excluded.folded_until`);
      await refreshDays({ database: api.database, now: () => api.nowMs });
    },
  };
}

async function insertIncident(api: ReportingApi, fields: IncidentFields): Promise<number> {
  const { startedMs, resolvedMs = null, members = [], isManual = false } = fields;
  const { worker } = api.database;
  const incidentId = await worker.oneFirst(sql.type(idRow)`
    insert into incidents (workspace_id, title, public_title, visibility, severity, is_manual, started_at, resolved_at, status, resolution, held_at,
      detected_late, folded_into, postmortem, postmortem_public, created_at)
    values (${api.workspaceId}, ${fields.title ?? 'internal title'}, ${fields.publicTitle ?? null}, ${fields.visibility ?? 'auto'},
      ${fields.severity ?? 'major'}, ${isManual}, ${at(startedMs)}, ${at(resolvedMs)}, ${resolvedMs === null ? 'open' : 'resolved'},
      ${fields.resolution ?? (resolvedMs === null ? null : 'auto')}, ${at(fields.isHeld === true ? startedMs : null)}, ${fields.isLate ?? false},
      ${fields.foldedInto ?? null}, ${fields.postmortem ?? null}, ${fields.isPostmortemPublic ?? false}, ${at(startedMs + 2_000)})
    returning id`);
  for (const { type, id: subjectId } of members) {
    await worker.query(sql.unsafe`
      insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution, is_manual)
      values (${api.workspaceId}, ${incidentId}, ${type}, ${subjectId}, 'internal name', 'internal title', ${at(startedMs)}, ${at(resolvedMs)},
        ${resolvedMs === null ? null : 'auto'}, ${isManual})`);
  }
  return incidentId;
}

async function insertUpdate(
  { worker }: Database,
  incidentId: number,
  fields: Partial<UpdateFields> & { readonly createdMs: number },
): Promise<void> {
  await worker.query(sql.unsafe`
    insert into incident_updates (workspace_id, incident_id, kind, body, is_public, created_at, display_at, impacts)
    select i.workspace_id, i.id, ${fields.kind ?? 'investigating'}, ${fields.body ?? 'We look at it.'}, ${fields.isPublic ?? true},
      ${at(fields.createdMs)}, ${at(fields.displayMs ?? null)}, ${sql.jsonb(JSON.parse(JSON.stringify(fields.impacts ?? [])))}
    from incidents i where i.id = ${incidentId}`);
}
