import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { capabilities } from '../../capabilities.ts';
import { sql } from '../../platform/database/pools.ts';
import { memoryBus } from '../../testing/probes.ts';
import { limitsWith } from '../plans/index.ts';
import { testApi } from '../testing.ts';
import type { TestAnswer, TestCall } from '../testing.ts';
import { isLimited } from './unconfirmed.ts';

/* What an account that nobody has confirmed can have done in an installation that is open to all. */

const api = await testApi(t, {
  capabilities,
  context: { bus: memoryBus(), isPublished: true, limits: limitsWith() },
});
await api.account('operator@example.com');

type Person = {
  readonly id: number;
  readonly workspaceId: number;
  readonly call: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
};

async function newcomer(name: string): Promise<Person> {
  const { id, accessToken: token } = await api.account(`${name}@example.com`);
  const call: Person['call'] = (method, path, body, more = {}) =>
    api.call(method, path, { token, ...(body === undefined ? {} : { body }), ...more });
  const list = z.object({ workspaces: z.array(z.object({ id: z.number() })) });
  const [workspace] = list.parse((await call('GET', '/api/v1/workspaces')).body).workspaces;
  return { id, workspaceId: workspace?.id ?? 0, call };
}

const confirm = async (person: Person): Promise<void> => {
  await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${person.id}`);
};

let counter = 0;
const monitorBody = (workspaceId: number, more: object = {}) => ({
  workspace_id: workspaceId,
  name: `m ${(counter += 1)}`,
  url: `https://h${counter}.example/`,
  interval_seconds: 300,
  ...more,
});

function isRefused(t: Test, answer: TestAnswer, what: string): void {
  t.match(
    answer,
    { status: 403, body: { code: 'address_unconfirmed', detail: /confirm.*POST \/api\/v1\/auth\/verify-email/ } },
    what,
  );
}

async function monitorsOf(person: Person): Promise<number> {
  return z.number().parse((await person.call('GET', '/api/v1/monitors')).body['total']);
}

void t.test('three monitors, whichever way they are made, until the address is confirmed', async (t) => {
  const ada = await newcomer('ada');
  const second = Number((await ada.call('POST', '/api/v1/workspaces', { name: 'second' })).body['id']);
  const create = (workspaceId = ada.workspaceId) => ada.call('POST', '/api/v1/monitors', monitorBody(workspaceId));
  for (const workspaceId of [ada.workspaceId, second, ada.workspaceId]) {
    t.equal((await create(workspaceId)).status, 201);
  }
  isRefused(t, await create(), 'a fourth');
  isRefused(t, await create(second), 'in another workspace');
  const csv = (count: number) =>
    ada.call('POST', `/api/v1/monitors/import/csv?workspace_id=${second}`, undefined, {
      body: ['url,interval_seconds', ...Array.from({ length: count }, (_, at) => `https://i${at}.example/,300`)].join(
        '\n',
      ),
      headers: { 'content-type': 'text/csv' },
    });
  isRefused(t, await csv(1), 'by a file');
  const step = { name: 'get', method: 'GET', url: 'https://api.example/' };
  isRefused(
    t,
    await ada.call('POST', '/api/v1/api-checks', {
      workspace_id: second,
      name: 'api',
      url: 'https://api.example/',
      interval_seconds: 300,
      steps: [step],
    }),
    'as an API check',
  );
  t.equal(await monitorsOf(ada), 3, 'nothing was made');
  const { monitors } = (await ada.call('GET', '/api/v1/monitors')).body as { monitors: { id: number }[] };
  const [first] = monitors;
  t.equal((await ada.call('DELETE', `/api/v1/monitors/${first?.id}`)).status, 204);
  isRefused(t, await csv(2), 'two where there is room for one');
  t.equal((await csv(1)).status, 200, 'one');
  t.equal(await monitorsOf(ada), 3);
  await confirm(ada);
  t.equal((await create()).status, 201, 'confirmed');
});

void t.test('several at once are counted one after the other', async (t) => {
  const kim = await newcomer('kim');
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => kim.call('POST', '/api/v1/monitors', monitorBody(kim.workspaceId))),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 3);
  for (const answer of answers.filter(({ status }) => status !== 201)) isRefused(t, answer, 'the others');
});

void t.test('five minutes are the shortest interval', async (t) => {
  const lea = await newcomer('lea');
  isRefused(
    t,
    await lea.call('POST', '/api/v1/monitors', monitorBody(lea.workspaceId, { interval_seconds: 299 })),
    '299 s',
  );
  const made = await lea.call('POST', '/api/v1/monitors', monitorBody(lea.workspaceId));
  const route = `/api/v1/monitors/${String(made.body['id'])}`;
  isRefused(t, await lea.call('PATCH', route, { interval_seconds: 30 }), 'by a change');
  t.match((await lea.call('PATCH', route, { interval_seconds: 30 })).body, { errors: [{ path: '/interval_seconds' }] });
  const file = await lea.call('POST', `/api/v1/monitors/import/csv?workspace_id=${lea.workspaceId}`, undefined, {
    body: 'url,interval_seconds\nhttps://quick.example/,30',
    headers: { 'content-type': 'text/csv' },
  });
  t.match(file.body, { rows: [{ status: 'failed' }] }, 'by a file');
  // What was there before the limits, or before another address was taken, goes on as it is and may be changed.
  await api.database.worker.query(
    sql.unsafe`update monitors set interval_seconds = 20 where id = ${Number(made.body['id'])}`,
  );
  t.equal((await lea.call('PATCH', route, { interval_seconds: 20, name: 'renamed' })).status, 200);
  await confirm(lea);
  t.equal((await lea.call('PATCH', route, { interval_seconds: 30 })).status, 200, 'confirmed');
});

void t.test('a move to a workspace of theirs counts, too', async (t) => {
  const max = await newcomer('max');
  const rich = await newcomer('rich');
  await confirm(rich);
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${max.workspaceId}, ${rich.id}, 'editor')`);
  const ids: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    ids.push(Number((await rich.call('POST', '/api/v1/monitors', monitorBody(rich.workspaceId))).body['id']));
  }
  const move = (monitorIds: readonly number[]) =>
    rich.call('POST', '/api/v1/monitors/bulk', {
      action: 'move',
      monitor_ids: monitorIds,
      workspace_id: max.workspaceId,
    });
  isRefused(t, await move(ids), 'four');
  t.equal(await monitorsOf(max), 0);
  t.equal((await move(ids.slice(0, 3))).status, 200, 'three');
  isRefused(t, await rich.call('PATCH', `/api/v1/monitors/${ids[3]}`, { workspace_id: max.workspaceId }), 'a fourth');
  const quick = await rich.call('POST', '/api/v1/monitors', monitorBody(rich.workspaceId, { interval_seconds: 60 }));
  t.match((await move([Number(quick.body['id'])])).body, {
    monitors: [{ result: 'failed', code: 'address_unconfirmed' }],
  });
});

void t.test('a full workspace is not handed on to make room', async (t) => {
  const una = await newcomer('una');
  const taker = await newcomer('taker');
  const spare = Number((await una.call('POST', '/api/v1/workspaces', { name: 'spare' })).body['id']);
  for (let count = 0; count < 3; count += 1) await una.call('POST', '/api/v1/monitors', monitorBody(spare));
  const memberId = await api.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into workspace_members (workspace_id, user_id, role) values (${spare}, ${taker.id}, 'editor') returning id`);
  const hand = () => una.call('POST', `/api/v1/workspaces/${spare}/transfer`, { member_id: memberId });
  isRefused(t, await hand(), 'to somebody who is not confirmed either');
  await confirm(taker);
  t.equal((await hand()).status, 200, 'confirmed');
});

void t.test('three heartbeats and three webhook checks', async (t) => {
  const noa = await newcomer('noa');
  const heartbeat = () =>
    noa.call('POST', `/api/v1/heartbeats?workspace_id=${noa.workspaceId}`, { name: `h ${(counter += 1)}` });
  const check = () =>
    noa.call('POST', '/api/v1/webhook-checks', { workspace_id: noa.workspaceId, name: `w ${(counter += 1)}` });
  for (const make of [heartbeat, check]) {
    for (let count = 0; count < 3; count += 1) t.equal((await make()).status, 201);
    isRefused(t, await make(), 'a fourth');
  }
  const key = await noa.call('GET', `/api/v1/workspaces/${noa.workspaceId}`);
  const pinged = await noa.call('GET', `/api/v1/ping/${String(key.body['ping_key'])}/new-job?create=1`);
  t.equal(pinged.status, 403, 'made by a signal');
  const many = { checks: Array.from({ length: 2 }, (_, at) => ({ name: `job ${at}`, timeout: 3_600, grace: 60 })) };
  const file = await noa.call('POST', `/api/v1/heartbeats/import?workspace_id=${noa.workspaceId}`, many);
  t.notOk(file.text.includes('"created":2'), file.text);
  const { total } = (await noa.call('GET', '/api/v1/heartbeats')).body;
  t.equal(total, 3);
});

/** What has something checked or sent at once, with a call of each. */
async function trialsOf(person: Person): Promise<Readonly<Record<string, () => Promise<TestAnswer>>>> {
  const idOf = async (path: string, body: object): Promise<string> => {
    const made = await person.call('POST', path, { workspace_id: person.workspaceId, ...body });
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`);
    return String(made.body['id']);
  };
  const url = 'https://api.example/';
  const step = { name: 'get', method: 'GET', url };
  const monitor = await idOf('/api/v1/monitors', monitorBody(person.workspaceId));
  const check = await idOf('/api/v1/api-checks', { name: 'api', url, interval_seconds: 300, steps: [step] });
  const made = await person.call('POST', '/api/v1/alert-channel-configs', { channel: 'email' });
  const config = String(made.body['id']);
  const targets = [{ channel: 'email', target: 'somebody@example.org' }];
  const alert = await idOf('/api/v1/alerts', { name: 'tried', steps: [{ targets }] });
  const webhook = await idOf('/api/v1/webhooks', { name: 'tried', url: 'https://hooks.example/' });
  const post = (path: string, body?: object) => () => person.call('POST', path, body);
  return {
    'POST /api/v1/monitors/:monitor_id/check': post(`/api/v1/monitors/${monitor}/check`),
    'POST /api/v1/monitors/test': post('/api/v1/monitors/test', { workspace_id: person.workspaceId, url }),
    'POST /api/v1/api-checks/:id/run': post(`/api/v1/api-checks/${check}/run`),
    'POST /api/v1/api-checks/test': post('/api/v1/api-checks/test', {
      workspace_id: person.workspaceId,
      url,
      steps: [step],
    }),
    'POST /api/v1/alerts/:alert_id/test': post(`/api/v1/alerts/${alert}/test`),
    'POST /api/v1/alerts/test-send': post('/api/v1/alerts/test-send', { channel: 'email', target: 't@example.org' }),
    'POST /api/v1/webhooks/:id/test': post(`/api/v1/webhooks/${webhook}/test`, {}),
    'POST /api/v1/alert-channel-configs/:config_id/test': post(`/api/v1/alert-channel-configs/${config}/test`, {}),
  };
}

void t.test('ten tests and checks by hand an hour, all kinds together', async (t) => {
  const pam = await newcomer('pam');
  const answers: TestAnswer[] = [];
  const test = () =>
    pam.call('POST', '/api/v1/monitors/test', {
      workspace_id: pam.workspaceId,
      url: 'http://192.0.2.1/',
      timeout_seconds: 1,
    });
  for (let count = 0; count < 5; count += 1) answers.push(await test());
  for (let count = 0; count < 5; count += 1) {
    answers.push(
      await pam.call('POST', '/api/v1/alerts/test-send', { channel: 'email', target: `t${count}@example.org` }),
    );
  }
  t.notOk(answers.some(({ body }) => body['code'] === 'address_unconfirmed'));
  isRefused(t, await test(), 'the eleventh');
  const trials = await trialsOf(pam);
  const routes = capabilities.flatMap((capability) => capability.routes?.(api.context) ?? []);
  const names = routes.map(({ contract }) => `${contract.method} ${contract.path}`);
  t.same(
    // A run of a report asks no target, and names nobody whom its owner may not mail.
    names.filter((name) => /^POST (?!.*\/scheduled-reports\/).*\/(check|test|test-send|run)$/.test(name)).toSorted(),
    Object.keys(trials).toSorted(),
    'every route that has something done at once',
  );
  for (const [name, answer] of Object.entries(trials)) isRefused(t, await answer(), name);
  await confirm(pam);
  t.not((await test()).body['code'], 'address_unconfirmed');
});

void t.test('no mail goes to the addresses of others', async (t) => {
  const sam = await newcomer('sam');
  const victim = 'victim@example.org';
  const configs = '/api/v1/alert-channel-configs';
  isRefused(t, await sam.call('POST', `${configs}/mail-confirmations`, { target: victim }), 'a question for consent');
  isRefused(
    t,
    await sam.call('POST', `/api/v1/workspaces/${sam.workspaceId}/members`, { email: victim }),
    'an invitation',
  );
  const alert = await sam.call('POST', '/api/v1/alerts', {
    workspace_id: sam.workspaceId,
    name: 'mail',
    steps: [{ targets: [{ channel: 'email', target: victim }] }],
  });
  t.equal(alert.status, 201, alert.text);
  const asked = async () =>
    api.database.worker.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::integer as count from channel_targets where target = ${victim} and user_id = ${sam.id} and confirm_hash is not null`);
  t.equal(await asked(), 0, 'and their alert asks nobody');
  await confirm(sam);
  t.equal((await sam.call('POST', `${configs}/mail-confirmations`, { target: victim })).status, 202);
  t.equal(await asked(), 1);
});

void t.test('where the limits hold', async (t) => {
  const rules = { limits: limitsWith(), isPublished: true, channels: { hasMailServer: true } };
  const nobody = { isUnconfirmed: true, isAdministrator: false };
  t.ok(isLimited(nobody, rules));
  t.ok(isLimited({ ...nobody, isAdministrator: true }, rules));
  t.notOk(isLimited({ ...nobody, isUnconfirmed: false }, rules));
  t.notOk(isLimited(nobody, { ...rules, channels: { hasMailServer: false } }), 'nobody can confirm anything');
  t.ok(isLimited(nobody, { ...rules, isPublished: false }));
  t.notOk(isLimited({ ...nobody, isAdministrator: true }, { ...rules, isPublished: false }), 'who has just started it');
});
