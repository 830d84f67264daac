import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { natsServer, quietLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { capabilities } from './capabilities.ts';
import { testApi } from './identity/testing.ts';
import { connectBus } from './platform/bus/nats-bus.ts';
import { sql } from './platform/database/pools.ts';
import { enqueue } from './platform/outbox/enqueue.ts';
import { workOnce } from './platform/outbox/worker.ts';
import { alertParts } from './response/alerts/gateway.ts';
import { startAlerting } from './response/alerts/job.ts';
import { decryptPush } from './response/channels/testing/decrypt-push.ts';
import { startStandIn } from './response/channels/testing/stand-in.ts';
import { pagerduty } from './response/channels/testing/stand-ins/pagerduty.ts';
import { tellDue } from './response/incidents/job.ts';
import { testBotApi } from './response/messenger/testing/bot-api.ts';

/*
 * What people and services are told, looked at where it arrives: the capabilities as they are wired together, and a receiver behind each channel.
 */

const personId = 42;

/** A browser with a push service in front of it, and what it was shown. */
async function browser(t: Test) {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys();
  const keys = { publicKey, privateKey: ecdh.getPrivateKey(), auth: randomBytes(16) };
  const shown: { readonly title: string; readonly body: string }[] = [];
  const show = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    shown.push(JSON.parse(decryptPush(await buffer(request), keys).toString('utf8')) as (typeof shown)[number]);
    response.writeHead(201).end();
  };
  const server = createServer((request, response) => void show(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const subscription = {
    endpoint: `http://127.0.0.1:${port}/push`,
    keys: { p256dh: publicKey.toString('base64url'), auth: keys.auth.toString('base64url') },
  };
  return { shown, subscription };
}

/** The whole API with the engine of alerts, an account whose address is confirmed, and receivers. */
async function world(t: Test) {
  const nats = await natsServer(t);
  const bus = await connectBus({ servers: nats.url, name: 'messages', log: quietLog });
  t.teardown(() => bus.close());
  const [chat, pager, { shown, subscription }] = [
    await testBotApi(t),
    await startStandIn(t, pagerduty),
    await browser(t),
  ];
  const mails: { readonly to: string; readonly subject: string; readonly text: string }[] = [];
  const api = await testApi(t, {
    capabilities,
    context: {
      bus,
      allowedPrivateTargets: ['127.0.0.0/8'],
      allowedPrivateHooks: ['127.0.0.0/8'],
      mailer: { send: async (mail) => void mails.push(mail) },
      signIn: { identityProviders: {}, messengerBotToken: chat.token },
      channels: {
        baseUrls: { messenger: chat.baseUrl, pagerduty: pager.baseUrl },
        hasMailServer: true,
        hasTeamChatApp: false,
      },
    },
  });
  const owner = await api.account('ada@example.com');
  const { accessToken: token } = owner;
  await api.database.worker.query(sql.unsafe`update users set email_verified = true, display_name = 'Ada'`);
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await api.call(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const workspaceId = Number((await call('GET', '/workspaces/default'))['id']);
  const alerting = await startAlerting(alertParts)(api.context, quietLog);
  t.teardown(() => alerting.stop());
  const consumers = capabilities.flatMap((capability) => capability.consumers ?? []);
  // What waits for company is told at once.
  const later = { ...api.context, now: () => Date.now() + 5_000 };
  const consume = async (): Promise<void> => {
    while ((await workOnce(api.context, consumers)) + (await tellDue(later)) > 0);
  };
  const about = (name: string) => mails.filter(({ subject }) => subject.includes(name));
  return {
    api,
    call,
    workspaceId,
    chat,
    /** What was sent to the pager, oldest first. */
    paged: () => pager.seen.map(({ json }) => json as Record<string, unknown>),
    shown,
    /** Mails whose subject has this name, oldest first. */
    about,
    /** A configuration of a channel. @returns the beginning of a target */
    channel: async (channel: string, settings: object) => ({
      channel,
      config_id: Number((await call('POST', '/alert-channel-configs', { channel, settings }))['id']),
    }),
    subscribe: () => call('POST', '/web-push/subscribe', subscription),
    alert: (targets: readonly object[], more: object = {}) =>
      call('POST', '/alerts', { workspace_id: workspaceId, name: 'Others', steps: [{ targets }], ...more }),
    monitor: async (name: string) =>
      Number((await call('POST', '/monitors', { workspace_id: workspaceId, name, url: 'http://127.0.0.1:9/' }))['id']),
    /** Tells a change of a monitor's status, as the ingest does. */
    turn: async (monitorId: number, from: string, to: string, at = new Date().toISOString()) => {
      const facts = { monitor_id: monitorId, workspace_id: workspaceId, from, to, at, detected_at: at };
      const vote = { voter: 0, vote: to, sinceUs: Date.parse(at) * 1_000, error: to === 'DOWN' ? 20 : 0 };
      const evidence = { rule: 'quorum', quorum: 1, voters: to === 'UNKNOWN' ? [] : [vote], missing: [] };
      const payload = { ...facts, evidence, range_started_at: at };
      await api.database.worker.transaction((tx) =>
        enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
      );
    },
    /** Until something is there; works off the outbox meanwhile. */
    until: async (what: string, look: () => boolean): Promise<void> => {
      for (const deadlineMs = Date.now() + 30_000; !look(); ) {
        if (Date.now() > deadlineMs) throw new Error(`${what} did not come`);
        await consume();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    /** Gives what is not to come the time in which it would. */
    rest: async () => {
      for (let passed = 0; passed < 20; passed += 1) {
        await consume();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}

const routingKey = 'pd3c1f0a9b8e7d6c5b4a39281706f5e4';
const pagerSettings = { destinations: [{ key: 'ops', name: 'Operations', routing_key: routingKey }] };

void t.test('a reset closes the alarm at the service, tells people nothing, and the outage anew once', async (t) => {
  const { call, channel, alert, monitor, turn, until, rest, about, paged } = await world(t);
  const pager = { ...(await channel('pagerduty', pagerSettings)), target: 'ops' };
  await alert([pager], { events: ['monitor.down', 'monitor.degraded'] });
  const id = await monitor('Shop');
  await turn(id, 'UP', 'DOWN');
  await until('the outage', () => about('Shop').length === 1 && paged().length === 1);
  const [opened] = paged();
  t.match(opened, { event_action: 'trigger', dedup_key: String });

  const reset = await call('POST', `/monitors/${id}/reset-stats`, { confirm: true });
  await turn(id, 'DOWN', 'UNKNOWN', String(reset['reset_at']));
  await until('its close', () => paged().length === 2);
  await rest();
  t.equal(paged()[1]?.['event_action'], 'resolve');
  t.equal(paged()[1]?.['dedup_key'], opened?.['dedup_key'], 'the alarm that was opened');
  t.equal(about('Shop').length, 1, 'nobody reads of it');
  t.match(await call('GET', '/alerts/history'), { total: 0 });
  t.match(await call('GET', '/incidents'), { total: 0 });

  await turn(id, 'UNKNOWN', 'DOWN');
  await until('the outage that lasts', () => about('Shop').length === 2 && paged().length === 3);
  await rest();
  t.match(about('Shop')[1], { subject: /Shop is down/ });
  t.equal(paged()[2]?.['event_action'], 'trigger');
  t.not(paged()[2]?.['dedup_key'], opened?.['dedup_key'], 'an alarm of its own');
  t.same([about('Shop').length, paged().length], [2, 3], 'once');

  const slow = await monitor('Slow');
  await turn(slow, 'UP', 'DEGRADED');
  await until('what is no incident', () => paged().length === 4);
  await call('POST', `/monitors/${slow}/reset-stats`, { confirm: true });
  await until('its close', () => paged().length === 5);
  t.match(paged()[4], { event_action: 'resolve', dedup_key: paged()[3]?.['dedup_key'] });
  t.same(about('Slow'), []);
  const { history } = (await call('GET', '/alerts/history')) as { history: { subject: { id: number } | null }[] };
  t.same(new Set(history.map(({ subject }) => subject?.id)), new Set([id]), 'the history knows nothing of it');
});

void t.test('who removes an incident while it lasts is named in the mail, and the recovery is mailed', async (t) => {
  const { call, monitor, turn, until, rest, about } = await world(t);
  const id = await monitor('Shop');
  await turn(id, 'UP', 'DOWN');
  await until('the outage', () => about('Shop').length === 1);
  const { incidents } = (await call('GET', '/incidents')) as { incidents: { id: number }[] };
  await call('DELETE', `/incidents/${incidents[0]?.id}`);
  await until('the removal', () => about('Shop').length === 2);
  const removed = about('Shop')[1];
  t.match(removed?.subject, /Shop is still down/);
  t.match(removed?.text.replaceAll(/\s+/g, ' '), /removed by Ada; Shop is still down/);
  t.notMatch(removed?.text, /check was deleted/);
  await turn(id, 'DOWN', 'UP');
  await until('the recovery', () => about('Shop').length === 3);
  await rest();
  t.equal(about('Shop').length, 3);
});

void t.test('chat, push and mail follow the language of the person when it changes', async (t) => {
  const { api, call, channel, alert, monitor, turn, until, about, chat, shown, subscribe } = await world(t);
  await api.database.worker.query(sql.unsafe`
    insert into messenger_people (user_id, person_id, name) select id, ${personId}, 'Ada' from users`);
  chat.chats.set(personId, { type: 'private' });
  await subscribe();
  const { steps } = await alert([
    { ...(await channel('messenger', {})), target: String(personId) },
    { channel: 'web-push', target: 'all' },
  ]);
  t.match(steps, [
    {
      targets: [
        { locale: null, timezone: null },
        { locale: null, timezone: null },
      ],
    },
  ]);
  const id = await monitor('Shop');
  const told = () => [chat.sent.at(-1)?.text ?? '', shown.at(-1)?.title ?? '', about('Shop').at(-1)?.subject ?? ''];
  await turn(id, 'UP', 'DOWN');
  await until('the outage', () => told().every((text) => text.includes('Shop is down')));

  await call('PATCH', '/auth/me', { locale: 'ru', timezone: 'Asia/Tokyo' });
  await turn(id, 'DOWN', 'UP');
  await until('its end', () => told().every((text) => text.includes('Shop снова работает')));
  t.match(chat.sent.at(-1)?.text, /GMT\+9|UTC\+9/, 'in the zone of the person');
  await call('PATCH', '/auth/me', { locale: 'en' });
  await turn(id, 'UP', 'DOWN');
  await until('the next outage', () => told().every((text) => text.includes('Shop is down')));
});

void t.test('what a job sends as payload is told as text, and once', async (t) => {
  const { api, call, workspaceId, channel, alert, until, about, paged } = await world(t);
  await alert([{ ...(await channel('pagerduty', pagerSettings)), target: 'ops' }]);
  const made = await call('POST', `/heartbeats?workspace_id=${workspaceId}`, { name: 'Backup' });
  const ping = new URL(String(made['ping_url_by_uuid'])).pathname;
  t.equal((await api.call('GET', ping)).status, 200);
  const payload = { error: 'disk full', rows: 3, tables: ['a', 'b'] };
  const failed = await api.call('POST', `${ping}/fail`, { body: { duration_ms: 5, payload } });
  t.equal(failed.status, 200, failed.text);
  await until('the failure', () => about('Backup').length === 1 && paged().length === 1);
  for (const text of [about('Backup')[0]?.text ?? '', JSON.stringify(paged()[0])]) {
    t.match(text, /error: disk full/);
    t.equal(text.split('disk full').length - 1, 1, 'once');
    t.notMatch(text, /duration_ms|\{\\?"error/, 'and not as it stood in the body');
  }
});
