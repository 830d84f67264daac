import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

/** Nothing will arrive at a target any more, whoever of these names it. For the worker login. */
export async function giveUpTarget(
  connection: CommonQueryMethods,
  ownerIds: readonly number[],
  place: { readonly channel: string; readonly target: string },
  reason: string,
): Promise<void> {
  await connection.query(sql.unsafe`
    insert into channel_targets as t (user_id, channel, target, disabled_at, reason)
    select owner_id, ${place.channel}, ${place.target}, clock_timestamp(), ${reason.slice(0, 600)}
    from unnest(${sql.array(ownerIds, 'int4')}) as owner_id
    on conflict (user_id, channel, target) do update set disabled_at = excluded.disabled_at, reason = excluded.reason,
      updated_at = clock_timestamp()
    where t.disabled_at is null`);
}

/** Messages may go to a target again, whoever named it. For the worker login. */
export async function takeTargetBack(
  connection: CommonQueryMethods,
  place: { readonly channel: string; readonly target: string },
): Promise<void> {
  await connection.query(sql.unsafe`
    update channel_targets set disabled_at = null, reason = null, updated_at = clock_timestamp()
    where channel = ${place.channel} and target = ${place.target} and disabled_at is not null`);
}
