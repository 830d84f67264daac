import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { channelOf } from '../registry.ts';

/** A target of a member of a workspace, as an alert of that workspace names it. */
export type MemberTarget = {
  readonly ownerId: number;
  readonly workspaceId: number;
  readonly channel: string;
  readonly config_id: number | null;
  readonly target: string;
};

/**
 * Of targets, by their keys, those that can be sent to now: their owner is a member of the workspace, the configuration is there and on, the target
 * was not given up, and of mail its reader has agreed. One query for all. For the worker login.
 */
export async function usableTargets(
  worker: CommonQueryMethods,
  targets: ReadonlyMap<string, MemberTarget>,
): Promise<ReadonlySet<string>> {
  const rows = [...targets].flatMap(([key, { ownerId, workspaceId, channel: name, config_id: configId, target }]) => {
    const channel = channelOf(name);
    if (channel === undefined) return [];
    const needsConfig = !channel.settings.safeParse({}).success;
    return [[key, ownerId, workspaceId, channel.name, configId, target, needsConfig]];
  });
  if (rows.length === 0) return new Set();
  const keys = await worker.anyFirst(sql.type(z.object({ key: z.string() }))`
    select g.key
    from ${sql.unnest(rows, ['text', 'int4', 'int4', 'text', 'int4', 'text', 'bool'])}
      as g (key, owner_id, workspace_id, channel, config_id, target, needs_config)
    join users u on u.id = g.owner_id and u.deleted_at is null
    join workspace_members m on m.workspace_id = g.workspace_id and m.user_id = g.owner_id
    left join channel_configs c on c.user_id = g.owner_id and c.channel = g.channel and (g.config_id is null or c.id = g.config_id)
    left join channel_targets t on t.user_id = g.owner_id and t.channel = g.channel and t.target = g.target
    where (c.id is not null or (g.config_id is null and not g.needs_config)) and coalesce(c.is_active, true) and t.disabled_at is null
      and (g.channel <> 'email'
        or (t.unsubscribed_at is null and (t.confirmed_at is not null or (u.email_verified and u.email = g.target))))`);
  return new Set(keys);
}
