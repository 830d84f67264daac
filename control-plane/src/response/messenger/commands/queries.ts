import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { contains, folded } from '../../../platform/database/text-search.ts';

const found = z.object({ id: z.number(), name: z.string() });
/** A monitor that may be meant. */
export type FoundMonitor = z.output<typeof found>;

/** Answers of an ambiguous name. */
const most = 6;

/**
 * The monitors of the scope that somebody means by a number or a name: the one of that number, else those of exactly that name (whatever the case),
 * else those with it in their names; at most six.
 */
export async function findMeant(
  scope: Scope,
  connection: CommonQueryMethods,
  wanted: string,
): Promise<readonly FoundMonitor[]> {
  const number = /^#?([1-9][0-9]{0,9})$/.exec(wanted)?.[1];
  const name = sql.fragment`${wanted.normalize('NFC')}::text`;
  return connection.any(sql.type(found)`
    with near as (
      select m.id, m.name, case
        when m.id::text = ${number ?? null}::text then 1
        when ${folded(sql.fragment`m.name`)} = ${folded(name)} then 2 else 3 end as rank
      from monitors m
      where m.deleted_at is null and m.workspace_id = any (${sql.array(scope.workspaceIds, 'int4')})
        and (m.id::text = ${number ?? null}::text or ${contains(wanted, sql.fragment`m.name`)})
    )
    select id, name from near where rank = (select min(rank) from near) order by name, id limit ${most}`);
}
