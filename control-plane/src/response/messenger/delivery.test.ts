import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { webhookSecrets } from './bot.ts';
import { dropFlood } from './updates/queries.ts';
import { readUpdate } from './updates/incoming.ts';
import { receiveOnce } from './receiving/gateway.ts';
import { startReceiving } from './receiving/job.ts';
import { messengerApi } from './testing.ts';
import type { MessengerApi } from './testing.ts';

const person = 42;
const group = -1_001_234_567_890;
const eve = { id: 77, first_name: 'Eve' };
const groups = async (api: MessengerApi) =>
  (await api.call('GET', '/api/v1/messenger-groups', { token: api.token })).body['messenger_groups'] as {
    chat_id: string;
  }[];

void t.test('an update is kept once, by whatever way and however often it comes, and acted upon once', async (t) => {
  const api = await messengerApi(t);
  const secrets = webhookSecrets(api.bot);
  const path = `/api/v1/messenger-updates/${secrets.path}`;
  const headers = { 'x-telegram-bot-api-secret-token': secrets.header };
  api.messenger.chats.set(eve.id, { type: 'private' });
  const update = api.messenger.write(eve.id, eve, '/help');
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => api.call('POST', path, { body: update, headers })),
  );
  t.ok(answers.every(({ status }) => status === 200));
  await api.works();
  t.equal(api.messenger.sent.length, 1);
  for (const [what, to, with_] of [
    ['another address', '/api/v1/messenger-updates/wrong', headers],
    ['no header', path, {}],
    ['another header', path, { 'x-telegram-bot-api-secret-token': secrets.path }],
  ] as const) {
    t.equal(
      (await api.call('POST', to, { body: api.messenger.write(eve.id, eve, '/help'), headers: with_ })).status,
      404,
      what,
    );
  }
  for (const body of [
    '{',
    '[]',
    'null',
    '{"update_id":-1}',
    '{"update_id":"1","message":{}}',
    JSON.stringify({ update_id: 9e15, message: [] }),
  ]) {
    t.equal((await api.call('POST', path, { body, headers })).status, 200, `${body} is not sent again and again`);
  }
});

void t.test('the longest messages of strangers keep nobody from being heard', async (t) => {
  const api = await messengerApi(t);
  api.messenger.chats.set(eve.id, { type: 'private' });
  const text = 'ж'.repeat(4_096);
  for (let number = 1; number < 100; number += 1) {
    const said = { message_id: number, date: 0, chat: { id: group, type: 'supergroup' }, from: eve, text };
    api.messenger.tell({ message: { ...said, reply_to_message: said } });
  }
  api.messenger.write(eve.id, eve, '/help');
  await api.works();
  t.not(api.last(eve.id), '');
});

void t.test(
  'updates are asked for by one replica, from where the last one was, with nothing that was not asked for',
  async (t) => {
    const api = await messengerApi(t);
    const first = { ...api.context, replica: 'first' };
    const second = { ...api.context, replica: 'second' };
    const receive = async (context: typeof first) => receiveOnce(context, api.bot, quietLog);
    const asked = () =>
      api.messenger.calls.filter(({ method }) => method === 'getUpdates').map(({ params }) => params['offset']);
    api.messenger.chats.set(eve.id, { type: 'private' });
    const { update_id: one } = api.messenger.write(eve.id, eve, '/help');
    await receive(first);
    t.match(await receive(second), { pauseMs: 5_000 }, 'the other has the lease');
    const { update_id: two } = api.messenger.write(eve.id, eve, '/list');
    await receive(first);
    t.same(asked(), [undefined, one + 1]);
    api.messenger.tell({ message_reaction: {} });
    api.messenger.write(eve.id, eve, '/status');
    api.clock.nowMs += 61_000;
    await receive(second);
    t.same(asked(), [undefined, one + 1, two + 1], 'after a minute without it another one goes on');
    t.match(await receive(first), { pauseMs: 5_000 });
    t.same(
      api.messenger.calls.map(({ method }) => method).filter((method) => method === 'deleteWebhook').length,
      2,
      'each has made sure that there is no webhook',
    );
    t.same(api.messenger.calls.findLast(({ method }) => method === 'getUpdates')?.params['allowed_updates'], [
      'message',
      'callback_query',
      'my_chat_member',
    ]);
    await api.acts();
    t.equal(api.messenger.sent.length, 3, 'nothing was lost or doubled');
  },
);

void t.test('over https a webhook is set, and a replica that stops hands on', async (t) => {
  const api = await messengerApi(t, { context: { publicUrl: 'https://status.example' } });
  api.messenger.fail = { status: 500 };
  await t.rejects(receiveOnce(api.context, api.bot, quietLog));
  api.messenger.fail = undefined;
  const running = startReceiving({ ...api.context, replica: 'first' }, api.bot, quietLog);
  while (api.messenger.webhook() === null) await new Promise((resolve) => setTimeout(resolve, 20));
  const secrets = webhookSecrets(api.bot);
  t.match(api.messenger.webhook(), {
    url: `https://status.example/api/v1/messenger-updates/${secrets.path}`,
    secret_token: secrets.header,
    allowed_updates: ['message', 'callback_query', 'my_chat_member'],
  });
  await running.stop();
  t.match(await receiveOnce({ ...api.context, replica: 'second' }, api.bot, quietLog), { pauseMs: 20_000 });
});

void t.test('a bot that may write no more forgets the group, and alerts are told', async (t) => {
  const api = await messengerApi(t);
  await api.group(group);
  api.messenger.tell({
    my_chat_member: {
      chat: { id: group, type: 'supergroup', title: 'x' },
      from: eve,
      date: 1,
      old_chat_member: { status: 'member' },
      new_chat_member: { status: 'kicked' },
    },
  });
  await api.works();
  t.same(await groups(api), []);
  t.same(api.hooked, [['gone', group]]);
  await api.group(-5);
  api.messenger.chats.set(-5, { type: 'group', trouble: 'kicked' });
  api.messenger.write(-5, eve, '/list');
  await api.works();
  t.same(await groups(api), [], 'also when only the answer says it');
  t.same(api.hooked, [
    ['gone', group],
    ['gone', -5],
  ]);
});

void t.test('a group that gets another number stays linked, and is answered there', async (t) => {
  const api = await messengerApi(t);
  await api.group(-5);
  api.messenger.chats.set(group, { type: 'supergroup' });
  api.messenger.chats.set(-5, { type: 'group', trouble: { movedTo: group } });
  api.messenger.write(-5, eve, '/list');
  await api.works();
  t.match(await groups(api), [{ chat_id: String(group) }]);
  t.match(api.last(group), /No monitors/);
  t.same(api.hooked, [['moved', -5, group]]);
  api.messenger.chats.set(-6, { type: 'supergroup' });
  api.messenger.tell({
    message: {
      message_id: 1,
      date: 1,
      from: eve,
      chat: { id: group, type: 'group', title: 'x' },
      migrate_to_chat_id: -6,
    },
  });
  api.messenger.tell({
    message: {
      message_id: 2,
      date: 1,
      from: eve,
      chat: { id: -6, type: 'supergroup', title: 'x' },
      migrate_from_chat_id: group,
    },
  });
  await api.works();
  t.match(await groups(api), [{ chat_id: '-6' }]);
});

void t.test(
  'a flood is answered once a second and 20 times a minute, then it waits; too much of it is dropped',
  async (t) => {
    const api = await messengerApi(t);
    await api.group(group);
    const before = api.messenger.sent.length;
    for (let index = 0; index < 40; index += 1) api.messenger.write(group, eve, '/help');
    await api.receives();
    for (let second = 0; second < 30; second += 1) await api.acts();
    const within = api.messenger.sent.length - before;
    t.ok(within >= 1 && within <= 19, `with the greeting at most 20 in this minute: ${within}`);
    api.clock.nowMs += 60_000;
    await api.acts();
    t.ok(api.messenger.sent.length - before > within, 'then it goes on');
    for (let index = 0; index < 90; index += 1) api.messenger.write(group, eve, '/help');
    await api.receives();
    await dropFlood(api.database.worker, api.clock.nowMs);
    const waiting = await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from messenger_updates where done_at is null`);
    t.equal(waiting, 50);
  },
);

void t.test(
  'when the messenger asks to wait, nothing goes to that chat until then, and the command is not done again',
  async (t) => {
    const api = await messengerApi(t);
    const ada = await api.linked(api.token, person);
    api.messenger.chats.set(person, { type: 'private', trouble: { retryAfterSeconds: 30 } });
    api.messenger.write(person, ada, '/mute 1h');
    await api.works();
    const calls = () => api.messenger.calls.filter(({ method }) => method === 'sendMessage').length;
    const asked = calls();
    api.messenger.chats.set(person, { type: 'private' });
    await api.acts();
    t.equal(calls(), asked, 'it waits');
    api.clock.nowMs += 30_000;
    await api.acts();
    t.match(api.last(person), /Muted/);
    t.equal(api.hooked.filter(([what]) => what === 'mute').length, 1, 'muted once');
  },
);

void t.test('buttons act by the rights of whoever presses them', async (t) => {
  const api = await messengerApi(t);
  const ada = await api.linked(api.token, person);
  await api.group(group);
  const shop = await api.monitor({ name: 'Shop' });
  await api.turns(shop.id, 'DOWN', api.clock.nowMs - 1_000);
  await api.passes(4_000);
  const [incident] = (await api.incidents('GET'))['incidents'] as { id: number; status: string }[];
  const id = incident?.id ?? 0;
  const message = { chatId: group, messageId: 1, html: '', text: '', keyboard: {} };
  api.messenger.sent.push(message);
  const press = async (from: { id: number; first_name: string }, data: string) => {
    const query = api.messenger.press(message, from, data);
    await api.works();
    return api.messenger.answered.get(query);
  };
  const status = async () => (await api.incidents('GET', `/${id}`))['status'];
  t.match(await press(eve, `ack:${id}`), /do not know you/);
  const bob = await api.account('bob@example.com');
  const them = await api.linked(bob.accessToken, 99);
  t.match(await press(them, `ack:${id}`), /gone, or you may not see/);
  t.match(await press(them, `mute:${api.workspaceId}:60`), /gone, or you may not see/);
  for (const data of ['', 'ack:', 'ack:0', 'ack:1;drop', `ack:${'9'.repeat(30)}`, 'mute:1', 'x'.repeat(64)]) {
    t.match(await press(ada, data), /did not work/, data);
  }
  t.equal(await status(), 'open');
  t.equal(await press(ada, `ack:${id}`), 'Acknowledged');
  t.equal(await status(), 'acknowledged');
  t.same(message.keyboard, {
    inline_keyboard: [[{ text: '🔕 Mute for 1 h', callback_data: `mute:${api.workspaceId}:60` }]],
  });
  t.equal(await press(ada, `mute:${api.workspaceId}:60`), 'Muted for an hour');
  await api.incidents('POST', `/${id}/resolve`);
  t.match(await press(ada, `ack:${id}`), /resolved already/);
  const done = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'incident' and user_id = ${api.owner.id} and remote_address = 'messenger'`);
  t.same(done, ['incident.acknowledged']);
});

void t.test('an update that nobody wrote by hand is read without harm', async (t) => {
  for (const odd of [null, 1, 'x', [], {}, { update_id: 1.5 }, { update_id: 1, message: { chat: 5 } }])
    t.doesNotThrow(() => readUpdate(odd));
  t.end();
});
