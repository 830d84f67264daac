import { writeCsv } from '../../../../platform/csv/write-csv.ts';
import type { CsvCell } from '../../../../platform/csv/write-csv.ts';
import { listText } from '../file/cells.ts';
import { beforeNeutraliser } from '../file/formulas.ts';
import { ownColumns } from './columns.ts';

/** What is exported of a monitor: all that it has and that is not secret, with names in place of numbers. */
export type ExportedMonitor = {
  readonly workspace: string;
  readonly name: string;
  readonly url: string;
  readonly protocol: string;
  readonly description: string;
  readonly interval_seconds: number;
  readonly timeout_seconds: number;
  readonly confirmations: number;
  readonly consensus_policy: string | number;
  readonly degraded_threshold_ms: number | null;
  readonly is_active: boolean;
  readonly tags: readonly string[];
  readonly probes: readonly string[];
  readonly regions: readonly string[];
  readonly dnsbl_servers: readonly string[];
  readonly certificate_thresholds_days: readonly number[];
  readonly domain_thresholds_days: readonly number[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Names of the secret settings that are set. */
  readonly secret_fields: readonly string[];
};

/** Monitors as a CSV file that an import reads back. The byte order mark tells spreadsheets that it is UTF-8. */
export function monitorsCsv(monitors: readonly ExportedMonitor[]): string {
  const secrets = [...new Set(monitors.flatMap((monitor) => monitor.secret_fields))].sort();
  const head = [...ownColumns, ...secrets.map((name) => `has_${name}`)];
  return `\ufeff${writeCsv([head, ...monitors.map((monitor) => cellsOf(monitor, secrets))])}`;
}

function cellsOf(monitor: ExportedMonitor, secrets: readonly string[]): readonly CsvCell[] {
  return [
    ...ownColumns.map((column) => cellOf(column, monitor[column])),
    ...secrets.map((name) => (monitor.secret_fields.includes(name) ? 'true' : null)),
  ];
}

function cellOf(column: (typeof ownColumns)[number], value: ExportedMonitor[(typeof ownColumns)[number]]): CsvCell {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string') return beforeNeutraliser(value);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    // No thresholds at all is another thing than the usual ones.
    if (value.length === 0) return column.endsWith('_thresholds_days') ? '[]' : null;
    return beforeNeutraliser(listText(value.map(String)));
  }
  return JSON.stringify(value);
}
