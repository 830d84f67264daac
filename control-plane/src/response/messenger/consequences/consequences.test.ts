import t from 'tap';
import { z } from 'zod';
import { capabilities } from '../../../capabilities.ts';
import { testApi } from '../../../identity/testing.ts';
import { defaultWorkspace } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { memoryBus } from '../../../testing/probes.ts';
import { isUsable } from '../../channels/index.ts';
import { consequences } from './gateway.ts';

const chat = -1_001_234_567_890;
const steps = (...targets: (readonly [channel: string, target: string])[]) =>
  targets.map(([channel, target], index) => ({
    after_seconds: index * 60,
    targets: [{ channel, config_id: null, target, locale: 'en', timezone: 'UTC' }],
  }));

void t.test('alerts and their targets follow what happens in the messenger', async (t) => {
  const api = await testApi(t, {
    capabilities,
    context: {
      bus: memoryBus(),
      signIn: { identityProviders: {}, messengerBotToken: '1:x' },
    },
  });
  const { worker } = api.database;
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const workspaceId = await defaultWorkspace(api, ada.accessToken);
  const other = await defaultWorkspace(api, eve.accessToken);
  const alert = async (name: string, of: number, owner: number, given: ReturnType<typeof steps>, failover?: object) =>
    worker.query(sql.unsafe`
      insert into alerts (workspace_id, owner_id, name, covers_all, events, steps, failover)
      values (${of}, ${owner}, ${name}, true, '{monitor.down}', ${JSON.stringify(given)}::jsonb,
        ${failover === undefined ? null : JSON.stringify(failover)}::jsonb)`);
  await alert('mail', workspaceId, ada.id, steps(['email', String(chat)]));
  await alert('group', workspaceId, ada.id, steps(['email', 'a@example.com'], ['messenger', String(chat)]));
  await alert('topic', workspaceId, ada.id, steps(['messenger', `${chat}:17`]));
  await alert('last', workspaceId, ada.id, steps(['email', 'x']), steps(['messenger', String(chat)])[0]?.targets[0]);
  await alert('near', workspaceId, ada.id, steps(['messenger', `${chat}1`]));
  await alert('theirs', other, eve.id, steps(['messenger', String(chat)]));
  const names = async (where: ReturnType<typeof sql.fragment>) =>
    worker.anyFirst(sql.type(z.object({ name: z.string() }))`select name from alerts where ${where} order by id`);

  const of = { workspaceId, chatId: chat, userId: ada.id };
  t.equal(await consequences.muteAlerts(api.context, of, Date.now() + 3_600_000), 3);
  t.same(
    await names(sql.fragment`muted_until > now()`),
    ['group', 'topic', 'last'],
    'those of the workspace that tell it',
  );
  t.equal(await consequences.muteAlerts(api.context, of, null), 3);
  t.same(await names(sql.fragment`muted_until is not null`), []);
  t.equal(await consequences.muteAlerts(api.context, { ...of, chatId: 5 }, null), 0);

  const own = await api.account('own@example.com');
  const bot = { channel: 'messenger', settings: { bot_token: '123:abcdefghijklmnopqrstuvwxyz' } };
  t.equal((await api.call('POST', '/api/v1/alert-channel-configs', { token: own.accessToken, body: bot })).status, 201);
  await alert('own bot', workspaceId, own.id, steps(['messenger', String(chat)]));

  await consequences.onChatGone(api.context, chat);
  const given = worker.any(sql.type(z.object({ user_id: z.number(), target: z.string() }))`
    select user_id, target from channel_targets where disabled_at is not null order by user_id, target`);
  t.same(await given, [
    { user_id: ada.id, target: String(chat) },
    { user_id: ada.id, target: `${chat}:17` },
    { user_id: eve.id, target: String(chat) },
  ]);
  t.equal(
    (await isUsable(api.context, { ownerId: own.id, channel: 'messenger', configId: null, target: String(chat) })).ok,
    true,
    'a bot of their own is still there',
  );
  await consequences.onChatBack(api.context, chat);
  t.equal(await worker.exists(sql.unsafe`select from channel_targets where disabled_at is not null`), false);

  const usable = async (ownerId: number, target: string) =>
    (await isUsable(api.context, { ownerId, channel: 'messenger', configId: null, target })).ok;
  t.equal(await usable(ada.id, String(chat)), false, 'a chat that nobody linked');
  await worker.query(sql.unsafe`
    insert into messenger_groups (workspace_id, chat_id, title) values (${workspaceId}, ${chat}, 'group')`);
  t.equal(await usable(ada.id, `${chat}:17`), true);
  t.equal(await usable(eve.id, String(chat)), false, 'a chat that others linked');
  t.equal(await usable(ada.id, '42'), false);
  await worker.query(sql.unsafe`insert into messenger_people (user_id, person_id, name) values (${ada.id}, 42, 'Ada')`);
  t.equal(await usable(ada.id, '42'), true);
  t.equal(await usable(eve.id, '42'), false);

  await consequences.onChatMoved(api.context, chat, -7);
  const targets = await worker.any(sql.type(
    z.object({ name: z.string(), steps: z.string(), failover: z.string().nullable() }),
  )`
    select name, steps::text, failover::text from alerts where not is_default order by id`);
  t.match(targets, [
    { name: 'mail', steps: new RegExp(`"${chat}"`) },
    { name: 'group', steps: /a@example\.com.*"-7"/s },
    { name: 'topic', steps: /"-7:17"/ },
    { name: 'last', failover: /"-7"/ },
    { name: 'near', steps: new RegExp(`"${chat}1"`) },
    { name: 'theirs', steps: /"-7"/ },
    { name: 'own bot', steps: /"-7"/ },
  ]);
});
