import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { configRow, disabledTargetRow } from './row.ts';
import type { ConfigRow, DisabledTargetRow } from './row.ts';

const columns = sql.fragment`c.id, c.user_id, c.channel, c.name, c.sealed_settings, c.settings_version, c.is_active, c.disabled_reason,
  c.disabled_at, c.failures_in_row, c.last_error_code, c.last_error, c.last_error_at, c.last_success_at, c.version, c.created_at, c.updated_at`;
const mostDisabledTargets = 100;

/** A page of the configurations of the scope's user by channel, and how many there are. */
export async function listConfigs(
  scope: Scope,
  tx: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly ConfigRow[]; readonly total: number }> {
  const rows = await tx.any(sql.type(configRow)`
    select ${columns} from channel_configs c where c.user_id = ${scope.userId}
    order by c.channel limit ${page.limit} offset ${page.offset}`);
  return { rows, total: await countConfigs(scope, tx) };
}

/** How many configurations the scope's user has. */
export async function countConfigs(scope: Scope, tx: Transaction): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from channel_configs where user_id = ${scope.userId}`);
}

/** All configurations of the scope's user: no more than there are channels. */
export async function allConfigs(scope: Scope, tx: Transaction): Promise<readonly ConfigRow[]> {
  return tx.any(sql.type(configRow)`select ${columns} from channel_configs c where c.user_id = ${scope.userId}`);
}

/** A configuration of the scope's user, or null. */
export async function findConfig(scope: Scope, tx: Transaction, configId: number): Promise<ConfigRow | null> {
  return tx.maybeOne(sql.type(configRow)`
    select ${columns} from channel_configs c where c.id = ${configId} and c.user_id = ${scope.userId}`);
}

/** The same, locked until the transaction ends. */
export async function lockConfig(scope: Scope, tx: Transaction, configId: number): Promise<ConfigRow | null> {
  return tx.maybeOne(sql.type(configRow)`
    select ${columns} from channel_configs c where c.id = ${configId} and c.user_id = ${scope.userId} for update`);
}

/** The configuration of a channel, or null. */
export async function findConfigOfChannel(scope: Scope, tx: Transaction, channel: string): Promise<ConfigRow | null> {
  return tx.maybeOne(sql.type(configRow)`
    select ${columns} from channel_configs c where c.channel = ${channel} and c.user_id = ${scope.userId}`);
}

/** Makes those that configure channels for one user wait for each other, so that their number can be bounded. */
export async function lockConfigs(scope: Scope, tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtext('channel_configs'), ${scope.userId}::integer)`);
}

/** The number of a configuration that is to be made: what it seals is bound to it. */
export async function nextConfigId(tx: Transaction): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`select nextval('channel_configs_id_seq')::integer as id`);
}

/** Inserts a configuration; false when the channel has one already. */
export async function insertConfig(
  scope: Scope,
  tx: Transaction,
  config: {
    readonly id: number;
    readonly channel: string;
    readonly name: string;
    readonly sealedSettings: Buffer;
    readonly isActive: boolean;
  },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    insert into channel_configs (id, user_id, channel, name, sealed_settings, is_active, disabled_at) overriding system value
    values (${config.id}, ${scope.userId}, ${config.channel}, ${config.name}, ${sql.binary(config.sealedSettings)},
      ${config.isActive}, case when ${config.isActive} then null else clock_timestamp() end)
    on conflict (user_id, channel) do nothing`);
  return rowCount > 0;
}

/**
 * Writes the next version of a configuration that the caller has locked. What switches it by hand, or changes its settings, ends the streak of
 * failures.
 */
export async function writeConfig(
  tx: Transaction,
  configId: number,
  change: {
    readonly name: string;
    readonly sealedSettings?: Buffer | undefined;
    readonly isActive?: boolean | undefined;
  },
): Promise<void> {
  const { name, sealedSettings, isActive } = change;
  const isSwitched = isActive !== undefined;
  const isNew = isSwitched || sealedSettings !== undefined;
  await tx.query(sql.unsafe`
    update channel_configs set name = ${name},
      sealed_settings = coalesce(${sealedSettings === undefined ? null : sql.binary(sealedSettings)}, sealed_settings),
      settings_version = settings_version + ${isNew ? 1 : 0}, failures_in_row = case when ${isNew} then 0 else failures_in_row end,
      disabled_reason = case when ${isSwitched} then null else disabled_reason end,
      disabled_at = case when not ${isSwitched} then disabled_at when ${isActive ?? true} then null
        else coalesce(disabled_at, clock_timestamp()) end,
      is_active = coalesce(${isActive ?? null}, is_active), version = version + 1, updated_at = clock_timestamp()
    where id = ${configId}`);
}

/** Removes a configuration that the caller has locked. */
export async function deleteConfig(tx: Transaction, configId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from channel_configs where id = ${configId}`);
}

/** Lets messages go again to what was given up of a channel. */
export async function enableTargets(scope: Scope, tx: Transaction, channel: string): Promise<void> {
  await tx.query(sql.unsafe`
    update channel_targets set disabled_at = null, reason = null, updated_at = clock_timestamp()
    where user_id = ${scope.userId} and channel = ${channel} and disabled_at is not null`);
}

/** What was given up, of these channels of the scope's user: at most 100 in all, the last ones first. */
export async function disabledTargets(
  scope: Scope,
  tx: Transaction,
  channels: readonly string[],
): Promise<readonly DisabledTargetRow[]> {
  return tx.any(sql.type(disabledTargetRow)`
    select channel, target, reason, disabled_at from channel_targets
    where user_id = ${scope.userId} and channel = any (${sql.array(channels, 'text')}) and disabled_at is not null
    order by disabled_at desc limit ${mostDisabledTargets}`);
}
