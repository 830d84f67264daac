import {
  createScheduledReportRoute,
  deleteScheduledReportRoute,
  listScheduledReportsRoute,
  pauseScheduledReportRoute,
  readScheduledReportRoute,
  resumeScheduledReportRoute,
  toggleScheduledReportRoute,
  updateScheduledReportRoute,
} from '@parallax/api-contract';
import type { CreateScheduledReport, ScheduledReport, UpdateScheduledReport } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { scheduledReportsSubject } from '../../platform/bus/subjects.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { missingOf, requireFound, sameCovered, scopeOfBody } from '../../response/maintenance/index.ts';
import {
  askReaders,
  changeReport,
  noReport,
  presentRecipients,
  readReport,
  record,
  requireMayMail,
  requireRoom,
  seenBy,
  shown,
} from './gateway.ts';
import type { Actor, Done } from './gateway.ts';
import { nextRun } from './periods.ts';
import {
  addressOfOwner,
  findReport,
  insertReport,
  listReports,
  markDeleted,
  ownDefaults,
  writeReport,
} from './queries.ts';
import { writeRecipients } from './recipients.queries.ts';
import { coveredOf, scheduleOf } from './row.ts';
import type { ReportRow } from './row.ts';
import {
  changedValues,
  createdValues,
  requireNoneAdded,
  sameRecipients,
  scheduleFields,
  storedRecipients,
} from './values.ts';
import type { StoredRecipient } from './values.ts';

/** Creating, reading, changing, pausing and deleting scheduled reports. */
export function scheduledReportRoutes(context: Context): Route[] {
  const turn = async (actor: Actor, id: number, wanted: 'pause' | 'resume' | 'toggle'): Promise<ScheduledReport> => {
    const row = await changeReport(context, actor, id, (_scope, tx, report) =>
      pauseOrResume(context, actor, tx, report, wanted),
    );
    if (row === null) throw noReport(id);
    return shown(context, actor, row);
  };
  return [
    handle(listScheduledReportsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) => listReports(scope, tx, query));
      const reports = await seenBy(context, caller, rows);
      return { scheduled_reports: reports, total, page: query.page, page_size: query.page_size };
    }),

    handle(createScheduledReportRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      return create(context, { caller, request }, body);
    }),

    handle(readScheduledReportRoute, async ({ params, caller, request }) =>
      shown(context, { caller, request }, await readReport(context, caller, params.id)),
    ),

    handle(updateScheduledReportRoute, async ({ params, body, caller, request }) => {
      const actor = { caller, request };
      const present = await readReport(context, caller, params.id);
      requireRole(caller, present.workspace_id, 'editor');
      const recipients = await newRecipients(context, actor, present, body);
      const row = await changeReport(context, actor, params.id, (scope, tx, before) =>
        update(context, scope, tx, before, body, recipients),
      );
      if (row === null) throw noReport(params.id);
      return shown(context, actor, row);
    }),

    handle(deleteScheduledReportRoute, async ({ params, caller, request }) => {
      await changeReport(context, { caller, request }, params.id, async (_scope, tx, row) => {
        await markDeleted(tx, row.id);
        return { action: 'scheduled_report.deleted', detail: { name: row.name } };
      });
    }),

    handle(pauseScheduledReportRoute, ({ params, caller, request }) => turn({ caller, request }, params.id, 'pause')),
    handle(resumeScheduledReportRoute, ({ params, caller, request }) => turn({ caller, request }, params.id, 'resume')),
    handle(toggleScheduledReportRoute, ({ params, caller, request }) => turn({ caller, request }, params.id, 'toggle')),
  ];
}

async function create(context: Context, actor: Actor, body: CreateScheduledReport): Promise<ScheduledReport> {
  const scope = scopeOf(actor.caller);
  const workspaceId = body.workspace_id;
  const covered = scopeOfBody(body.scope ?? { all: true });
  const own = await inScope(context.database.api, scope, (tx) => ownDefaults(scope, tx));
  const values = createdValues(body, own);
  const recipients =
    body.recipients === undefined ? [{ address: null, locale: null }] : storedRecipients(body.recipients, own.email);
  await requireMayMail(context, actor.caller, recipients);
  const row = await inScope(context.database.api, scope, async (tx) => {
    await requireRoom(scope, tx, workspaceId);
    requireFound(workspaceId, covered, await missingOf(tx, workspaceId, covered));
    const nextRunMs = nextRun(scheduleOf(values), context.now()).dueMs;
    const place = { workspaceId, ownerId: actor.caller.userId, nextRunMs };
    const id = await insertReport(tx, place, values, covered);
    await writeRecipients(tx, context.sealer, { id, workspaceId }, recipients);
    const made = { id, workspace_id: workspaceId };
    await record(tx, actor, made, { action: 'scheduled_report.created', detail: { name: body.name } });
    return findReport(scope, tx, id);
  });
  if (row === null) throw new Error('a report was written and is not there');
  context.bus.hint(scheduledReportsSubject, {});
  await askReaders(context, scope, row, recipients);
  actor.request.reply.header('location', `/api/v1/scheduled-reports/${row.id}`);
  return shown(context, actor, row);
}

/** The recipients that a body lists, where they are not those that stand there. @throws Problem `invalid_input`, `address_unconfirmed` */
async function newRecipients(
  context: Context,
  actor: Actor,
  present: ReportRow,
  body: UpdateScheduledReport,
): Promise<readonly StoredRecipient[] | undefined> {
  if (body.recipients === undefined) return undefined;
  const ownerId = present.has_owner ? present.owner_id : actor.caller.userId;
  const ownAddress = await addressOfOwner(context.database.worker, ownerId);
  const given = storedRecipients(body.recipients, ownAddress);
  const listed = await presentRecipients(context, present.id);
  if (sameRecipients(given, listed, { locale: body.locale ?? present.locale, ownAddress })) return undefined;
  if (present.has_owner && present.owner_id !== actor.caller.userId) requireNoneAdded(given, listed, ownAddress);
  await requireMayMail(context, actor.caller, given);
  return given;
}

async function update(
  context: Context,
  scope: Scope,
  tx: Transaction,
  row: ReportRow,
  body: UpdateScheduledReport,
  recipients: readonly StoredRecipient[] | undefined,
): Promise<Done | null> {
  const { values, fields } = changedValues(row, body);
  const before = coveredOf(row);
  const covered = body.scope === undefined ? undefined : scopeOfBody(body.scope, before);
  if (covered !== undefined) requireFound(row.workspace_id, covered, await missingOf(tx, row.workspace_id, covered));
  const changed = covered === undefined || sameCovered(covered, before) ? undefined : covered;
  const takesOver = !row.has_owner && scope.userId !== null;
  const names = [
    ...fields,
    ...(changed === undefined ? [] : ['scope']),
    ...(recipients === undefined ? [] : ['recipients']),
    ...(takesOver ? ['owner_id'] : []),
  ];
  if (names.length === 0) return null;
  const isScheduledAnew = fields.some((field) => scheduleFields.includes(field)) && !row.is_paused;
  await writeReport(tx, row, values, {
    ...(isScheduledAnew ? { nextRunMs: nextRun(scheduleOf(values), context.now()).dueMs } : {}),
    ...(takesOver && scope.userId !== null ? { ownerId: scope.userId } : {}),
    ...(changed === undefined ? {} : { covered: changed }),
  });
  if (recipients !== undefined) {
    await writeRecipients(tx, context.sealer, { id: row.id, workspaceId: row.workspace_id }, recipients);
  }
  const detail = { fields: names };
  return { action: 'scheduled_report.updated', detail, ...(recipients === undefined ? {} : { recipients }) };
}

async function pauseOrResume(
  context: Context,
  actor: Actor,
  tx: Transaction,
  row: ReportRow,
  wanted: 'pause' | 'resume' | 'toggle',
): Promise<Done | null> {
  const pauses = wanted === 'toggle' ? !row.is_paused : wanted === 'pause';
  const takesOver = !pauses && !row.has_owner;
  if (pauses === row.is_paused && !takesOver) return null;
  // A report that goes on begins with the period that closes next.
  const nextRunMs = pauses ? null : nextRun(scheduleOf(row), context.now()).dueMs;
  await writeReport(tx, row, row, { nextRunMs, ...(takesOver ? { ownerId: actor.caller.userId } : {}) });
  return { action: pauses ? 'scheduled_report.paused' : 'scheduled_report.resumed' };
}
