import { importLimits, invalidInput } from '@parallax/api-contract';
import type { ImportFormat } from '@parallax/api-contract';
import { parseJson } from '../../../../platform/http/json-text.ts';
import { textCell } from '../file/cells.ts';
import { readTable } from '../file/table.ts';
import type { Table } from '../file/table.ts';
import { textOf } from '../file/text.ts';
import { betterStack } from './better-stack.ts';
import { readRow } from './imported.ts';
import type { Format, ImportedRow } from './imported.ts';
import { generic, own } from './own.ts';
import { pingdom } from './pingdom.ts';
import { statusCake } from './statuscake.ts';
import { uptimeKuma } from './uptime-kuma.ts';
import { uptimeRobot } from './uptime-robot.ts';

/** The first whose marks a header bears; own exports come first, since nobody else has their columns. */
const formats: readonly Format[] = [own, betterStack, uptimeRobot, statusCake, pingdom];

/** A file as rows in its order. */
export type ImportedFile = { readonly format: ImportFormat; readonly rows: readonly ImportedRow[] };

/**
 * Reads a file of monitors, whatever it is of what the import knows.
 * @throws Problem `payload_too_large`, `invalid_json` or `invalid_input` when the whole file is of no use
 */
export function readFile(bytes: Buffer): ImportedFile {
  const text = textOf(bytes);
  return /^\s*[{[]/.test(text) ? { format: 'uptime_kuma', rows: uptimeKuma(backupOf(text)) } : readCsv(readTable(text));
}

function readCsv(table: Table): ImportedFile {
  const format = formatOf(table.columns);
  return {
    format: format.name,
    rows: table.rows.map(({ cells, tooLong }) => {
      const label = { name: textCell(cells, ...format.title), url: textCell(cells, ...format.target) };
      if (!tooLong) return placed(readRow(format.read, cells, label), textCell(cells, 'workspace'));
      const reason = 'the row has more cells than the header; quote cells that hold the delimiter';
      return { kind: 'failed', code: 'too_many_cells', reason, ...label };
    }),
  };
}

/** No tool has such a column; whoever adds one to its file means a workspace of ours. */
function placed(row: ImportedRow, workspace: string | undefined): ImportedRow {
  return row.kind === 'monitor' ? { ...row, workspace } : row;
}

/** @throws Problem `invalid_input` when no column can hold what is checked */
function formatOf(columns: ReadonlySet<string>): Format {
  const marked = formats.find((format) => format.marks.some((mark) => mark.every((column) => columns.has(column))));
  const format = marked ?? generic;
  if (format.target.some((column) => columns.has(column))) return format;
  const found = [...columns].join(', ').slice(0, 200);
  throw invalidInput(
    'body',
    '',
    'url_column_missing',
    `the header needs a column "${format.target[0] ?? 'url'}"; it has ${found || 'none'}`,
  );
}

function backupOf(text: string): readonly unknown[] {
  const parsed = parseJson(text, { maxDepth: 32 });
  const list =
    typeof parsed === 'object' && parsed !== null && 'monitorList' in parsed ? parsed.monitorList : undefined;
  if (!Array.isArray(list)) {
    throw invalidInput(
      'body',
      '/monitorList',
      'not_a_backup',
      'the only JSON that is read is a backup of Uptime Kuma 1.x, which has a monitorList',
    );
  }
  if (list.length === 0) throw invalidInput('body', '/monitorList', 'no_rows', 'the backup has no monitors');
  if (list.length <= importLimits.rows) return withProxies(list, parsed);
  throw invalidInput(
    'body',
    '/monitorList',
    'too_many_rows',
    `a file has at most ${importLimits.rows} monitors; divide it`,
  );
}

/** The monitors of a backup, each with the proxy that it names by number, which stands beside them. */
function withProxies(monitors: readonly unknown[], backup: unknown): readonly unknown[] {
  const { proxyList } = backup as { readonly proxyList?: unknown };
  if (!Array.isArray(proxyList)) return monitors;
  const byId = new Map(proxyList.filter(isRecord).map((proxy) => [proxy['id'], proxy]));
  return monitors.map((monitor) => {
    const proxy = isRecord(monitor) && byId.get(monitor['proxyId']);
    return proxy ? { ...(monitor as object), proxy } : monitor;
  });
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
