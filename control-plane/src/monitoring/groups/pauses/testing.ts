import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

/** Monitors whose open group pause is not what their groups say. */
export async function incomplete(worker: CommonQueryMethods): Promise<readonly number[]> {
  return worker.anyFirst(sql.typeAlias('id')`
    select m.id from monitors m
    where m.deleted_at is null and exists (
      select from pauses p where p.monitor_id = m.id and p.paused_by = 'group' and p.ended_at is null
    ) <> exists (
      select from monitor_group_members gm join monitor_groups g on g.id = gm.group_id where gm.monitor_id = m.id and g.is_paused
    )`);
}

/** Monitors with two pauses of one kind at one time. */
export async function overlapping(worker: CommonQueryMethods): Promise<readonly number[]> {
  return worker.anyFirst(sql.typeAlias('id')`
    select distinct a.monitor_id as id from pauses a join pauses b
      on b.monitor_id = a.monitor_id and b.paused_by = a.paused_by and b.id > a.id
        and tstzrange(a.started_at, a.ended_at) && tstzrange(b.started_at, b.ended_at)`);
}
