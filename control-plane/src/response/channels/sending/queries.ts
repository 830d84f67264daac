import { unusableReasons } from '@parallax/api-contract';
import type { UnusableReason } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { isLinkedChat } from '../../messenger/reach/index.ts';
import { senderRow, targetRow } from './row.ts';
import type { SenderRow, TargetRow } from './row.ts';

/** At so many messages in a row that failed for good a configuration is switched off. */
export const mostFailuresInRow = 10;

/** The owner with their configuration of a channel; null when the account is gone. Without a number: the one of the channel, if there is one. */
export async function findSender(
  connection: CommonQueryMethods,
  ownerId: number,
  channel: string,
  configId: number | null,
): Promise<SenderRow | null> {
  return connection.maybeOne(sql.type(senderRow)`
    select u.email, u.email_verified, u.locale, c.id as config_id, c.name as config_name, c.sealed_settings, c.settings_version, c.is_active
    from users u
    left join channel_configs c on c.user_id = u.id and c.channel = ${channel}
      and (${configId}::integer is null or c.id = ${configId})
    where u.id = ${ownerId} and u.deleted_at is null`);
}

/** What is known of a target, or null. */
export async function findTarget(
  connection: CommonQueryMethods,
  ownerId: number,
  channel: string,
  target: string,
): Promise<TargetRow | null> {
  return connection.maybeOne(sql.type(targetRow)`
    select disabled_at, reason, confirmed_at, unsubscribed_at, unsubscribe_sealed from channel_targets
    where user_id = ${ownerId} and channel = ${channel} and target = ${target}`);
}

/** Gives a mail target the token that its mails unsubscribe by, unless it has one. */
export async function setUnsubscribeToken(
  connection: CommonQueryMethods,
  place: { readonly ownerId: number; readonly channel: string; readonly target: string },
  token: { readonly hash: Buffer; readonly sealed: Buffer },
): Promise<void> {
  await connection.query(sql.unsafe`
    insert into channel_targets as t (user_id, channel, target, unsubscribe_hash, unsubscribe_sealed)
    values (${place.ownerId}, ${place.channel}, ${place.target}, ${sql.binary(token.hash)}, ${sql.binary(token.sealed)})
    on conflict (user_id, channel, target) do update set unsubscribe_hash = excluded.unsubscribe_hash,
      unsubscribe_sealed = excluded.unsubscribe_sealed, updated_at = clock_timestamp()
    where t.unsubscribe_hash is null`);
}

/** A message arrived: the streak of failures is over. Notes the time once a minute. */
export async function noteSuccess(
  connection: CommonQueryMethods,
  configId: number,
  settingsVersion: number,
): Promise<void> {
  await connection.query(sql.unsafe`
    update channel_configs set failures_in_row = 0, last_success_at = clock_timestamp()
    where id = ${configId} and settings_version = ${settingsVersion}
      and (failures_in_row > 0 or last_success_at is null or last_success_at < clock_timestamp() - interval '1 minute')`);
}

/**
 * A message failed for good. Whoever makes the tenth in a row, or whose credentials were refused, switches the configuration off: exactly one of
 * those that come together, and none that was sent with settings of before.
 * @returns why it was switched off by this call; null: it was not
 */
export async function noteFailure(
  tx: Transaction,
  config: { readonly id: number; readonly settingsVersion: number },
  failure: { readonly code: string; readonly message: string; readonly isRefused: boolean },
): Promise<'refused_credentials' | 'failures_in_row' | null> {
  const isOff = sql.fragment`(${failure.isRefused} or failures_in_row + 1 >= ${mostFailuresInRow})`;
  const row = await tx.maybeOne(sql.type(
    z.object({ reason: z.enum(['refused_credentials', 'failures_in_row']).nullable() }),
  )`
    update channel_configs set failures_in_row = failures_in_row + 1, last_error_code = ${failure.code},
      last_error = ${failure.message.slice(0, 600)}, last_error_at = clock_timestamp(), is_active = not ${isOff},
      disabled_at = case when ${isOff} then clock_timestamp() end,
      disabled_reason = case when ${failure.isRefused} then 'refused_credentials' when ${isOff} then 'failures_in_row' end,
      version = version + case when ${isOff} then 1 else 0 end,
      updated_at = case when ${isOff} then clock_timestamp() else updated_at end
    where id = ${config.id} and settings_version = ${config.settingsVersion} and is_active
    returning disabled_reason as reason`);
  return row?.reason ?? null;
}

/**
 * Nothing arrives at a target any more. What was sent with settings of before says nothing of those of now.
 * @param config by which it was sent; null: by none
 * @returns whether this call noted it
 */
export async function disableTarget(
  tx: Transaction,
  place: { readonly ownerId: number; readonly channel: string; readonly target: string },
  config: { readonly id: number; readonly settingsVersion: number } | null,
  reason: string,
): Promise<boolean> {
  if (config !== null) {
    const isCurrent = await tx.exists(sql.unsafe`
      select from channel_configs where id = ${config.id} and settings_version = ${config.settingsVersion} for share`);
    if (!isCurrent) return false;
  }
  const { rowCount } = await tx.query(sql.unsafe`
    insert into channel_targets as t (user_id, channel, target, disabled_at, reason)
    values (${place.ownerId}, ${place.channel}, ${place.target}, clock_timestamp(), ${reason.slice(0, 600)})
    on conflict (user_id, channel, target) do update set disabled_at = excluded.disabled_at, reason = excluded.reason,
      updated_at = clock_timestamp()
    where t.disabled_at is null`);
  return rowCount > 0;
}

/** Something arrived at a target: it is good again. */
export async function enableTarget(
  connection: CommonQueryMethods,
  place: { readonly ownerId: number; readonly channel: string; readonly target: string },
): Promise<void> {
  await connection.query(sql.unsafe`
    update channel_targets set disabled_at = null, reason = null, updated_at = clock_timestamp()
    where user_id = ${place.ownerId} and channel = ${place.channel} and target = ${place.target} and disabled_at is not null`);
}

/** What is asked about: a target of somebody's, and whether its channel can do without a configuration. */
export type AskedTarget = {
  readonly key: string;
  readonly ownerId: number;
  readonly workspaceId: number;
  /** The neutral word. */
  readonly channel: string;
  readonly configId: number | null;
  readonly target: string;
  readonly needsConfig: boolean;
};

const askedRows = (targets: readonly AskedTarget[]) =>
  sql.unnest(
    targets.map((each) => [
      each.key,
      each.ownerId,
      each.workspaceId,
      each.channel,
      each.configId,
      each.target,
      each.needsConfig,
    ]),
    ['text', 'int4', 'int4', 'text', 'int4', 'text', 'bool'],
  );

const keyRow = z.object({ key: z.string() });

/**
 * Of targets, by their keys, those that can be sent to now: the owner lives and is a member of the workspace, the configuration is there and active,
 * the target was not given up, and a mail address is one whose reader has agreed. One query for all.
 */
export async function findUsable(
  connection: CommonQueryMethods,
  targets: readonly AskedTarget[],
): Promise<ReadonlySet<string>> {
  if (targets.length === 0) return new Set();
  const found = await connection.any(sql.type(keyRow)`
    select a.key from ${askedRows(targets)} as a (key, owner_id, workspace_id, channel, config_id, target, needs_config)
    join users u on u.id = a.owner_id and u.deleted_at is null
    join workspace_members m on m.user_id = u.id and m.workspace_id = a.workspace_id
    left join channel_configs c on c.user_id = u.id and c.channel = a.channel and (a.config_id is null or c.id = a.config_id)
    left join channel_targets t on t.user_id = u.id and t.channel = a.channel and t.target = a.target
    where t.disabled_at is null and coalesce(c.is_active, not a.needs_config and a.config_id is null)
      and (a.channel <> 'email' or t.unsubscribed_at is null
        and (t.confirmed_at is not null or u.email_verified and u.email = a.target))`);
  return new Set(found.map(({ key }) => key));
}

/** The configuration of a user and channel, and how often its settings were changed. */
export type ConfigVersion = { readonly id: number; readonly version: number };

const versionRow = z.object({ user_id: z.number(), channel: z.string(), id: z.number(), version: z.number() });

/** Configurations of users, by user and channel: `17 ntfy`. */
export async function findVersions(
  connection: CommonQueryMethods,
  senders: readonly { readonly ownerId: number; readonly channel: string }[],
): Promise<ReadonlyMap<string, ConfigVersion>> {
  if (senders.length === 0) return new Map();
  const asked = senders.map(({ ownerId, channel }) => [ownerId, channel]);
  const rows = await connection.any(sql.type(versionRow)`
    select c.user_id, c.channel, c.id, c.settings_version as version
    from ${sql.unnest(asked, ['int4', 'text'])} as a (user_id, channel)
      join channel_configs c on c.user_id = a.user_id and c.channel = a.channel`);
  return new Map(rows.map(({ user_id: ownerId, channel, ...config }) => [`${ownerId} ${channel}`, config]));
}

const sealedRow = z.object({ id: z.number(), version: z.number(), sealed: z.instanceof(Uint8Array) });

/** Sealed settings of configurations, with their versions. */
export async function readSealed(connection: CommonQueryMethods, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, z.output<typeof sealedRow>>();
  const rows = await connection.any(sql.type(sealedRow)`
    select id, settings_version as version, sealed_settings as sealed from channel_configs where id = any(${sql.array([...ids], 'int4')})`);
  return new Map(rows.map((row) => [row.id, row]));
}

const problemRow = z.object({ key: z.string(), reason: z.enum(unusableReasons) });

/**
 * Of targets, by their keys, those that cannot be sent to now, and why: what `findUsable` leaves out, and chats of the installation's bot that are
 * linked no more. A configuration of the messenger may name a bot of one's own, so its chats are not judged here. One query for all. For the worker
 * login.
 */
export async function findUnusable(
  worker: CommonQueryMethods,
  targets: readonly AskedTarget[],
): Promise<ReadonlyMap<string, UnusableReason>> {
  if (targets.length === 0) return new Map();
  const isOwnAddress = sql.fragment`coalesce(u.email = a.target, false)`;
  const found = await worker.any(sql.type(problemRow)`
    select key, reason from (
      select a.key, case
        when m.user_id is null then 'owner_left'
        when t.disabled_at is not null then 'given_up'
        when not coalesce(c.is_active, not a.needs_config and a.config_id is null) then 'not_configured'
        when a.channel = 'email' and t.unsubscribed_at is not null then 'unsubscribed'
        when a.channel = 'email' and t.confirmed_at is null and not (u.email_verified and ${isOwnAddress}) then
          case when ${isOwnAddress} then 'own_address_unconfirmed' when t.confirm_until > now() then 'asked' else 'not_asked' end
        when a.channel = 'messenger' and c.id is null
          and not ${isLinkedChat(sql.fragment`a.owner_id`, sql.fragment`split_part(a.target, ':', 1)`)} then 'chat_not_linked'
      end as reason
      from ${askedRows(targets)} as a (key, owner_id, workspace_id, channel, config_id, target, needs_config)
      left join users u on u.id = a.owner_id and u.deleted_at is null
      left join workspace_members m on m.user_id = u.id and m.workspace_id = a.workspace_id
      left join channel_configs c on c.user_id = u.id and c.channel = a.channel and (a.config_id is null or c.id = a.config_id)
      left join channel_targets t on t.user_id = u.id and t.channel = a.channel and t.target = a.target) judged
    where reason is not null`);
  return new Map(found.map(({ key, reason }) => [key, reason]));
}
