import type pg from 'pg';
import { z } from 'zod';
import { clusterTypes } from './tables.ts';

export type CatalogTable = { readonly name: string; readonly columns: readonly string[] };

const tableRow = z.object({ name: z.string(), columns: z.array(z.string()) });
const referenceRow = z.object({ child: z.string(), parent: z.string() });

/** The tables of the schema with the columns whose values can be carried to another cluster; a table that others refer to stands before them. */
export async function readTables(client: pg.ClientBase): Promise<CatalogTable[]> {
  const tables = await client.query(
    `select c.relname::text as name,
       array(select a.attname::text from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
               and format_type(a.atttypid, null) <> all ($1::text[])
             order by a.attnum) as columns
     from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname`,
    [clusterTypes],
  );
  const references = await client.query(
    `select child.relname::text as child, parent.relname::text as parent
     from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
     where k.contype = 'f' and child.relnamespace = 'public'::regnamespace and child.oid <> parent.oid`,
  );
  return inOrder(z.array(tableRow).parse(tables.rows), z.array(referenceRow).parse(references.rows));
}

/** Parents before children. @throws when tables refer to each other in a circle */
export function inOrder(
  tables: readonly CatalogTable[],
  references: readonly { readonly child: string; readonly parent: string }[],
): CatalogTable[] {
  const ordered: CatalogTable[] = [];
  const placed = new Set<string>();
  let waiting = [...tables];
  while (waiting.length > 0) {
    const ready = waiting.filter((table) =>
      references.every(({ child, parent }) => child !== table.name || placed.has(parent)),
    );
    if (ready.length === 0)
      throw new Error(`tables refer to each other in a circle: ${waiting.map((one) => one.name).join(', ')}`);
    for (const table of ready) placed.add(table.name);
    ordered.push(...ready);
    waiting = waiting.filter((table) => !placed.has(table.name));
  }
  return ordered;
}

/** The UTC days that the partitions of a table stand for, by their names: `table_YYYYMMDD`. */
export async function readDays(client: pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query(
    `select to_char(to_date(right(part.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
     from pg_inherits i join pg_class part on part.oid = i.inhrelid join pg_class whole on whole.oid = i.inhparent
     where whole.relname = $1 and whole.relnamespace = 'public'::regnamespace and part.relname ~ ($1 || '_[0-9]{8}$')
     order by 1`,
    [table],
  );
  return z
    .array(z.object({ day: z.string() }))
    .parse(rows)
    .map((row) => row.day);
}

/** The first numbers that the partitions of a table hold, by their names: `table_NUMBER`. */
export async function readStarts(client: pg.ClientBase, table: string): Promise<number[]> {
  const { rows } = await client.query(
    `select substring(part.relname from '[0-9]+$')::integer as start
     from pg_inherits i join pg_class part on part.oid = i.inhrelid join pg_class whole on whole.oid = i.inhparent
     where whole.relname = $1 and whole.relnamespace = 'public'::regnamespace and part.relname ~ ($1 || '_[0-9]+$')
     order by 1`,
    [table],
  );
  return z
    .array(z.object({ start: z.number() }))
    .parse(rows)
    .map((row) => row.start);
}

const identityRow = z.object({ table: z.string(), column: z.string(), last: z.string().nullable() });

/** The highest number that each identity column has given out. */
export async function readIdentities(
  client: pg.ClientBase,
): Promise<{ table: string; column: string; last: number }[]> {
  const { rows } = await client.query(
    `select c.relname::text as table, a.attname::text as column, s.last_value::text as last
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     join pg_depend d on d.refobjid = c.oid and d.refobjsubid = a.attnum and d.classid = 'pg_class'::regclass and d.deptype = 'i'
     join pg_class sequence on sequence.oid = d.objid and sequence.relkind = 'S'
     join pg_sequences s on s.schemaname = 'public' and s.sequencename = sequence.relname
     where c.relnamespace = 'public'::regnamespace and a.attidentity <> '' and not a.attisdropped
     order by 1, 2`,
  );
  return z
    .array(identityRow)
    .parse(rows)
    .map(({ table, column, last }) => ({ table, column, last: Number(last ?? 0) }));
}
