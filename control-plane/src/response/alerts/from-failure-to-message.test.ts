import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { accountsCapability } from '../../identity/accounts/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { engineRecordsIn } from '../../testing/engine-records.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability } from '../incidents/index.ts';
import { tellDue } from '../incidents/job.ts';
import { alertParts } from './gateway.ts';
import { alertsCapability } from './index.ts';
import { startAlerting } from './job.ts';
import { alertsApi } from './rules/testing.ts';

/** A receiver of webhooks on loopback, with what it was sent. */
async function receiver(t: TestContext) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      bodies.push(body);
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** The API with the engine, and mails as they would be handed to a server. */
async function world(t: TestContext, more: Parameters<typeof alertsApi>[1] = []) {
  const mails: string[] = [];
  const api = await alertsApi(t, more, {
    allowedPrivateHooks: ['127.0.0.0/8'],
    mailer: { send: async ({ text }) => void mails.push(text) },
  });
  await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${api.owner.id}`);
  const alerting = await startAlerting(alertParts)(api.context, quietLog);
  t.teardown(() => alerting.stop());
  const consumers = [...(incidentsCapability.consumers ?? []), ...(alertsCapability.consumers ?? [])];
  // What waits for company is told at once.
  const later = { ...api.context, now: () => Date.now() + 5_000 };
  const consume = async (): Promise<void> => {
    while ((await workOnce(api.context, consumers)) + (await tellDue(later)) > 0);
  };
  return {
    api,
    mails,
    /** Tells a change of a monitor's status, as the ingest does. */
    turn: async (monitorId: number, from: string, to: string, evidence: Readonly<Record<string, unknown>> = {}) => {
      const at = new Date().toISOString();
      const payload = {
        monitor_id: monitorId,
        workspace_id: api.workspaceId,
        from,
        to,
        at,
        detected_at: at,
        evidence,
        range_started_at: at,
      };
      await api.database.worker.transaction((tx) =>
        enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
      );
    },
    /** Until something is there; works off the outbox meanwhile. */
    until: async <Found>(look: () => Found | undefined | Promise<Found | undefined>): Promise<Found> => {
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        await consume();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

void t.test(
  'a failure is told at once, also to whom is named later; the message acknowledges; its end is told',
  async (t) => {
    const { bodies, url } = await receiver(t);
    const { api, mails, turn, until } = await world(t);
    const { id: monitorId } = await api.monitor({ name: 'Shop' });
    const config = await api.call('POST', '/api/v1/alert-channel-configs', {
      token: api.token,
      body: { channel: 'webhook', settings: { destinations: [{ key: 'a', name: 'A', url }] } },
    });
    t.equal(config.status, 201, config.text);

    // The control plane checks until a probe is there.
    await turn(monitorId, 'UP', 'DOWN', { voters: [{ voter: 0, vote: 'DOWN', sinceUs: 0, error: 0 }] });
    // By the alert that the account was made with.
    const mail = await until(() => mails.find((text) => text.includes('Shop')));
    t.match(mail, 'Seen from the control plane.\n');
    const target = { channel: 'webhook', config_id: Number(config.body['id']), target: 'a' };
    await api.alert({ name: 'Hook', steps: [{ targets: [target] }] });
    const hooked = JSON.parse(await until(() => bodies.find((body) => body.includes('Shop')))) as { data: object };
    t.match(hooked.data, { votes: [{ probe: null, region: 'central', vote: 'DOWN', code: null }] });
    t.same(engineRecordsIn(hooked), [], 'what leaves is readable');

    const link = /\/alerts\/snooze\/[\w-]{43}/.exec(mail)?.[0] ?? 'no link';
    t.match((await api.call('GET', link)).text, 'value="acknowledge"');
    const pressed = await api.call('POST', link, {
      body: 'action=acknowledge',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    t.equal(pressed.status, 200);
    t.notMatch(pressed.text, 'value="acknowledge"');

    await turn(monitorId, 'DOWN', 'UP');
    const kinds = await until(async () => {
      const { body } = await api.alerts('GET', '/history?status=sent');
      const told = (body['history'] as { channel: string; kind: string }[]).map((one) => `${one.channel} ${one.kind}`);
      return told.filter((one) => one.endsWith('resolved')).length === 2 ? told : undefined;
    });
    t.ok(kinds.includes('webhook opened') && kinds.includes('email opened'), kinds.join());
    t.notMatch(
      (await api.alerts('GET', '/history')).text,
      '/alerts/snooze/',
      'histories hold no link that does something',
    );
  },
);

void t.test(
  'what people write of an incident is told in their words, also when more happens before it leaves',
  async (t) => {
    const { bodies, url } = await receiver(t);
    const { api, turn, until } = await world(t);
    const { id: monitorId } = await api.monitor({ name: 'Shop' });
    const config = await api.call('POST', '/api/v1/alert-channel-configs', {
      token: api.token,
      body: { channel: 'webhook', settings: { destinations: [{ key: 'a', name: 'A', url }] } },
    });
    const target = { channel: 'webhook', config_id: Number(config.body['id']), target: 'a' };
    const events = ['monitor.down', 'incident.updated', 'incident.acknowledged'];
    await api.alert({ name: 'Hook', events, steps: [{ targets: [target] }] });
    await turn(monitorId, 'UP', 'DOWN');
    const opened = await until(() => bodies.find((body) => body.includes('alert.opened')));
    const { data } = JSON.parse(opened) as { data: { incident: { id: number } } };
    const incident = `/api/v1/incidents/${data.incident.id}`;
    const say = async (kind: string, body: string) => {
      const answer = await api.call('POST', `${incident}/updates`, { token: api.token, body: { kind, body } });
      t.equal(answer.status, 201, kind);
    };
    await say('identified', 'A digger has found our cable.');
    await until(() => bodies.find((body) => body.includes('A digger has found our cable.')));
    await say('monitoring', 'The cable is joined\nand under the earth again.');
    const later = await until(() => bodies.find((body) => body.includes('The cable is joined')));
    t.match(JSON.parse(later), {
      type: 'alert.updated',
      summary: 'The cable is joined and under the earth again.',
      data: { update: { reason: 'update', text: 'The cable is joined\nand under the earth again.' } },
    });
    t.equal(bodies.filter((body) => body.includes('A digger')).length, 1, 'each in its own message');
    const patched = await api.call('PUT', incident, {
      token: api.token,
      body: { severity: 'critical', title: 'The cable in Main Street' },
    });
    t.equal(patched.status, 200, 'changed');
    const changed = await until(() => bodies.find((body) => body.includes('"reason":"changed"')));
    t.match(JSON.parse(changed), { title: /The cable in Main Street/, data: { update: { text: null } } });
    await say('resolved', 'The cable lies deeper now.');
    const resolved = await until(() => bodies.find((body) => body.includes('alert.resolved')));
    t.match(JSON.parse(resolved), {
      summary: / Closing words: The cable lies deeper now\.$/,
      data: { resolution: 'manual', closing_words: 'The cable lies deeper now.' },
    });
  },
);

void t.test('messages speak the language that their person has now, unless the target has its own', async (t) => {
  const { bodies, url } = await receiver(t);
  const { api, mails, turn, until } = await world(t, [accountsCapability]);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const destinations = ['follows', 'own'].map((key) => ({ key, name: key, url: `${url}${key}` }));
  const config = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'webhook', settings: { destinations } },
  });
  t.equal(config.status, 201, config.text);
  const hook = { channel: 'webhook', config_id: Number(config.body['id']) };
  const made = await api.alert({
    steps: [
      {
        targets: [
          { ...hook, target: 'follows' },
          { ...hook, target: 'own', locale: 'en', timezone: 'UTC' },
        ],
      },
    ],
  });
  t.match(made.steps[0]?.targets, [
    { locale: null, timezone: null },
    { locale: 'en', timezone: 'UTC' },
  ]);
  const profile = await api.call('PATCH', '/api/v1/auth/me', {
    token: api.token,
    body: { locale: 'ru', timezone: 'Asia/Tokyo' },
  });
  t.equal(profile.status, 200, profile.text);
  t.equal((await api.read(made.id)).version, made.version, 'which is no change of the alert');
  const again = await api.alerts('PATCH', `/${made.id}`, { steps: made.steps });
  t.match(again, { status: 200, body: { version: made.version, steps: made.steps } }, 'and goes back as it came');

  await turn(monitorId, 'UP', 'DOWN');
  const texts = await until(() => (bodies.length === 2 && mails.length > 0 ? bodies : undefined));
  const titles = texts.map((text) => (JSON.parse(text) as { title: string }).title);
  t.same(titles.toSorted(), ['Shop is down', 'Shop не работает'], 'but for the one with a language of its own');
  const mail = mails.find((text) => text.includes('Shop'));
  t.match(mail, 'не работает');
  t.match(mail, 'GMT+9', 'in the zone of the person');

  const back = await api.call('PATCH', '/api/v1/auth/me/locale', { token: api.token, body: { locale: 'en' } });
  t.equal(back.status, 200, back.text);
  await turn(monitorId, 'DOWN', 'UP');
  const ends = await until(() => (bodies.length === 4 ? bodies.slice(2) : undefined));
  t.notOk(
    ends.some((text) => /[а-яё]/i.test(text)),
    'what is told later follows too',
  );
});

void t.test('the history has what is sent as a test, and knows channels by their aliases', async (t) => {
  const { bodies, url } = await receiver(t);
  const { api } = await world(t);
  const destinations = [
    { key: 'here', name: 'here', url },
    { key: 'nowhere', name: 'nowhere', url: 'http://127.0.0.1:1/' },
  ];
  const config = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'webhook', settings: { destinations } },
  });
  t.equal(config.status, 201, config.text);
  const configId = Number(config.body['id']);
  const targets = ['here', 'nowhere'].map((target) => ({ channel: 'webhook', config_id: configId, target }));
  const { id } = await api.alert({ name: 'Hook', steps: [{ targets }] });
  t.match((await api.alerts('POST', `/${id}/test`)).body, { ok: false, results: [{ ok: true }, { ok: false }] });
  t.equal(bodies.length, 1);
  const history = async (query = '') =>
    (await api.alerts('GET', `/history${query}`)).body['history'] as Record<string, unknown>[];
  const ofAlert = (await api.alerts('GET', `/${id}/history`)).body['history'] as Record<string, unknown>[];
  const by = (status: string) => ofAlert.find((entry) => entry['status'] === status);
  t.match(by('sent'), {
    alert_id: id,
    alert_name: 'Hook',
    event: 'test',
    kind: 'test',
    channel: 'webhook',
    attempts: 1,
    error_code: null,
    incident_id: null,
    subject: null,
    text: /Test message/,
  });
  t.match(by('failed'), { alert_id: id, kind: 'test', error_code: 'connect_failed', sent_at: null, text: null });
  t.equal(ofAlert.length, 2);

  const tried = { channel: 'webhook', config_id: configId, target: 'here' };
  t.match((await api.alerts('POST', '/test-send', tried)).body, { ok: true });
  const config2 = await api.call('POST', `/api/v1/alert-channel-configs/${configId}/test`, {
    token: api.token,
    body: { target: 'here' },
  });
  t.match(config2.body, { ok: true }, config2.text);
  const all = await history(`?workspace_id=${api.workspaceId}`);
  t.equal(all.length, 4, 'also those of no alert, in the workspace that is the own');
  t.match(all.slice(0, 2), [
    { alert_id: null, alert_name: null, kind: 'test', status: 'sent' },
    { alert_id: null, alert_name: null, kind: 'test', status: 'sent' },
  ]);
  t.equal(bodies.length, 3);

  const slack = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'slack', settings: { destinations: [{ key: 'ops', name: 'ops', url: `${url}services/T/B/x` }] } },
  });
  const room = { channel: 'slack', config_id: Number(slack.body['id']), target: 'ops' };
  await api.alerts('POST', '/test-send', room);
  for (const name of ['slack', 'team-chat']) {
    t.match(await history(`?channel=${name}`), [{ channel: 'team-chat', kind: 'test' }], name);
  }
  const unknown = await api.alerts('GET', '/history?channel=pigeon');
  t.match(unknown, { status: 422, body: { errors: [{ in: 'query', path: 'channel', code: 'unknown_channel' }] } });
  t.equal((await api.alerts('GET', `/${id}/history?channel=pigeon`)).status, 422);
});

void t.test('a room that two members name by configurations of their own hears a thing once', async (t) => {
  const { bodies, url } = await receiver(t);
  const { api, turn, until } = await world(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const eve = await api.account('eve@example.com');
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${api.workspaceId}, ${eve.id}, 'editor')`);
  for (const [token, key] of [
    [api.token, 'ops'],
    [eve.accessToken, 'everybody'],
  ] as const) {
    const config = await api.call('POST', '/api/v1/alert-channel-configs', {
      token,
      body: { channel: 'webhook', settings: { destinations: [{ key, name: key, url }] } },
    });
    const target = { channel: 'webhook', config_id: Number(config.body['id']), target: key };
    const alert = await api.call('POST', '/api/v1/alerts', {
      token,
      body: { workspace_id: api.workspaceId, name: key, steps: [{ targets: [target] }] },
    });
    t.equal(alert.status, 201, alert.text);
  }
  const statuses = (): Promise<readonly string[]> =>
    api.database.worker.anyFirst(sql.type(z.object({ text: z.string() }))`
      select alert_name || ' ' || kind || ' ' || status as text from notifications where channel = 'webhook' order by id`);
  await turn(monitorId, 'UP', 'DOWN');
  await until(async () => ((await statuses()).includes('ops opened sent') ? true : undefined));
  await turn(monitorId, 'DOWN', 'UP');
  await until(async () => ((await statuses()).some((text) => text.endsWith('resolved sent')) ? true : undefined));
  t.same(await statuses(), ['ops opened sent', 'everybody opened deduplicated', 'ops resolved sent']);
  t.equal(bodies.length, 2);
});
