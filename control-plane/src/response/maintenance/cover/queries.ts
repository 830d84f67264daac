import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { maintenanceNews } from '../claims/news.ts';
import { coveredSubjects } from '../scope/covers.ts';

/** Subjects that are released in one transaction. */
const atOnce = 200;
const at = (ms: number) => sql.timestamp(new Date(ms));

/**
 * Lets subjects join the occurrences that cover them now: who has become a member of a group or got a tag is covered from this instant.
 * @param subjects these alone; undefined: all
 * @returns how many joined
 */
export async function joinOccurrences(
  connection: CommonQueryMethods,
  nowMs: number,
  subjects?: readonly { readonly type: 'monitor' | 'heartbeat' | 'webhook_check'; readonly id: number }[],
): Promise<number> {
  if (subjects?.length === 0) return 0;
  const ofTypes = [...Map.groupBy(subjects ?? [], ({ type }) => type)].map(([type, list]) => {
    const ids = sql.array(
      list.map(({ id }) => id),
      'int4',
    );
    return sql.fragment`(s.type = ${type} and s.id = any(${ids}))`;
  });
  const only = subjects === undefined ? sql.fragment`true` : sql.fragment`(${sql.join(ofTypes, sql.fragment` or `)})`;
  const { rowCount } = await connection.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
    select x.workspace_id, o.id, s.type, s.id, ${at(nowMs)}
    from maintenance_occurrences o join maintenance x on x.id = o.maintenance_id cross join lateral ${coveredSubjects} s
    where o.ended_at is null and o.ends_at > ${at(nowMs)} and ${only}
      and not exists (
        select from maintenance_subjects u
        where u.occurrence_id = o.id and u.subject_type = s.type and u.subject_id = s.id and u.ended_at is null)
    order by o.id, s.type, s.id
    on conflict (occurrence_id, subject_type, subject_id) where ended_at is null do nothing`);
  return rowCount;
}

/**
 * Whether anybody may have to be released, or a deleted maintenance removed. Nearly always nobody has, and to plan what does it takes PostgreSQL ten
 * times as long as to answer this.
 * @param which `ended`: of occurrences that have ended alone
 */
export function isAnyCovered(pool: DatabasePool, nowMs: number, which: 'ended' | 'all'): Promise<boolean> {
  const covered =
    which === 'ended'
      ? sql.fragment`select from maintenance_occurrences where ended_at <= ${at(nowMs)} and released_at is null`
      : sql.fragment`select from maintenance_occurrences where ended_at is null
          union all select from maintenance_occurrences where ended_at is not null and released_at is null
          union all select from maintenance_subjects where ended_at is null`;
  return pool.exists(sql.unsafe`${covered} union all select from maintenance where deleted_at is not null`);
}

const releasedRow = z.object({ occurrence_id: z.number(), workspace_id: z.number() });

/**
 * Releases a batch of subjects: those of occurrences that have ended, and those that are not covered any more. Rows that a decision under way
 * holds are left to the next round.
 * @param which `ended`: of occurrences that have ended alone
 * @returns how many were released
 */
export async function releaseSome(pool: DatabasePool, nowMs: number, which: 'ended' | 'all'): Promise<number> {
  // What is not covered any more is asked of every subject under maintenance; what has ended is in an index of few rows.
  const candidates =
    which === 'ended'
      ? sql.fragment`
          from maintenance_occurrences o join maintenance_subjects u on u.occurrence_id = o.id and u.ended_at is null
          where o.ended_at <= ${at(nowMs)} and o.released_at is null`
      : sql.fragment`
          from maintenance_subjects u
            left join maintenance_occurrences o on o.id = u.occurrence_id
            left join maintenance x on x.id = o.maintenance_id
          where u.ended_at is null and (o.id is null or o.ended_at <= ${at(nowMs)} or (o.ended_at is null and not exists (
            select from ${coveredSubjects} s where s.type = u.subject_type and s.id = u.subject_id)))`;
  return pool.transaction(async (tx) => {
    const released = await tx.any(sql.type(releasedRow)`
      with picked as (
        select u.id, coalesce(o.ended_at, ${at(nowMs)}) as at ${candidates}
        order by u.subject_type, u.subject_id, u.id limit ${atOnce}
        for update of u skip locked)
      update maintenance_subjects u set ended_at = greatest(picked.at, u.started_at + interval '1 microsecond')
      from picked where u.id = picked.id returning u.occurrence_id, u.workspace_id`);
    await tellReleased(tx, released, nowMs);
    return released.length;
  });
}

const maintenanceRow = z.object({ id: z.number(), workspace_id: z.number(), name: z.string() });

/**
 * Has what was held of released subjects looked at, once for each maintenance. Of an occurrence that is being released whole that is done when
 * all of it is, so that there is one all-clear.
 */
export async function tellReleased(
  tx: Transaction,
  released: readonly z.infer<typeof releasedRow>[],
  nowMs: number,
): Promise<void> {
  if (released.length === 0) return;
  const pairs = released.map((row) => [row.occurrence_id, row.workspace_id]);
  const found = await tx.any(sql.type(maintenanceRow)`
    select distinct x.id, gone.workspace_id, x.name
    from ${sql.unnest(pairs, ['int4', 'int4'])} as gone (occurrence_id, workspace_id)
      join maintenance_occurrences o on o.id = gone.occurrence_id join maintenance x on x.id = o.maintenance_id
    where o.ended_at is null or o.released_at is not null or o.workspace_id <> gone.workspace_id`);
  await enqueue(tx, ...found.map((one) => maintenanceNews('maintenance.released', one, null, nowMs)));
}

/** Marks occurrences that cover nobody any more, has what they held looked at, and removes deleted maintenance that has none left. */
export async function finishReleased(pool: DatabasePool, nowMs: number): Promise<void> {
  await pool.transaction(async (tx) => {
    const finished = await tx.any(sql.type(maintenanceRow)`
      update maintenance_occurrences o set released_at = ${at(nowMs)} from maintenance x
      where x.id = o.maintenance_id and o.ended_at <= ${at(nowMs)} and o.released_at is null
        and not exists (select from maintenance_subjects u where u.occurrence_id = o.id and u.ended_at is null)
      returning x.id, x.workspace_id, x.name`);
    await enqueue(tx, ...finished.map((one) => maintenanceNews('maintenance.released', one, null, nowMs)));
  });
  await pool.query(sql.unsafe`
    delete from maintenance x where x.deleted_at is not null
      and not exists (select from maintenance_occurrences o where o.maintenance_id = x.id and o.released_at is null)`);
}
