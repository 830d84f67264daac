import {
  activateChannelConfigRoute,
  createChannelConfigRoute,
  deactivateChannelConfigRoute,
  deleteChannelConfigRoute,
  listChannelConfigsRoute,
  Problem,
  readActiveChannelConfigRoute,
  readChannelConfigRoute,
  updateChannelConfigRoute,
  warningsOf,
} from '@parallax/api-contract';
import type { AlertChannelConfig, InputOf } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../../platform/http/etag.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { channelOf } from '../registry.ts';
import { answerOf } from './answer.ts';
import { droppedSecrets } from './dropped-secrets.ts';
import { mergeSettings } from './merge-settings.ts';
import {
  countConfigs,
  deleteConfig,
  disabledTargets,
  enableTargets,
  findConfig,
  findConfigOfChannel,
  insertConfig,
  listConfigs,
  lockConfig,
  lockConfigs,
  nextConfigId,
  writeConfig,
} from './queries.ts';
import { readSettings } from './read-settings.ts';
import { requireChannel } from './require-channel.ts';
import type { ConfigRow } from './row.ts';
import { openSettings, sealSettings } from './seal-settings.ts';

type Actor = { readonly caller: Caller; readonly request: RequestFacts };
type Work = (tx: Transaction, row: ConfigRow, scope: Scope) => Promise<string | null>;

/** Routes below `/alert-channel-configs` that keep configurations. */
export function configRoutes(context: Context): readonly Route[] {
  return [
    handle(listChannelConfigsRoute, async ({ query: { page, page_size }, caller }) => {
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => {
        const { rows, total } = await listConfigs(scope, tx, { limit: page_size, offset: (page - 1) * page_size });
        return { alert_channel_configs: await answers(context, scope, tx, rows), total, page, page_size };
      });
    }),

    handle(createChannelConfigRoute, async ({ body, caller, request }) => {
      const answer = await create(context, { caller, request }, body);
      request.reply.header('location', `/api/v1/alert-channel-configs/${answer.id}`);
      return answer;
    }),

    handle(readChannelConfigRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) =>
        one(context, { caller, request }, tx, await findConfig(scope, tx, params.config_id)),
      );
    }),

    handle(readActiveChannelConfigRoute, async ({ params, caller, request }) => {
      const name = channelOf(params.channel)?.name ?? params.channel;
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => {
        const row = await findConfigOfChannel(scope, tx, name);
        return one(context, { caller, request }, tx, row?.is_active === true ? row : null);
      });
    }),

    handle(updateChannelConfigRoute, async ({ params, body, caller, request }) => {
      let dropped: readonly string[] = [];
      const changed = await change(context, { caller, request }, params.config_id, async (tx, row, scope) => {
        const updated = await update(context, tx, row, scope, body);
        dropped = updated.dropped;
        return updated.isChanged ? 'alert_channel_config.updated' : null;
      });
      return { ...changed, ...warningsOf(dropped) };
    }),

    handle(deleteChannelConfigRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, async (tx) => {
        const row = await lockConfig(scope, tx, params.config_id);
        if (row === null) throw noConfig();
        requireMatch(request.header('if-match'), row.version);
        await deleteConfig(tx, row.id);
        await enableTargets(scope, tx, row.channel);
        await record(tx, { caller, request }, row.id, 'alert_channel_config.deleted', { channel: row.channel });
      });
    }),

    handle(activateChannelConfigRoute, ({ params, caller, request }) =>
      change(context, { caller, request }, params.config_id, async (tx, row, scope) => {
        await enableTargets(scope, tx, row.channel);
        if (row.is_active && row.failures_in_row === 0) return null;
        await writeConfig(tx, row.id, { name: row.name, isActive: true });
        return 'alert_channel_config.activated';
      }),
    ),

    handle(deactivateChannelConfigRoute, ({ params, caller, request }) =>
      change(context, { caller, request }, params.config_id, async (tx, row) => {
        if (!row.is_active && row.disabled_reason === null) return null;
        await writeConfig(tx, row.id, { name: row.name, isActive: false });
        return 'alert_channel_config.deactivated';
      }),
    ),
  ];
}

function noConfig(): Problem {
  return new Problem('not_found', 'there is no such alert channel configuration');
}

/** Makes the configuration of a channel, of which a workspace has one. */
async function create(
  context: Context,
  actor: Actor,
  body: InputOf<typeof createChannelConfigRoute>['body'],
): Promise<AlertChannelConfig> {
  const channel = requireChannel(body.channel, '/channel');
  const settings = readSettings(channel, body.settings);
  const scope = scopeOf(actor.caller);
  const most = context.limits.plan(actor.caller.plan).alertChannels;
  return inScope(context.database.api, scope, async (tx) => {
    await lockConfigs(scope, tx);
    const id = await nextConfigId(tx);
    const isMade = await insertConfig(scope, tx, {
      id,
      channel: channel.name,
      name: body.name ?? channel.title,
      sealedSettings: sealSettings(context.sealer, id, settings),
      isActive: body.is_active,
    });
    if (!isMade) throw new Problem('channel_configured', `${channel.title} is configured already: change that`);
    // Counted behind the insert, which tells apart what is there already from what has no place.
    if (most !== undefined && (await countConfigs(scope, tx)) > most) {
      throw new Problem('too_many_channels', `the plan has ${most} alert channels; delete a configuration first`);
    }
    await record(tx, actor, id, 'alert_channel_config.created', { channel: channel.name });
    return one(context, actor, tx, await findConfig(scope, tx, id));
  });
}

/** Writes what of a locked configuration is to be another; `dropped` names secrets that did not stay because what they belong to has changed. */
async function update(
  context: Context,
  tx: Transaction,
  row: ConfigRow,
  scope: Scope,
  body: InputOf<typeof updateChannelConfigRoute>['body'],
): Promise<{ readonly isChanged: boolean; readonly dropped: readonly string[] }> {
  const channel = requireChannel(row.channel, '/channel');
  const stored = openSettings(context.sealer, row.id, row.sealed_settings);
  const settings =
    body.settings === undefined ? undefined : readSettings(channel, mergeSettings(channel, stored, body.settings));
  const dropped = settings === undefined ? [] : droppedSecrets(channel, stored, settings, body.settings ?? {});
  const isSame = settings === undefined || JSON.stringify(settings) === JSON.stringify(stored);
  const isActive = body.is_active === row.is_active ? undefined : body.is_active;
  const name = body.name === undefined ? row.name : (body.name ?? channel.title);
  if (isSame && isActive === undefined && name === row.name) return { isChanged: false, dropped };
  await writeConfig(tx, row.id, {
    name,
    isActive,
    sealedSettings: isSame ? undefined : sealSettings(context.sealer, row.id, settings),
  });
  // What was given up was given up by other settings: a destination may be another one behind the same key.
  if (isActive === true || !isSame) await enableTargets(scope, tx, row.channel);
  return { isChanged: true, dropped };
}

/** Changes a configuration in one transaction: locked, in the version that `If-Match` names, and recorded. */
async function change(context: Context, actor: Actor, configId: number, work: Work): Promise<AlertChannelConfig> {
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    const row = await lockConfig(scope, tx, configId);
    if (row === null) throw noConfig();
    requireMatch(actor.request.header('if-match'), row.version);
    const action = await work(tx, row, scope);
    if (action !== null) await record(tx, actor, configId, action, { channel: row.channel });
    return one(context, actor, tx, await findConfig(scope, tx, configId));
  });
}

async function one(
  context: Context,
  { caller, request }: Actor,
  tx: Transaction,
  row: ConfigRow | null,
): Promise<AlertChannelConfig> {
  const [answer] = row === null ? [] : await answers(context, scopeOf(caller), tx, [row]);
  if (answer === undefined) throw noConfig();
  request.reply.header('etag', etagOf(answer.version));
  return answer;
}

async function answers(
  context: Context,
  scope: Scope,
  tx: Transaction,
  rows: readonly ConfigRow[],
): Promise<AlertChannelConfig[]> {
  const disabled = await disabledTargets(
    scope,
    tx,
    rows.map(({ channel }) => channel),
  );
  return rows.map((row) => answerOf(row, openSettings(context.sealer, row.id, row.sealed_settings), disabled));
}

function record(
  tx: Transaction,
  { caller, request }: Actor,
  configId: number,
  action: string,
  detail: Readonly<Record<string, string>>,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    subjectType: 'alert_channel_config',
    subjectId: configId,
    detail,
  });
}
