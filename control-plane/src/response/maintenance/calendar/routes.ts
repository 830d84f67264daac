import { randomBytes } from 'node:crypto';
import {
  importMaintenanceRoute,
  invalidInput,
  makeCalendarTokenRoute,
  Problem,
  readCalendarRoute,
  revokeCalendarTokenRoute,
} from '@parallax/api-contract';
import type { MaintenanceImport, MaintenanceScope } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { plan } from '../gateway.ts';
import type { Actor } from '../gateway.ts';
import { CalendarError, readCalendar } from '../ics/read.ts';
import type { CalendarEvent } from '../ics/read.ts';
import { windowOfUid, writeCalendar } from '../ics/write.ts';
import { noWorkspace } from '../not-found.ts';
import { readWindow, seesWorkspace, windowsOfCalendar } from '../queries.ts';
import { judgeScope } from '../scope/judge.ts';
import { judgeEvent } from './judge-event.ts';
import { putCalendarToken, removeCalendarToken, workspaceOfToken } from './queries.ts';

/** Windows of maintenance as a calendar, out and in. */
export function calendarRoutes(context: Context): Route[] {
  return [
    handle(makeCalendarTokenRoute, async ({ body, caller, request }) => {
      const workspaceId = body.workspace_id;
      requireRole(caller, workspaceId, 'owner');
      const token = randomBytes(32).toString('base64url');
      const madeMs = await inScope(context.database.api, scopeOf(caller), async (tx) => {
        const made = await putCalendarToken(tx, workspaceId, token, caller.userId);
        await recordToken(tx, { caller, request }, workspaceId, 'maintenance.calendar_token_made');
        return made;
      });
      const url = `${context.publicUrl.replace(/\/+$/, '')}/api/v1/maintenance/calendar.ics?token=${token}`;
      return { token, url, created_at: new Date(madeMs).toISOString() };
    }),

    handle(revokeCalendarTokenRoute, async ({ query, caller, request }) => {
      requireRole(caller, query.workspace_id, 'owner');
      await inScope(context.database.api, scopeOf(caller), async (tx) => {
        if (!(await seesWorkspace(tx, query.workspace_id))) throw noWorkspace(query.workspace_id);
        if (!(await removeCalendarToken(tx, query.workspace_id))) return;
        await recordToken(tx, { caller, request }, query.workspace_id, 'maintenance.calendar_token_revoked');
      });
    }),

    handle(readCalendarRoute, async ({ query }) => {
      const { api } = context.database;
      const nobody = { userId: null, workspaceIds: [] };
      const workspaceId = await inScope(api, nobody, (tx) => workspaceOfToken(tx, query.token));
      if (workspaceId === null) throw new Problem('not_found', 'there is no calendar with this token');
      const scope = { userId: null, workspaceIds: [workspaceId] };
      const windows = await inScope(api, scope, (tx) => windowsOfCalendar(scope, tx));
      return writeCalendar(windows, hostOf(context), context.now());
    }),

    handle(importMaintenanceRoute, async ({ query, file, caller, request }) => {
      requireRole(caller, query.workspace_id, 'editor');
      const events = eventsOf(file.bytes);
      const what = judgeScope(scopeOfQuery(query));
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => {
        const report: MaintenanceImport['events'] = [];
        for (const event of events) {
          const item = judgeEvent(event, context.now());
          const base = { uid: event.uid, title: event.title, detail: item.detail, maintenance_id: null };
          if (item.result !== 'created') {
            report.push({ ...base, result: item.result });
            continue;
          }
          if (await isOwn(tx, context, scope, query.workspace_id, event.uid)) {
            report.push({ ...base, result: 'skipped', detail: 'it is a window of this workspace' });
            continue;
          }
          const { title, description, uid } = event;
          const planned = { workspaceId: query.workspace_id, title, description, uid, scope: what, plan: item.plan };
          const id = await plan(tx, { caller, request }, planned);
          if (id === null) report.push({ ...base, result: 'skipped', detail: 'an event of this UID is there' });
          else report.push({ ...base, result: 'created', maintenance_id: query.dry_run ? null : id });
        }
        if (query.dry_run) throw new DryRun(report);
        return reportOf(report);
      }).catch((error: unknown) => {
        if (error instanceof DryRun) return reportOf(error.report);
        throw error;
      });
    }),
  ];
}

const hostOf = (context: Pick<Context, 'publicUrl'>): string => new URL(context.publicUrl).hostname;

/** Whether an event is a window of the workspace that its own calendar shows. */
async function isOwn(
  tx: Transaction,
  context: Context,
  scope: Scope,
  workspaceId: number,
  uid: string | null,
): Promise<boolean> {
  const id = windowOfUid(uid, hostOf(context));
  return id !== null && (await readWindow(scope, tx, id))?.workspace_id === workspaceId;
}

/** Takes back what a trial has written: so it says what the import itself would. */
class DryRun extends Error {
  readonly report: MaintenanceImport['events'];

  constructor(report: MaintenanceImport['events']) {
    super('dry run');
    this.report = report;
  }
}

function reportOf(events: MaintenanceImport['events']): MaintenanceImport {
  const count = (result: string): number => events.filter((event) => event.result === result).length;
  return {
    total: events.length,
    created: count('created'),
    skipped: count('skipped'),
    failed: count('failed'),
    events,
  };
}

function eventsOf(bytes: Buffer): CalendarEvent[] {
  try {
    return readCalendar(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof CalendarError) throw invalidInput('body', '', 'calendar', error.message);
    if (error instanceof TypeError) throw invalidInput('body', '', 'encoding', 'the calendar is not in UTF-8');
    throw error;
  }
}

const listed = <Value extends string | number>(value: Value | Value[] | undefined): Value[] | undefined =>
  value === undefined || Array.isArray(value) ? value : [value];

function scopeOfQuery(query: {
  readonly monitor_ids?: number | number[] | undefined;
  readonly group_ids?: number | number[] | undefined;
  readonly tags?: string | string[] | undefined;
}): MaintenanceScope {
  const scope = {
    monitor_ids: listed(query.monitor_ids),
    group_ids: listed(query.group_ids),
    tags: listed(query.tags),
  };
  return Object.values(scope).some((list) => list !== undefined) ? scope : { all: true };
}

function recordToken(tx: Transaction, { caller, request }: Actor, workspaceId: number, action: string): Promise<void> {
  return recordAudit(tx, caller, request, { action, workspaceId, subjectType: 'workspace', subjectId: workspaceId });
}
