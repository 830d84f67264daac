import { writeCsv } from '../../../platform/csv/write-csv.ts';
import type { CsvCell } from '../../../platform/csv/write-csv.ts';
import { percentOf } from '../../../platform/figures.ts';
import { iso } from '../../statistics/index.ts';
import type { Availability } from '../../statistics/index.ts';
import { isProvisional } from './content.ts';
import type { Content } from './content.ts';

/**
 * A run as the records of a CSV file, as an SLA report is one: the first cell of each names its section, and the first record of a section names its
 * columns. Begins with a byte order mark, by which spreadsheets know UTF-8.
 * @param withDays whether each day of each monitor has a record
 */
export function contentCsv(content: Content, withDays: boolean): string {
  return `\uFEFF${writeCsv([
    ...section('summary', ['name', 'value'], summary(content)),
    ...section('subject', subjectColumns, subjects(content)),
    ...(withDays ? section('day', ['type', 'id', 'name', 'date', 'outages', ...timeColumns], days(content)) : []),
  ])}`;
}

function section(name: string, columns: readonly string[], records: readonly (readonly CsvCell[])[]): CsvCell[][] {
  return [columns, ...records].map((record) => [name, ...record]);
}

function summary(content: Content): CsvCell[][] {
  const { report, period, before, generatedMs, lines, isCut, total, totalBefore } = content;
  return [
    ['report', report.name],
    ['workspace', report.workspaceName],
    ['time_zone', report.timezone],
    ['from', iso(period.fromMs)],
    ['to', iso(period.toMs)],
    ...(before === null
      ? []
      : [
          ['before_from', iso(before.fromMs)],
          ['before_to', iso(before.toMs)],
        ]),
    ['generated_at', iso(generatedMs)],
    ['last_day_provisional', isProvisional(content) ? 'yes' : 'no'],
    ['subjects', lines.length],
    ['subjects_omitted', isCut ? 'yes' : 'no'],
    ['uptime_percent', percentOf(total.uptime)],
    ...(totalBefore === null ? [] : [['before_uptime_percent', percentOf(totalBefore.uptime)]]),
    ['downtime_seconds', total.downtimeMs / 1_000],
    ...(report.sloTarget === null ? [] : [['slo_target_percent', report.sloTarget]]),
  ];
}

const timeColumns = [
  'uptime_percent',
  'up_seconds',
  'degraded_seconds',
  'down_seconds',
  'timeout_seconds',
  'unknown_seconds',
  'maintenance_seconds',
  'paused_seconds',
  'excluded_seconds',
];

function timeCells(time: Availability): CsvCell[] {
  const { upMs, degradedMs, downMs, timeoutMs, unknownMs, maintenanceMs, pausedMs, excludedMs } = time;
  return [
    percentOf(time.uptime),
    ...[upMs, degradedMs, downMs, timeoutMs, unknownMs, maintenanceMs, pausedMs, excludedMs].map((ms) => ms / 1_000),
  ];
}

const subjectColumns = [
  'type',
  'id',
  'name',
  'outages',
  'longest_outage_seconds',
  'response_time_p95_ms',
  'slo_met',
  'before_uptime_percent',
  ...timeColumns,
];

function subjects({ lines }: Content): CsvCell[][] {
  return lines.map((line) => [
    line.type,
    line.id,
    line.name,
    line.outages,
    line.longestMs === null ? null : line.longestMs / 1_000,
    line.p95Ms,
    line.isMet === null ? null : line.isMet ? 'yes' : 'no',
    percentOf(line.uptimeBefore ?? null),
    ...timeCells(line.availability),
  ]);
}

function days({ lines }: Content): CsvCell[][] {
  return lines.flatMap((line) =>
    line.days.map((day) => [line.type, line.id, line.name, day.day, day.outages, ...timeCells(day)]),
  );
}
