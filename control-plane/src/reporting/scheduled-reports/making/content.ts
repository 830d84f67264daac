import { scheduledReportLimits } from '@parallax/api-contract';
import { availabilityOf, noTime } from '../../statistics/index.ts';
import type { Availability, DayFigures } from '../../statistics/index.ts';
import type { Book, BookRow, SlaReport } from '../../sla/index.ts';
import type { ReportPeriod } from '../periods.ts';

/** One subject with all that the files and the mail show of it. */
export type Line = BookRow & {
  readonly id: number;
  readonly availability: Availability;
  /** Of the report's zone, oldest first; none where only sums are known. */
  readonly days: readonly DayFigures[];
};

/** An outage that the mail names. */
export type NamedOutage = {
  readonly subject: string;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly downtimeMs: number;
  readonly cause: string | null;
};

/** What a run has found: everything that its files and mails show. */
export type Content = {
  readonly report: {
    readonly name: string;
    readonly workspaceName: string;
    readonly timezone: string;
    readonly sloTarget: number | null;
  };
  readonly period: ReportPeriod;
  readonly before: ReportPeriod | null;
  readonly generatedMs: number;
  /** The least available first. */
  readonly lines: readonly Line[];
  readonly isCut: boolean;
  readonly total: Availability;
  readonly totalBefore: Availability | null;
  readonly chapters: readonly SlaReport[];
};

/** The least available first; subjects of which nothing was measured last; equal ones by name. */
export function byAvailability(lines: readonly Line[]): Line[] {
  return lines.toSorted(
    (one, other) =>
      (one.uptime ?? 2) - (other.uptime ?? 2) ||
      other.downtimeMs - one.downtimeMs ||
      one.name.localeCompare(other.name) ||
      one.id - other.id,
  );
}

/** Times of subjects together. */
export function totalOf(parts: readonly Availability[]): Availability {
  const sum = noTime();
  for (const part of parts) {
    for (const field of Object.keys(sum)) {
      if (isTime(field)) sum[field] += part[field];
    }
  }
  return availabilityOf(sum);
}

const times = noTime();
const isTime = (field: string): field is keyof typeof times => field in times;

/** The monitors whose chapters are drawn. */
export function chapterIds(lines: readonly Line[], most: number = scheduledReportLimits.chapters): number[] {
  return lines
    .filter(({ type }) => type === 'monitor')
    .slice(0, most)
    .map(({ id }) => id);
}

const dayMs = 86_400_000;

/** Whether late results may still change the last day: a day is closed in the ledger 24 hours after its end. */
export function isProvisional({ period, generatedMs }: Pick<Content, 'period' | 'generatedMs'>): boolean {
  return generatedMs - period.toMs < dayMs;
}

/** The longest outages of all that have a chapter. */
export function longestOutages({ chapters }: Content, most: number): NamedOutage[] {
  return chapters
    .flatMap(({ monitor, outages }) =>
      outages
        .filter(({ downtimeMs }) => downtimeMs > 0)
        .map(({ startedMs, endedMs, downtimeMs, cause }) => ({
          subject: monitor.name,
          startedMs,
          endedMs,
          downtimeMs,
          cause,
        })),
    )
    .toSorted((one, other) => other.downtimeMs - one.downtimeMs || one.startedMs - other.startedMs)
    .slice(0, most);
}

/** The content as the PDF draws it. @param most chapters */
export function bookOf(content: Content, most: number = scheduledReportLimits.chapters): Book {
  const { report, period, before, generatedMs, lines, isCut, total, totalBefore, chapters } = content;
  return {
    ...report,
    ...period,
    before,
    generatedMs,
    uptime: total.uptime,
    uptimeBefore: totalBefore?.uptime ?? null,
    isProvisional: isProvisional(content),
    isCut,
    rows: lines.map(({ id: _id, availability: _availability, days: _days, ...row }) => row),
    chapters: chapters.slice(0, most),
  };
}
