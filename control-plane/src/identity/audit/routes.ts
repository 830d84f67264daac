import { invalidInput, listAuditEventsRoute } from '@parallax/api-contract';
import type { AuditEventAnswer } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { attachment } from '../../platform/http/attachment.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { handle, OtherText } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { auditCsv } from './reading/audit-csv.ts';
import { countAudit, readAuditPage } from './reading/queries.ts';
import type { AuditFilter, AuditLogs, AuditRow } from './reading/queries.ts';

/** Events in one CSV file. */
export const maxCsvEvents = 10_000;

/** `GET /audit-log`. */
export function auditRoutes(context: Context): readonly Route[] {
  const { api } = context.database;
  return [
    handle(listAuditEventsRoute, async ({ caller, query, request }) => {
      const logs = logsOf(caller, query.workspace_id);
      const filter: AuditFilter = {
        userId: query.user_id,
        action: query.action,
        subjectType: query.subject_type,
        subjectId: query.subject_id,
        fromMs: timeOf('start_time', query.start_time),
        toMs: timeOf('end_time', query.end_time),
      };
      const scope = scopeOf(caller);
      if ((query.format ?? acceptedFormat(request)) === 'csv') {
        const found = await inScope(api, scope, async (transaction) =>
          readAuditPage(scope, transaction, logs, filter, { limit: maxCsvEvents + 1, offset: 0 }),
        );
        return csvAnswer(context, request, query, found.map(eventAnswer));
      }
      const { page, page_size, with_total } = query;
      return inScope(api, scope, async (transaction) => {
        const at = { limit: page_size, offset: (page - 1) * page_size };
        const rows = await readAuditPage(scope, transaction, logs, filter, at);
        const total = with_total ? await countAudit(scope, transaction, logs, filter) : rows.length;
        return { events: rows.map(eventAnswer), total, page, page_size };
      });
    }),
  ];
}

/** An owner reads the log of a workspace; without one named, those of all own ones and, for credentials as wide as the account, its own. */
function logsOf(caller: Caller, workspaceId: number | undefined): AuditLogs {
  if (workspaceId !== undefined) {
    requireRole(caller, workspaceId, 'owner');
    return { workspaceIds: [workspaceId], ofAccount: false };
  }
  const owned = [...caller.workspaces].filter(([, role]) => role === 'owner').map(([id]) => id);
  return { workspaceIds: owned, ofAccount: !caller.isLimited && !caller.readOnly };
}

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  // PostgreSQL ends later, but no event was ever written outside of these.
  if (ms >= 0 && ms < 4_102_444_800_000) return ms;
  throw invalidInput('query', `/${name}`, 'out_of_range', 'must lie between 1970 and 2100');
}

function acceptedFormat(request: RequestFacts): 'json' | 'csv' {
  const accept = request.header('accept') ?? '';
  return /\btext\/csv\b/.test(accept) && !/\bapplication\/json\b/.test(accept) ? 'csv' : 'json';
}

function csvAnswer(
  context: Context,
  request: RequestFacts,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
  found: readonly AuditEventAnswer[],
): OtherText {
  const events = found.slice(0, maxCsvEvents);
  const last = events.at(-1);
  if (found.length > events.length && last !== undefined) {
    const { page: _page, page_size: _size, with_total: _total, ...filters } = query;
    const next = Object.entries({ ...filters, format: 'csv', end_time: last.created_at }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    request.reply.header('link', `<${context.publicUrl}${listAuditEventsRoute.path}?${next.join('&')}>; rel="next"`);
  }
  request.reply.header('content-disposition', attachment('audit log.csv'));
  return new OtherText(auditCsv(events), 'text/csv; charset=utf-8');
}

function eventAnswer({ at, ...row }: AuditRow): AuditEventAnswer {
  return { ...row, created_at: new Date(at).toISOString() };
}
