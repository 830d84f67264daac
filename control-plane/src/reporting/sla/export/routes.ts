import { exportSlaCsvRoute, exportSlaPdfRoute } from '@parallax/api-contract';
import type { WindowQuery } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { attachment } from '../../../platform/http/attachment.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { iso, ofSubject, wantedWindow } from '../../statistics/index.ts';
import { readReport } from '../gateway.ts';
import { renderSlaPdf } from '../pdf/index.ts';
import type { SlaReport } from '../report.ts';
import { sealed } from '../seal.ts';
import type { FileKind } from '../seal.ts';
import { reportKey } from '../signing/gateway.ts';
import { reportCsv } from './csv.ts';
import { localeOf } from './queries.ts';

/** Reports as files, sealed. */
export function exportRoutes(context: Context): Route[] {
  return [
    handle(exportSlaCsvRoute, async ({ params, query, caller, request }) => {
      const { report } = await readForFile(context, caller, params.monitor_id, query, false);
      const file = await seal(context, 'csv', report, Buffer.from(reportCsv(report)));
      request.reply.header('content-disposition', attachment(nameOfFile(report, 'csv')));
      return file.toString();
    }),

    handle(exportSlaPdfRoute, async ({ params, query, caller, request }) => {
      const { report, locale } = await readForFile(context, caller, params.monitor_id, query, true);
      // Outside of the transaction: drawing takes a while.
      const file = await seal(context, 'pdf', report, await renderSlaPdf(report, { locale }));
      request.reply.header('content-disposition', attachment(nameOfFile(report, 'pdf')));
      return file;
    }),
  ];
}

async function readForFile(
  context: Context,
  caller: Caller,
  monitorId: number,
  query: WindowQuery & { readonly slo_target?: number | undefined },
  withChart: boolean,
): Promise<{ readonly report: SlaReport; readonly locale: string }> {
  const nowMs = context.now();
  const request = { wanted: wantedWindow(query, nowMs), sloTarget: query.slo_target, withChart };
  return ofSubject(context, caller, monitorId, async (tx, subject) => ({
    report: await readReport(tx, scopeOf(caller), subject, request, nowMs),
    locale: await localeOf(tx, scopeOf(caller)),
  }));
}

async function seal(context: Context, kind: FileKind, report: SlaReport, bytes: Buffer): Promise<Buffer> {
  const key = await reportKey(context);
  const { window, ledger } = report;
  const fields = {
    kind,
    monitorId: report.monitor.id,
    fromMs: window.fromMs,
    toMs: window.toMs,
    generatedMs: report.generatedMs,
    chain: ledger.chain,
    seq: ledger.seq,
    head: ledger.digest,
    key: key.name,
  };
  return sealed(bytes, fields, key.sign);
}

/** `sla Shop 2026-03-01 to 2026-03-31.csv` */
function nameOfFile({ monitor, window }: SlaReport, extension: FileKind): string {
  const day = (ms: number) => iso(ms).slice(0, 10);
  // The last instant of the window is inside the day that it ends.
  return `sla ${monitor.name} ${day(window.fromMs)} to ${day(Math.max(window.fromMs, window.toMs - 1))}.${extension}`;
}
