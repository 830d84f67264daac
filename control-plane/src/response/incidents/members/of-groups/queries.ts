import { groupMonitorsOf, liveMembers } from '../../../../monitoring/groups/check/index.ts';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';

/**
 * Has the outages of group monitors name those of their members: called when some of monitors began, it brings up to date those of the monitors
 * themselves and those of the group monitors that contain them. So neither has to be the first. Repeating it changes nothing.
 */
export async function nameMemberIncidents(transaction: Transaction, monitorIds: readonly number[]): Promise<void> {
  if (monitorIds.length === 0) return;
  const concerned = [...monitorIds, ...(await groupMonitorsOf(transaction, monitorIds))];
  await transaction.query(sql.unsafe`
    update incident_members u set causes = jsonb_set(u.causes, '{0,incidents}', found.incidents)
    from (
      select own.id, jsonb_agg(jsonb_build_object('incident_id', member.incident_id, 'monitor_id', m.id, 'name', m.name)
        order by member.incident_id, m.id) as incidents
      from incident_members own
        join monitors g on g.id = own.subject_id and g.protocol = 'group'
        join monitors m on ${liveMembers}
        join incident_members member on member.subject_type = 'monitor' and member.subject_id = m.id and not member.is_manual
          and (member.ended_at is null or member.ended_at > own.started_at)
      where own.subject_type = 'monitor' and own.subject_id = any(${sql.array(concerned, 'int4')}) and own.ended_at is null
        and not own.is_manual
      group by own.id
    ) found
    where u.id = found.id and u.causes -> 0 -> 'incidents' is distinct from found.incidents`);
}
