import { notificationStatuses } from '@parallax/api-contract';
import type { NotificationStatus } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { mostUnheldMs } from '../sending/told-after.ts';

/** A half-open time, milliseconds since the epoch. */
type Window = { readonly fromMs: number; readonly toMs: number };

const at = (ms: number) => sql.timestamp(new Date(ms));

/** What the history lists of a time. */
const ofWindow = (scope: Scope, { fromMs, toMs }: Window) => sql.fragment`
  n.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and n.created_at >= ${at(fromMs)} and n.created_at < ${at(toMs)}
  and n.reason is distinct from 'reset'`;

const countRow = z.object({ channel: z.string(), status: z.enum(notificationStatuses), n: z.number() });

/** How many messages of the scope that were decided in a time have each status, by channel. */
export async function countMessages(
  scope: Scope,
  connection: CommonQueryMethods,
  window: Window,
): Promise<readonly { readonly channel: string; readonly status: NotificationStatus; readonly n: number }[]> {
  return connection.any(sql.type(countRow)`
    select n.channel, n.status, count(*)::integer as n from notifications n where ${ofWindow(scope, window)} group by 1, 2`);
}

/**
 * The 95th percentile of the times from a finding to the arrival of its first message, milliseconds, by the rule of `toldAfterMs`; null without
 * such a message. A target may have been queued again for a later problem: that time does not count for the earlier message.
 */
export async function toldAfterP95(
  scope: Scope,
  connection: CommonQueryMethods,
  window: Window,
): Promise<number | null> {
  const ms = await connection.oneFirst(sql.type(z.object({ ms: z.number().nullable() }))`
    select percentile_disc(0.95) within group (order by greatest(0, extract(epoch from told.arrived_at - case
        when told.queued_at <= told.arrived_at and told.queued_at - told.found_at > ${mostUnheldMs} * interval '1 millisecond'
        then told.queued_at else told.found_at end) * 1000))::float8 as ms
    from (
      select n.done_at as arrived_at, t.queued_at, coalesce(i.created_at, o.created_at) as found_at
      from notifications n join alert_occasions o on o.id = n.occasion_id left join incidents i on i.id = o.incident_id
      left join alert_told t on t.occasion_id = n.occasion_id and t.target_key = n.target_key
      where ${ofWindow(scope, window)} and n.status = 'sent' and n.kind = 'opened' and not n.after_quiet and n.done_at is not null
    ) told`);
  return ms === null ? null : Math.round(ms);
}
