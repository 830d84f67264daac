import { sql } from '../../../platform/database/pools.ts';

/**
 * Whether a maintenance `x` covers a monitor `m`: the one place that says so. A tag means monitors that have it and members of groups that
 * have it.
 */
export const covers = sql.fragment`(
  m.workspace_id = x.workspace_id and m.deleted_at is null and (
    x.covers_all
    or exists (select from maintenance_monitors t where t.maintenance_id = x.id and t.monitor_id = m.id)
    or exists (
      select from maintenance_groups t join monitor_group_members gm on gm.group_id = t.group_id
      where t.maintenance_id = x.id and gm.monitor_id = m.id)
    or (x.tags <> '{}' and (m.tags && x.tags or exists (
      select from monitor_group_members gm join monitor_groups g on g.id = gm.group_id
      where gm.monitor_id = m.id and g.tags && x.tags)))))`;
