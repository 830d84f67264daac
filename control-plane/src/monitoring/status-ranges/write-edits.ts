import type pg from 'pg';
import type { RangeEdit } from '../consensus/index.ts';

/** SQL for the instant of an expression in whole microseconds since the epoch; exact, unlike `to_timestamp` of seconds. */
export const atMicroseconds = (expression: string): string =>
  `('epoch'::timestamptz + ${expression} * interval '1 microsecond')`;

/** A row that an edit names is not there, or one that must not be there is: memory and database have drifted apart. */
export class RangeDriftError extends Error {
  override readonly name = 'RangeDriftError';
}

type Table = 'status_ranges' | 'probe_ranges';
type Insert = Extract<RangeEdit, { op: 'insert' }>;
type Update = Extract<RangeEdit, { op: 'update' }>;
type Deletion = Extract<RangeEdit, { op: 'delete' }>;

/**
 * Applies the edits of a round inside the caller's transaction. The edits of one (monitor, voter) keep their order; those of different
 * ones are written together, so the number of statements grows with the longest sequence and not with the monitors.
 * @throws RangeDriftError when a row that an edit names does not exist
 */
export async function writeRangeEdits(client: pg.ClientBase, edits: readonly RangeEdit[]): Promise<void> {
  for (const layer of layersOf(edits)) {
    for (const table of ['status_ranges', 'probe_ranges'] as const) {
      const own = layer.filter((edit) => (edit.voter === null) === (table === 'status_ranges'));
      if (own.length === 0) continue;
      await remove(
        client,
        table,
        own.filter((edit) => edit.op === 'delete'),
      );
      await update(
        client,
        table,
        own.filter((edit) => edit.op === 'update'),
      );
      await insert(
        client,
        table,
        own.filter((edit) => edit.op === 'insert'),
      );
    }
  }
}

/** Splits edits into layers that hold at most one edit of each (monitor, voter), keeping the order within each. */
export function layersOf(edits: readonly RangeEdit[]): RangeEdit[][] {
  const layers: RangeEdit[][] = [];
  const depths = new Map<string, number>();
  for (const edit of edits) {
    const key = `${edit.monitorId}:${edit.voter ?? ''}`;
    const depth = depths.get(key) ?? 0;
    depths.set(key, depth + 1);
    const layer = layers[depth];
    if (layer === undefined) layers.push([edit]);
    else layer.push(edit);
  }
  return layers;
}

const sameRow = (table: Table): string =>
  `r.monitor_id = c.monitor_id and r.started_at = ${atMicroseconds('c.started_us')}${table === 'probe_ranges' ? ' and r.probe_id = c.voter' : ''}`;

async function remove(client: pg.ClientBase, table: Table, edits: readonly Deletion[]): Promise<void> {
  if (edits.length === 0) return;
  const answer = await client.query(
    `delete from ${table} r using unnest($1::integer[], $2::integer[], $3::bigint[]) as c (monitor_id, voter, started_us)
     where ${sameRow(table)}`,
    keyColumns(edits),
  );
  expectAll(table, 'delete', edits.length, answer.rowCount);
}

async function update(client: pg.ClientBase, table: Table, edits: readonly Update[]): Promise<void> {
  if (edits.length === 0) return;
  const answer = await client.query(
    `update ${table} r set
       started_at = coalesce(${atMicroseconds('c.new_started_us')}, r.started_at),
       ended_at = ${atMicroseconds('c.ended_us')},
       status = coalesce(c.status, r.status),
       evidence = coalesce(c.evidence::jsonb, r.evidence),
       revised_at = case when c.revised then now() else r.revised_at end
     from unnest($1::integer[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::boolean[])
       as c (monitor_id, voter, started_us, new_started_us, ended_us, status, evidence, revised)
     where ${sameRow(table)}`,
    [
      ...keyColumns(edits),
      edits.map((edit) => edit.newStartedUs ?? null),
      edits.map((edit) => edit.endedUs),
      edits.map((edit) => edit.status ?? null),
      edits.map((edit) => (edit.evidence === undefined ? null : JSON.stringify(edit.evidence))),
      edits.map((edit) => edit.revised),
    ],
  );
  expectAll(table, 'update', edits.length, answer.rowCount);
}

async function insert(client: pg.ClientBase, table: Table, edits: readonly Insert[]): Promise<void> {
  if (edits.length === 0) return;
  const voter = table === 'probe_ranges' ? { column: 'probe_id, ', value: 'c.voter, ' } : { column: '', value: '' };
  await client.query(
    `insert into ${table} (monitor_id, ${voter.column}started_at, ended_at, status, evidence, revised_at)
     select c.monitor_id, ${voter.value}${atMicroseconds('c.started_us')}, ${atMicroseconds('c.ended_us')}, c.status, c.evidence::jsonb,
       case when c.revised then now() end
     from unnest($1::integer[], $2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::boolean[])
       as c (monitor_id, voter, started_us, ended_us, status, evidence, revised)`,
    [
      ...keyColumns(edits),
      edits.map((edit) => edit.endedUs),
      edits.map((edit) => edit.status),
      edits.map((edit) => JSON.stringify(edit.evidence)),
      edits.map((edit) => edit.revised),
    ],
  );
}

function keyColumns(edits: readonly RangeEdit[]): [number[], (number | null)[], number[]] {
  return [edits.map((edit) => edit.monitorId), edits.map((edit) => edit.voter), edits.map((edit) => edit.startedUs)];
}

function expectAll(table: Table, operation: string, expected: number, found: number | null): void {
  if (found === expected) return;
  throw new RangeDriftError(`${operation} of ${table}: ${found ?? 0} rows found where ${expected} were expected`);
}
