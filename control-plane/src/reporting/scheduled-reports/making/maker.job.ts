import { scheduledReportLimits } from '@parallax/api-contract';
import type { ReportFormat } from '@parallax/api-contract';
import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { keepMailFile } from '../../../platform/mail/files.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { renderBook, reportKey, sealed, severalSubjects } from '../../sla/index.ts';
import { reportLinkUrl, tokenSealedFor } from '../links/token.ts';
import { latencyPictures } from '../mail/latency-pictures.ts';
import { reportMail } from '../mail/report-mail.ts';
import { nameOfFile } from '../name-of-file.ts';
import { lastClosed } from '../periods.ts';
import type { ReportPeriod } from '../periods.ts';
import { findAnyReport } from '../queries.ts';
import { recipientsOf } from '../recipients.queries.ts';
import type { MailedRecipient } from '../recipients.queries.ts';
import { disabledReason, scheduleOf } from '../row.ts';
import type { ReportRow } from '../row.ts';
import { readContent } from './content.gateway.ts';
import { bookOf } from './content.ts';
import type { Content } from './content.ts';
import { contentCsv } from './csv.ts';
import { claimRun, endRun, keepRunFile, mostAttempts, putRunBack } from './run.queries.ts';
import type { ClaimedRun } from './run.queries.ts';

/** What making reports needs. */
export type MakerContext = Pick<Context, 'database' | 'sealer' | 'publicUrl' | 'bus' | 'now'>;

/** Reports go after every other mail. */
const mailPriority = 10;

type MadeFile = { readonly format: ReportFormat; readonly name: string; readonly content: Buffer };

/** Makes the run that has been due for longest. @returns false: none is due */
export async function makeNextRun(context: MakerContext, log: Logger): Promise<boolean> {
  const { worker } = context.database;
  const run = await claimRun(worker);
  if (run === null) return false;
  if (run.attempts > mostAttempts) {
    await endRun(worker, run, { status: 'failed', error: 'the process that made it came to an end each time' });
    return true;
  }
  try {
    await makeRun(context, run);
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    const fields = { err: error, report_id: run.report_id, run_id: run.id, attempts: run.attempts };
    if (run.attempts < mostAttempts) {
      log.warn(fields, 'a scheduled report was not made; tried again in a minute');
      await putRunBack(worker, run, text, 60 * run.attempts);
    } else {
      log.error(fields, 'a scheduled report was given up');
      await endRun(worker, run, {
        status: 'failed',
        error: 'it could not be made; the log of the installation says why',
      });
    }
  }
  return true;
}

async function makeRun(context: MakerContext, run: ClaimedRun): Promise<void> {
  const { worker } = context.database;
  const report = await findAnyReport(worker, run.report_id);
  const hindered = report === null ? 'report_deleted' : disabledReason(report);
  if (report === null || hindered !== null) {
    await endRun(worker, run, { status: 'skipped', error: hindered ?? 'report_deleted' });
    return;
  }
  const period = { fromMs: run.from_at, toMs: run.to_at };
  const before = report.compare ? periodBefore(report, period) : null;
  const content = await readContent(worker, report, run.workspace_name, { period, before }, context.now());
  const files = await makeFiles(context, report, content);
  const recipients = run.delivers ? ((await recipientsOf(worker, [report.id])).get(report.id) ?? []) : [];
  // Files, mails and the end of the run are one: whatever ends this process, all of it is done or none.
  const isDone = await worker.transaction(async (tx) => {
    const status = statusOf(run, recipients);
    const shown = recipients.map(({ address, state }) => ({ address, state }));
    if (!(await endRun(tx, run, { status, recipients: shown }))) return false;
    for (const { format, content: bytes } of files) await keepRunFile(tx, run, format, bytes);
    await enqueueMails(context, tx, { report, content, files, recipients });
    return true;
  });
  if (isDone) context.bus.hint(outboxSubject, {});
}

/** The calendar period before a calendar period, and as much time before any other. */
function periodBefore(report: ReportRow, { fromMs, toMs }: ReportPeriod): ReportPeriod {
  const schedule = scheduleOf(report);
  const isCalendar = lastClosed(schedule, toMs).fromMs === fromMs;
  return isCalendar ? lastClosed(schedule, fromMs) : { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

function statusOf(run: ClaimedRun, recipients: readonly MailedRecipient[]): 'sent' | 'late' | 'partly_sent' {
  if (recipients.some(({ state }) => state === 'asked')) return 'partly_sent';
  return run.is_late ? 'late' : 'sent';
}

async function makeFiles(context: MakerContext, report: ReportRow, content: Content): Promise<MadeFile[]> {
  const key = await reportKey(context);
  const files: MadeFile[] = [];
  for (const format of report.formats) {
    const bytes = format === 'pdf' ? await makePdf(report, content) : makeCsv(content);
    const seal = {
      kind: format,
      monitorId: severalSubjects,
      fromMs: content.period.fromMs,
      toMs: content.period.toMs,
      generatedMs: content.generatedMs,
      chain: 0,
      seq: 0,
      head: null,
      key: key.name,
    };
    files.push({
      format,
      name: nameOfFile(report, content.period, format),
      content: sealed(bytes, seal, key.sign),
    });
  }
  return files;
}

/** What the seal adds. */
const roomForSeal = 2_048;
const mostBytes = scheduledReportLimits.fileBytes - roomForSeal;

/** With as many chapters as the file has room for. */
async function makePdf(report: ReportRow, content: Content): Promise<Buffer> {
  for (const most of [scheduledReportLimits.chapters, 15, 5]) {
    const bytes = await renderBook(bookOf(content, most), report.locale);
    if (bytes.length <= mostBytes) return bytes;
  }
  return renderBook(bookOf(content, 0), report.locale);
}

/** With the days of each monitor if the file has room for them. */
function makeCsv(content: Content): Buffer {
  const bytes = Buffer.from(contentCsv(content, true));
  return bytes.length <= mostBytes ? bytes : Buffer.from(contentCsv(content, false));
}

const contentTypes = { pdf: 'application/pdf', csv: 'text/csv; charset=utf-8' } as const satisfies Record<
  ReportFormat,
  string
>;

async function enqueueMails(
  { sealer, publicUrl }: MakerContext,
  tx: Transaction,
  made: {
    readonly report: ReportRow;
    readonly content: Content;
    readonly files: readonly MadeFile[];
    readonly recipients: readonly MailedRecipient[];
  },
): Promise<void> {
  const readers = made.recipients.filter(({ state }) => state === 'active');
  if (readers.length === 0) return;
  const fileIds: string[] = [];
  for (const { name, format, content } of made.files) {
    fileIds.push(await keepMailFile(tx, sealer, { name, contentType: contentTypes[format], content }));
  }
  const pictures = latencyPictures(made.content);
  for (const { address, locale, sealed: token } of readers) {
    const unsubscribeUrl = reportLinkUrl(publicUrl, sealer.open(token, tokenSealedFor).toString());
    const mail = reportMail(address, {
      content: made.content,
      frequency: made.report.frequency,
      locale: locale ?? made.report.locale,
      pictures,
      files: made.files.map(({ name }) => name),
      unsubscribeUrl,
    });
    await enqueueMail(tx, sealer, mail, { priority: mailPriority, fileIds });
  }
}
