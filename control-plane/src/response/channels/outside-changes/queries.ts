import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const ownedConfig = z.object({ id: z.number(), user_id: z.number(), sealed_settings: z.instanceof(Buffer) });

/** The configurations of a channel that some users have. For the worker login. */
export async function configsOfOwners(
  connection: CommonQueryMethods,
  channel: string,
  ownerIds: readonly number[],
): Promise<readonly z.output<typeof ownedConfig>[]> {
  return connection.any(sql.type(ownedConfig)`
    select id, user_id, sealed_settings from channel_configs
    where channel = ${channel} and user_id = any (${sql.array([...ownerIds], 'int4')})`);
}

/** Nothing will arrive at some targets of a channel any more. For the worker login. */
export async function noteGivenUp(
  connection: CommonQueryMethods,
  channel: string,
  targets: readonly { readonly ownerId: number; readonly target: string }[],
  reason: string,
): Promise<void> {
  if (targets.length === 0) return;
  const rows = targets.map(({ ownerId, target }) => [ownerId, target]);
  await connection.query(sql.unsafe`
    insert into channel_targets as t (user_id, channel, target, disabled_at, reason)
    select owner_id, ${channel}, target, clock_timestamp(), ${reason.slice(0, 600)}
    from ${sql.unnest(rows, ['int4', 'text'])} as gone (owner_id, target)
    on conflict (user_id, channel, target) do update set disabled_at = excluded.disabled_at, reason = excluded.reason,
      updated_at = clock_timestamp()
    where t.disabled_at is null`);
}

/** Messages may go to a target again, and to what stands behind it and a colon, whoever named it. For the worker login. */
export async function takeTargetBack(connection: CommonQueryMethods, channel: string, target: string): Promise<void> {
  await connection.query(sql.unsafe`
    update channel_targets set disabled_at = null, reason = null, updated_at = clock_timestamp()
    where channel = ${channel} and (target = ${target} or starts_with(target, ${`${target}:`})) and disabled_at is not null`);
}
