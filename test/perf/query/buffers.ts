import type pg from 'pg';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';

const planSchema = z.array(
  z.object({
    'QUERY PLAN': z.array(
      z.object({ Plan: z.looseObject({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() }) }),
    ),
  }),
);

/** Blocks of the database that the statements of a reading look at. */
export async function buffersOf(
  pool: pg.Pool,
  connection: CommonQueryMethods,
  read: (connection: CommonQueryMethods) => Promise<unknown>,
): Promise<number> {
  const statements: { readonly sql: string; readonly values: readonly unknown[] }[] = [];
  const watched = new Proxy(connection, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (query: (typeof statements)[number]) => unknown;
      return (query: (typeof statements)[number]) => {
        statements.push(query);
        return method.call(target, query);
      };
    },
  });
  await read(watched);
  let buffers = 0;
  for (const { sql, values } of statements) {
    const answer = await pool.query(`explain (analyze, buffers, format json) ${plain(sql)}`, [...values]);
    const plan = planSchema.parse(answer.rows)[0]?.['QUERY PLAN'][0]?.Plan;
    buffers += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
  }
  return buffers;
}

/** A statement as the database knows it: slonik numbers its values under a name of its own. */
const plain = (sql: string): string => sql.replaceAll('$slonik_', '$');
