import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { importLimits } from '@parallax/api-contract';
import { AsCodeError } from '../as-code/index.ts';
import { kumaMonitor } from './kuma-monitor.ts';
import type { KumaRow } from './kuma-monitor.ts';

/** A file to be imported. */
export type ImportFile =
  | { readonly kind: 'text'; readonly type: 'application/json' | 'text/csv'; readonly bytes: Buffer }
  | { readonly kind: 'kuma'; readonly monitors: readonly Record<string, unknown>[] };

/** The first bytes of every SQLite 3 database (section 1.3 of its file format). */
const sqliteHead = Buffer.from('SQLite format 3\0');
const mostMonitors = 10_000;

/** @throws AsCodeError for what cannot be read or is too large */
export function readImportFile(file: string): ImportFile {
  try {
    if (headOf(file).equals(sqliteHead)) return { kind: 'kuma', monitors: readKuma(file) };
    const { size } = statSync(file);
    if (size > importLimits.bytes)
      throw new AsCodeError(`${file} has ${size} bytes, and a file at most ${importLimits.bytes}: divide it`);
    if (size === 0) throw new AsCodeError(`${file} is empty`);
    const bytes = readFileSync(file);
    // What it is beside that the import itself tells.
    const isJson = /^[\s\ufeff]*[{[]/.test(bytes.subarray(0, 1_000).toString('utf8'));
    return { kind: 'text', type: isJson ? 'application/json' : 'text/csv', bytes };
  } catch (error) {
    if (error instanceof AsCodeError) throw error;
    throw new AsCodeError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function headOf(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const head = Buffer.alloc(sqliteHead.length);
    readSync(handle, head, 0, head.length, 0);
    return head;
  } finally {
    closeSync(handle);
  }
}

/** The monitors of a `kuma.db`, in the order in which they were made; as in a backup. */
function readKuma(file: string): readonly Record<string, unknown>[] {
  const database = openReadOnly(file);
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const names = new Set(tables.map((table) => table['name']));
    if (!names.has('monitor'))
      throw new AsCodeError(`${file} is an SQLite database without a table "monitor": it is no kuma.db`);
    const rows: readonly KumaRow[] = database
      .prepare(`select * from monitor order by id limit ${mostMonitors + 1}`)
      .all();
    if (rows.length > mostMonitors) throw new AsCodeError(`${file} has more than ${mostMonitors} monitors`);
    const tags = names.has('monitor_tag') && names.has('tag') ? readTags(database) : new Map<unknown, string[]>();
    const proxies = names.has('proxy') ? readProxies(database) : new Map<unknown, KumaRow>();
    return rows.map((row) => kumaMonitor(row, tags.get(row['id']) ?? [], proxies.get(row['proxy_id'])));
  } finally {
    database.close();
  }
}

/** Proxies by their number. */
function readProxies(database: DatabaseSync): ReadonlyMap<unknown, KumaRow> {
  const rows = database
    .prepare('select id, protocol, host, port, auth, username, password, active from proxy order by id limit 10000')
    .all();
  return new Map(rows.map((row) => [row['id'], row]));
}

/** Names by monitor; the same one may stand there twice with different values. */
function readTags(database: DatabaseSync): ReadonlyMap<unknown, string[]> {
  const rows = database
    .prepare(
      `select distinct mt.monitor_id, tag.name from monitor_tag mt join tag on tag.id = mt.tag_id
       order by mt.monitor_id, tag.name limit 100000`,
    )
    .all();
  const byMonitor = new Map<unknown, string[]>();
  for (const { monitor_id: id, name } of rows) byMonitor.set(id, [...(byMonitor.get(id) ?? []), String(name)]);
  return byMonitor;
}

/**
 * The database is in WAL mode, in which even a reader writes files beside it, unless it is told that nobody else can change it. That holds
 * where there is no log of changes: Uptime Kuma does not run on it then.
 */
function openReadOnly(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}
