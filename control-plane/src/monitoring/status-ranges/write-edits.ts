import type pg from 'pg';
import type { RangeEdit } from '../consensus/index.ts';

/** SQL for the instant of an expression in whole microseconds since the epoch; exact, unlike `to_timestamp` of seconds. */
export const atMicroseconds = (expression: string): string =>
  `('epoch'::timestamptz + ${expression} * interval '1 microsecond')`;

/**
 * A row that an edit names is not there, or one that must not be there is: memory and database have drifted apart. Rows that a deletion of
 * the monitor or a reset of its statistics made void are removed by others, so those may be missing.
 */
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
 * @throws RangeDriftError when a row that an edit names does not exist and is not void
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
  const answer = await client.query<Place>(
    `delete from ${table} r
     using unnest($1::integer[], $2::integer[], $3::bigint[]) with ordinality as c (monitor_id, voter, started_us, place)
     where ${sameRow(table)} returning c.place::integer as place`,
    keyColumns(edits),
  );
  await expectAll(client, `delete of ${table}`, edits, answer.rows);
}

async function update(client: pg.ClientBase, table: Table, edits: readonly Update[]): Promise<void> {
  if (edits.length === 0) return;
  const answer = await client.query<Place>(
    `update ${table} r set
       started_at = coalesce(${atMicroseconds('c.new_started_us')}, r.started_at),
       ended_at = ${atMicroseconds('c.ended_us')},
       status = coalesce(c.status, r.status),
       evidence = coalesce(c.evidence::jsonb, r.evidence),
       revised_at = case when c.revised then now() else r.revised_at end
     from unnest($1::integer[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::boolean[])
       with ordinality as c (monitor_id, voter, started_us, new_started_us, ended_us, status, evidence, revised, place)
     where ${sameRow(table)} returning c.place::integer as place`,
    [
      ...keyColumns(edits),
      edits.map((edit) => edit.newStartedUs ?? null),
      edits.map((edit) => edit.endedUs),
      edits.map((edit) => edit.status ?? null),
      edits.map((edit) => (edit.evidence === undefined ? null : JSON.stringify(edit.evidence))),
      edits.map((edit) => edit.revised),
    ],
  );
  await expectAll(client, `update of ${table}`, edits, answer.rows);
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

/** Of an edit in its list, from 1. */
type Place = { readonly place: number };

/** Holds that every edit found its row, but for those whose rows are void. */
async function expectAll(
  client: pg.ClientBase,
  operation: string,
  edits: readonly RangeEdit[],
  found: readonly Place[],
): Promise<void> {
  if (found.length === edits.length) return;
  const places = new Set(found.map(({ place }) => place));
  const missing = edits.filter((_, index) => !places.has(index + 1));
  const excused = await client.query(
    `select from unnest($1::integer[], $2::integer[], $3::bigint[]) as c (monitor_id, voter, started_us)
     join monitors m on m.id = c.monitor_id
     where m.deleted_at is not null or m.reset_at > ${atMicroseconds('c.started_us')}`,
    keyColumns(missing),
  );
  const unexplained = missing.length - (excused.rowCount ?? 0);
  if (unexplained === 0) return;
  throw new RangeDriftError(`${operation}: ${unexplained} rows are not there where ${edits.length} were expected`);
}
