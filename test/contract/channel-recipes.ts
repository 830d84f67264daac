import { z } from 'zod';
import { randomKeyHash } from '../../control-plane/src/platform/crypto/random-key.ts';
import { unsubscribeToken } from '../../control-plane/src/response/channels/mail-targets/token.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

const path = '/api/v1/alert-channel-configs';

/** Every channel may be configured once, and few tests are sent in an hour. */
async function emptied(world: World): Promise<void> {
  const whose =
    world.keepsOthers === true
      ? sql.fragment`user_id = (select owner_id from workspaces where id = ${world.workspaceId})`
      : sql.fragment`true`;
  await world.database.worker.query(sql.unsafe`delete from channel_configs where ${whose}`);
  await world.database.worker.query(
    sql.unsafe`delete from rate_limits where key like 'channel-tests%' or key like 'consent-mails%'`,
  );
}

async function config(world: World): Promise<number> {
  await emptied(world);
  return Number((await world.make('POST', path, { channel: 'email' })).body['id']);
}

const ofConfig =
  (suffix: string, body?: unknown): Recipe =>
  async (world) => ({ path: `${path}/${await config(world)}${suffix}`, ...(body === undefined ? {} : { body }) });

/** The token of a link by which the reader of an address ends alerts. */
async function linkToken(world: World): Promise<string> {
  const token = unsubscribeToken.make();
  const userId = await world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    select id from users where email = 'contract@example.com'`);
  await world.database.worker.query(sql.unsafe`
    insert into channel_targets (user_id, channel, target, unsubscribe_hash, unsubscribe_sealed)
    values (${userId}, 'email', ${`reader${world.unique()}@example.com`}, ${sql.binary(randomKeyHash(token))},
      ${sql.binary(Buffer.alloc(1))})`);
  return token;
}

/** Calls of the channels' routes that the specification lists. */
export const channelRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/alerts/channels/availability': async () => ({ path: '/api/v1/alerts/channels/availability' }),
  'POST /api/v1/alerts/test-send': async (world) => {
    await emptied(world);
    return { path: '/api/v1/alerts/test-send', body: { channel: 'email', target: `t${world.unique()}@example.com` } };
  },
  'GET /api/v1/alert-channel-configs': async (world) => {
    await config(world);
    return { path };
  },
  'POST /api/v1/alert-channel-configs': async (world) => {
    await emptied(world);
    return { path, body: { channel: 'email', name: 'another' } };
  },
  'GET /api/v1/alert-channel-configs/{config_id}': ofConfig(''),
  'PATCH /api/v1/alert-channel-configs/{config_id}': ofConfig('', { name: 'changed' }),
  'DELETE /api/v1/alert-channel-configs/{config_id}': ofConfig(''),
  'POST /api/v1/alert-channel-configs/{config_id}/test': ofConfig('/test', {}),
  'POST /api/v1/alert-channel-configs/{config_id}/activate': ofConfig('/activate'),
  'POST /api/v1/alert-channel-configs/{config_id}/deactivate': ofConfig('/deactivate'),
  'GET /api/v1/alert-channel-configs/channels/{channel}': async (world) => {
    await config(world);
    return { path: `${path}/channels/email` };
  },
};

/** And those beside it. */
export const moreChannelRecipes: Readonly<Record<string, Recipe>> = {
  'POST /api/v1/alert-channel-configs/mail-confirmations': async (world) => {
    await emptied(world);
    return { path: `${path}/mail-confirmations`, body: { target: `t${world.unique()}@example.com` } };
  },
  'GET /api/v1/public/mail-alerts/:token': async (world) => ({
    path: `/api/v1/public/mail-alerts/${await linkToken(world)}`,
  }),
  'POST /api/v1/public/mail-alerts/:token': async (world) => ({
    path: `/api/v1/public/mail-alerts/${await linkToken(world)}`,
    body: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
};
