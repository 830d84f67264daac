import t from 'tap';
import { z } from 'zod';
import { addMember } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { messengerApi, startOf } from './testing.ts';

const person = 42;
const group = -1_001_234_567_890;
const eve = { id: 77, first_name: 'Eve' };

void t.test('a person links their account by a link that works once', async (t) => {
  const api = await messengerApi(t);
  const path = '/api/v1/messenger-bot';
  t.match(await api.call('GET', path, { token: api.token }), {
    status: 200,
    body: { available: true, reason: null, username: 'parallax_test_bot', name: 'Parallax', link: null },
  });
  api.messenger.chats.set(person, { type: 'private' });
  api.messenger.chats.set(eve.id, { type: 'private' });
  const made = await api.call('POST', `${path}/link`, { token: api.token });
  t.match(made, { status: 200, body: { url: /^https:\/\/t\.me\/parallax_test_bot\?start=[\w-]{43}$/ } });
  const start = `/start ${startOf(made.body['url'])}`;
  api.messenger.write(person, { id: person, first_name: 'Ada <b>' }, start);
  await api.works();
  t.match(api.last(person), /Ada <b>.* you are linked/);
  t.match((await api.call('GET', path, { token: api.token })).body, {
    link: { way: 'bot', chat_id: '42', name: 'Ada <b>' },
  });
  api.messenger.write(eve.id, eve, start);
  await api.works();
  t.match(api.last(eve.id), /unknown, was used/);
  t.equal((await api.call('DELETE', `${path}/link`, { token: api.token })).status, 204);
  t.equal((await api.call('DELETE', `${path}/link`, { token: api.token })).status, 404);
  api.messenger.write(person, { id: person, first_name: 'Ada' }, '/status');
  await api.works();
  t.match(api.last(person), /I do not know you yet/);
});

void t.test('a link ends after 15 minutes, and links nobody who has another account', async (t) => {
  const api = await messengerApi(t);
  const bob = await api.account('bob@example.com');
  await api.linked(api.token, person);
  const link = async () =>
    startOf((await api.call('POST', '/api/v1/messenger-bot/link', { token: bob.accessToken })).body['url']);
  api.messenger.write(person, { id: person, first_name: 'Ada' }, `/start ${await link()}`);
  await api.works();
  t.match(api.last(person), /linked to another account/);
  api.messenger.chats.set(eve.id, { type: 'private' });
  const late = await link();
  api.clock.nowMs += 15 * 60_000;
  api.messenger.write(eve.id, eve, `/start ${late}`);
  await api.works();
  t.match(api.last(eve.id), /older than 15 minutes/);
});

void t.test('who signs in by the messenger is linked by that', async (t) => {
  const api = await messengerApi(t);
  await api.database.worker.query(sql.unsafe`
    insert into identities (user_id, way, issuer, subject) values (${api.owner.id}, 'messenger', 'https://telegram.org', '42')`);
  t.match((await api.call('GET', '/api/v1/messenger-bot', { token: api.token })).body, {
    link: { way: 'sign_in', chat_id: '42', name: null },
  });
  await api.monitor({ name: 'Shop' });
  api.messenger.chats.set(person, { type: 'private' });
  api.messenger.write(person, { id: person, first_name: 'Ada' }, '/list');
  await api.works();
  t.match(api.last(person), /Shop.*\(\d+\)/);
});

void t.test('a group is linked by its workspace, listed, and left when nobody uses it any more', async (t) => {
  const api = await messengerApi(t);
  await api.group(group);
  t.match(api.last(group), /linked to the workspace .*Default/);
  const list = () => api.call('GET', '/api/v1/messenger-groups', { token: api.token });
  const { body } = await list();
  t.match(body, {
    total: 1,
    messenger_groups: [
      {
        workspace_id: api.workspaceId,
        chat_id: String(group),
        title: `Group ${group}`,
        linked_by: api.owner.id,
        version: 1,
      },
    ],
  });
  const bob = await api.account('bob@example.com');
  const workspaces = await api.call('GET', '/api/v1/workspaces', { token: bob.accessToken });
  const [{ id: other } = { id: 0 }] = workspaces.body['workspaces'] as { id: number }[];
  const linked = await api.call('POST', '/api/v1/messenger-groups/link', {
    token: bob.accessToken,
    body: { workspace_id: other },
  });
  api.messenger.write(group, eve, `/start@parallax_test_bot ${startOf(linked.body['url'])}`);
  await api.works();
  const [{ id } = { id: 0 }] = body['messenger_groups'] as { id: number }[];
  t.equal((await api.call('DELETE', `/api/v1/messenger-groups/${id}`, { token: bob.accessToken })).status, 404);
  t.equal((await api.call('DELETE', `/api/v1/messenger-groups/${id}`, { token: api.token })).status, 204);
  t.match((await list()).body, { total: 0 });
  await api.departs();
  t.same(api.messenger.left, [], 'another workspace uses it');
  const [{ id: theirs } = { id: 0 }] = (await api.call('GET', '/api/v1/messenger-groups', { token: bob.accessToken }))
    .body['messenger_groups'] as { id: number }[];
  t.equal((await api.call('DELETE', `/api/v1/messenger-groups/${theirs}`, { token: bob.accessToken })).status, 204);
  await api.departs();
  t.same(api.messenger.left, [group]);
  await api.departs();
  t.same(api.messenger.left, [group], 'once');
});

void t.test('of fifty who open the link of a group at once, one links it', async (t) => {
  const api = await messengerApi(t);
  const body = { workspace_id: api.workspaceId };
  const link = await api.call('POST', '/api/v1/messenger-groups/link', { token: api.token, body });
  for (let index = 1; index <= 50; index += 1) {
    api.messenger.chats.set(-index, { type: 'group' });
    api.messenger.write(-index, eve, `/start@parallax_test_bot ${startOf(link.body['url'])}`);
  }
  await api.works();
  t.match((await api.call('GET', '/api/v1/messenger-groups', { token: api.token })).body, { total: 1 });
  t.equal(api.messenger.sent.filter(({ text }) => /is linked/.test(text)).length, 1);
});

void t.test('who lost the right to link a group before it was added does not link it', async (t) => {
  const api = await messengerApi(t);
  const bob = await api.account('bob@example.com');
  await addMember(api.database, api.workspaceId, bob.id, 'editor');
  const body = { workspace_id: api.workspaceId };
  const link = await api.call('POST', '/api/v1/messenger-groups/link', { token: bob.accessToken, body });
  await api.database.worker.query(sql.unsafe`update workspace_members set role = 'viewer' where user_id = ${bob.id}
    and workspace_id = ${api.workspaceId}`);
  t.match(await api.call('POST', '/api/v1/messenger-groups/link', { token: bob.accessToken, body }), { status: 403 });
  api.messenger.chats.set(group, { type: 'supergroup' });
  api.messenger.write(group, eve, `/start@parallax_test_bot ${startOf(link.body['url'])}`);
  await api.works();
  t.match(api.last(group), /may not change the workspace/);
  t.match((await api.call('GET', '/api/v1/messenger-groups', { token: api.token })).body, { total: 0 });
});

void t.test('commands read what a group shows, and write by the rights of whoever gives them', async (t) => {
  const api = await messengerApi(t);
  const shop = await api.monitor({ name: 'Shop & Co <b>' });
  await api.monitor({ name: 'Shopping' });
  await api.group(group);
  const say = async (text: string, from: { id: number; first_name: string } = eve) => {
    const before = api.messenger.sent.length;
    api.messenger.write(group, from, text);
    await api.works();
    return api.messenger.sent.length === before ? null : api.last(group);
  };
  const active = async () =>
    (await api.call('GET', `/api/v1/monitors/${shop.id}`, { token: api.token })).body['is_active'];
  t.match(await say('/status'), /Default.*\n.*2 unknown/s, 'who is not known reads');
  t.match(await say('/list@parallax_test_bot'), /Shop & Co <b>.*\n.*Shopping/s);
  t.equal(await say('/list@another_bot'), null, 'that is for another bot');
  t.equal(await say('/weather'), null, 'so may be this');
  t.equal(await say('hello everybody'), null);
  t.match(await say('/pause Shopping'), /do not know you/);
  const ada = await api.linked(api.token, person);
  t.match(await say('/pause shop', ada), /several.*Shop & Co.*Shopping/s);
  t.match(await say('/pause', ada), /Which one/);
  t.match(await say('/pause nothing like it', ada), /no monitor/);
  t.match(await say('/pause shop & co <B>', ada), /Shop & Co <b>.* is paused/, 'its name, whatever the case');
  t.equal(await active(), false);
  t.match(await say(`/resume ${shop.id}`, ada), /is checked again/);
  t.equal(await active(), true);
  const actions = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'monitor' and remote_address = 'messenger' order by id`);
  t.same(actions, ['monitor.paused', 'monitor.resumed']);
  t.match(await say('/mute', ada), /Muted until .*UTC.*1 alert\b/);
  t.match(await say('/mute 2 days', ada), /Muted/);
  t.match(await say('/mute for ever', ada), /For how long/);
  t.match(await say('/unmute', ada), /Not muted any more/);
  t.same(
    api.hooked.map(([what, workspace, chat]) => [what, workspace, chat]),
    Array.from({ length: 3 }, () => ['mute', api.workspaceId, group]),
  );
  await api.database.worker.query(
    sql.unsafe`update workspace_members set role = 'viewer' where user_id = ${api.owner.id}`,
  );
  t.match(await say('/pause Shopping', ada), /need to be editor/, 'rights are looked up at each command');
  await api.database.worker.query(sql.unsafe`delete from workspace_members where user_id = ${api.owner.id}`);
  t.match(await say('/pause Shopping', ada), /need to be editor/);
  t.equal(
    api.messenger.calls.filter(({ method }) => method === 'sendMessage').length,
    api.messenger.sent.length,
    'all were taken',
  );
});

void t.test('a group shows no other workspace of whoever writes there', async (t) => {
  const api = await messengerApi(t);
  const bob = await api.account('bob@example.com');
  const other = await api.call('GET', '/api/v1/workspaces', { token: bob.accessToken });
  const [{ id: bobs } = { id: 0 }] = other.body['workspaces'] as { id: number }[];
  await api.call('POST', '/api/v1/monitors', {
    token: bob.accessToken,
    body: { workspace_id: bobs, name: 'Secret', url: 'https://example.com/' },
  });
  await api.group(group);
  const them = await api.linked(bob.accessToken, 99);
  for (const text of ['/list', '/pause Secret', '/pause 1', '/mute']) {
    api.messenger.write(group, them, text);
    await api.works();
    t.notMatch(api.last(group), /Secret.*(unknown|paused)/, text);
  }
  t.match(api.last(group), /need to be editor/);
  api.messenger.write(99, them, '/list');
  await api.works();
  t.match(api.last(99), /Secret/);
});

void t.test('the bot knows heartbeats and webhook checks too', async (t) => {
  const api = await messengerApi(t);
  const { worker } = api.database;
  await api.monitor({ name: 'Shop' });
  await worker.query(sql.unsafe`
    insert into heartbeats (workspace_id, name, slug, schedule_type, timezone, expected_interval_seconds, grace_period_seconds,
      failures_before_alert, require_secret, resume_on_ping, methods, uuid_hash, sealed_uuid, secret_hash, status)
    select ${api.workspaceId}, name, name, 'period', 'UTC', 60, 60, 1, false, false, 'any', name::bytea, '', name::bytea, status
    from (values ('backup', 'down'), ('report', 'up'), ('cleaning', 'paused'), ('fresh', 'new')) as given (name, status)`);
  await worker.query(sql.unsafe`
    insert into webhook_checks (workspace_id, name, slug_hash, sealed_slug, signature, grace_period_seconds, status, reason)
    select ${api.workspaceId}, name, name::bytea, '', 'none', 60, status, case when status = 'down' then 'failed' end
    from (values ('deploy', 'down'), ('billing', 'degraded')) as given (name, status)`);
  await api.group(group);
  const say = async (text: string) => {
    api.messenger.write(group, eve, text);
    await api.works();
    return api.last(group);
  };
  const status = await say('/status');
  t.match(status, /1 unknown.*\n.*Heartbeats.*1 up.*1 down.*1 unknown.*1 paused\n.*backup.* — down/s);
  t.match(status, /Webhook checks.*1 down.*1 degraded\n.*deploy.* — down/s);
  t.notMatch(status, /report|cleaning|billing/, 'what is not down is counted');
  const list = await say('/list');
  t.match(list, /Shop.*\(\d+\).*Heartbeats\n.*backup.*cleaning.*fresh.*report.*Webhook checks\n.*deploy.*billing/s);
  t.notMatch(list, /backup \(|deploy \(/, 'without numbers, by which monitors are paused');
  const ada = await api.linked(api.token, person);
  await worker.query(sql.unsafe`update users set locale = 'ru' where id = ${api.owner.id}`);
  await worker.query(sql.unsafe`update heartbeats set deleted_at = now() where name <> 'backup'`);
  api.messenger.write(person, ada, '/status');
  await api.works();
  t.match(api.last(person), /Heartbeat-проверки.*не работает: 1.*Входящие вебхуки/s);
  t.notMatch(api.last(person), /на паузе/, 'what was deleted is gone');
});

void t.test('people are answered in their language', async (t) => {
  const api = await messengerApi(t);
  api.messenger.chats.set(eve.id, { type: 'private' });
  api.messenger.write(eve.id, { ...eve, language_code: 'ru' }, 'привет');
  await api.works();
  t.match(api.last(eve.id), /следит за вашими сервисами/);
  const ada = await api.linked(api.token, person);
  await api.database.worker.query(
    sql.unsafe`update users set locale = 'ru', timezone = 'Asia/Tokyo' where id = ${api.owner.id}`,
  );
  api.messenger.write(person, { ...ada, language_code: 'en' }, '/mute 30м');
  await api.works();
  t.match(api.last(person), /Тихо до .*Asia\/Tokyo.*1 оповещение/);
});
