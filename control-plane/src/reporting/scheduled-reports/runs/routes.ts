import {
  listScheduledReportRunsRoute,
  Problem,
  runScheduledReportRoute,
  scheduledReportCsvRoute,
  scheduledReportPdfRoute,
} from '@parallax/api-contract';
import type { ReportFormat } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { scheduledReportsSubject } from '../../../platform/bus/subjects.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { attachment } from '../../../platform/http/attachment.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { isMasked, noReport, readReport, record } from '../gateway.ts';
import { nameOfFile } from '../name-of-file.ts';
import { findReport } from '../queries.ts';
import { scheduleOf } from '../row.ts';
import { askedPeriod } from './period.ts';
import { findFile, listRuns, queueRun } from './queries.ts';
import { runAnswer } from './row.ts';

/** Runs of scheduled reports: those that were, their files, and one that is asked for. */
export function runRoutes(context: Context): Route[] {
  return [
    handle(runScheduledReportRoute, async ({ params, body, caller, request }) => {
      const report = await readReport(context, caller, params.id);
      requireRole(caller, report.workspace_id, 'editor');
      const period = askedPeriod(scheduleOf(report), body, context.now());
      const rate = context.limits.rate('scheduled_report_run');
      const state = await countOnce(context.database.api, `scheduled-report-runs:${caller.userId}`, rate);
      applyRates(request.reply, [state], 'reports that are made by hand', 'of this account');
      const scope = scopeOf(caller);
      const delivers = body?.deliver ?? true;
      const run = await inScope(context.database.api, scope, async (tx) => {
        if ((await findReport(scope, tx, report.id)) === null) throw noReport(report.id);
        const queued = await queueRun(tx, report, { ...period, delivers });
        if (queued === null) throw new Problem('already_running', 'a run of this report is under way');
        await record(tx, { caller, request }, report, {
          action: 'scheduled_report.run',
          detail: { run_id: queued.id, deliver: delivers },
        });
        return queued;
      });
      context.bus.hint(scheduledReportsSubject, {});
      return runAnswer(run, isMasked(caller, report.workspace_id));
    }),

    handle(listScheduledReportRunsRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const { report, rows, total } = await inScope(context.database.api, scope, async (tx) => {
        const found = await findReport(scope, tx, params.id);
        if (found === null) throw noReport(params.id);
        return { report: found, ...(await listRuns(scope, tx, params.id, query)) };
      });
      const runs = rows.map((row) => runAnswer(row, isMasked(caller, report.workspace_id)));
      return { runs, total, page: query.page, page_size: query.page_size };
    }),

    handle(scheduledReportPdfRoute, ({ params, caller, request }) =>
      sendFile(context, caller, request, { reportId: params.id, runId: params.run_id, format: 'pdf' }),
    ),

    handle(scheduledReportCsvRoute, async ({ params, caller, request }) => {
      const place = { reportId: params.id, runId: params.run_id, format: 'csv' } as const;
      return (await sendFile(context, caller, request, place)).toString();
    }),
  ];
}

async function sendFile(
  context: Context,
  caller: Caller,
  request: RequestFacts,
  place: { readonly reportId: number; readonly runId: number; readonly format: ReportFormat },
): Promise<Buffer> {
  const scope = scopeOf(caller);
  const { report, file } = await inScope(context.database.api, scope, async (tx) => ({
    report: await findReport(scope, tx, place.reportId),
    file: await findFile(scope, tx, place),
  }));
  if (report === null) throw noReport(place.reportId);
  if (file === null) {
    throw new Problem('not_found', `run ${place.runId} of this report has no ${place.format}, or not any more`);
  }
  const period = { fromMs: file.from_at, toMs: file.to_at };
  request.reply.header('content-disposition', attachment(nameOfFile(report, period, place.format)));
  return file.content;
}
