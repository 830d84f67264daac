import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import type { OccasionSubject } from '../../decide/occasion.ts';

const subjectRow = z.object({
  occasion_id: z.bigint(),
  type: z.string(),
  id: z.number(),
  event: z.string(),
  is_over: z.boolean(),
  tags: z.array(z.string()),
  group_ids: z.array(z.number()),
  is_covered: z.boolean(),
  flaps: z.boolean(),
});

export type FoundSubject = OccasionSubject & {
  /** Its part of the incident has ended. */
  readonly isOver: boolean;
  readonly isUnderMaintenance: boolean;
  readonly flaps: boolean;
};

/** Subjects of occasions, by occasion. */
export async function subjectsOf(
  transaction: Transaction,
  occasionIds: readonly number[],
): Promise<ReadonlyMap<number, readonly FoundSubject[]>> {
  const ids = sql.array([...occasionIds], 'int8');
  const rows = await transaction.any(sql.type(subjectRow)`
    with s as (
      select o.id as occasion_id, o.subject_type as type, o.subject_id as id, o.event, false as is_over
      from alert_occasions o
      where o.id = any(${ids}) and o.subject_id is not null and o.event <> 'maintenance.all_clear'
      union all
      select o.id, u.subject_type, u.subject_id, case
          when u.is_manual then 'incident.opened'
          when u.subject_type = 'monitor' then 'monitor.down'
          else u.subject_type || '.' || coalesce(u.causes -> -1 ->> 'status', 'failed') end, u.ended_at is not null
      from alert_occasions o join incident_members u on u.incident_id = o.incident_id
      where o.id = any(${ids})
      union all
      select o.id, u.subject_type, u.subject_id, o.event, true
      from alert_occasions o cross join lateral jsonb_array_elements(o.facts -> 'incidents') i
        join incident_members u on u.incident_id = (i ->> 'incident_id')::integer and u.workspace_id = o.workspace_id
      where o.id = any(${ids}) and o.event = 'maintenance.all_clear'
    ), named as (select distinct type, id from s)
    select s.occasion_id, s.type, s.id, s.event, s.is_over, coalesce(m.tags || g.tags, m.tags, h.tags, c.tags, '{}') as tags,
      coalesce(g.ids, '{}') as group_ids,
      -- With offsets each subject is looked up by itself: all monitors and all that ever happened are not read for a few of them.
      exists (
        select from maintenance_subjects x where x.subject_type = s.type and x.subject_id = s.id and x.ended_at is null offset 0) as is_covered,
      s.event <> 'monitor.flapping' and exists (
        select from alert_occasions f
        where f.subject_type = s.type and f.subject_id = s.id and f.event = 'monitor.flapping' and f.ended_at is null offset 0) as flaps
    from s
      left join lateral (select m.id, m.tags from monitors m where s.type = 'monitor' and m.id = s.id offset 0) m on true
      left join heartbeats h on s.type = 'heartbeat' and h.id = s.id
      left join webhook_checks c on s.type = 'webhook_check' and c.id = s.id
      left join lateral (
        select array_agg(distinct gm.group_id) as ids, array_agg(distinct tag) filter (where tag is not null) as tags
        from monitor_group_members gm join monitor_groups mg on mg.id = gm.group_id left join lateral unnest(mg.tags) tag on true
        where gm.monitor_id = m.id) g on m.id is not null
    order by s.occasion_id, s.type, s.id`);
  const found = new Map<number, FoundSubject[]>();
  for (const row of rows) {
    const id = Number(row.occasion_id);
    const list = found.get(id) ?? [];
    if (list.length === 0) found.set(id, list);
    list.push({
      type: row.type,
      id: row.id,
      event: row.event,
      tags: row.tags,
      groupIds: row.group_ids,
      isOver: row.is_over,
      isUnderMaintenance: row.is_covered,
      flaps: row.flaps,
    });
  }
  return found;
}
