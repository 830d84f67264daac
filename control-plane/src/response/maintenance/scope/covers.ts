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

const named = (table: ReturnType<typeof sql.fragment>, is: ReturnType<typeof sql.fragment>) =>
  sql.fragment`exists (select from ${table} t where t.maintenance_id = x.id and ${is})`;

/** Subjects `(type, id, created_at)` that a maintenance `x` covers now, as a table to be joined laterally. */
export const coveredSubjects = sql.fragment`(
  select 'monitor' as type, m.id, m.created_at from monitors m where ${covers}
  union all
  select 'heartbeat', h.id, h.created_at from heartbeats h
  where h.workspace_id = x.workspace_id and h.deleted_at is null and (x.covers_all or h.tags && x.tags
    or ${named(sql.fragment`maintenance_heartbeats`, sql.fragment`t.heartbeat_id = h.id`)})
  union all
  select 'webhook_check', c.id, c.created_at from webhook_checks c
  where c.workspace_id = x.workspace_id and c.deleted_at is null and (x.covers_all or c.tags && x.tags
    or ${named(sql.fragment`maintenance_webhook_checks`, sql.fragment`t.webhook_check_id = c.id`)}))`;
