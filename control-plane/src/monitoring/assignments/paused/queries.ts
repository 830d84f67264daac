import { sql } from '../../../platform/database/pools.ts';

/** SQL: whether the row `monitor` is checked: its own switch is on and no group pauses it. */
export const isActive = sql.fragment`(monitor.is_active and not exists (
  select from pauses where pauses.monitor_id = monitor.id and pauses.ended_at is null))`;
