import t from 'tap';
import type { TestContext } from '@parallax/testkit';
import webPushLibrary from 'web-push';
import { pushService } from '../../web-push/testing/push-service.ts';
import type { TestBrowser } from '../../web-push/testing/push-service.ts';
import type { SubscribedBrowsers } from '../channel.ts';
import { longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { startStandIn } from '../testing/stand-in.ts';
import { webPush as standIn } from '../testing/stand-ins/web-push.ts';
import { tryChannel } from '../testing/try-channel.ts';
import { webPush } from './web-push.ts';
import { subjectOf, treatmentOf } from './web-push/request.ts';

const vapid = webPushLibrary.generateVAPIDKeys();

/** Browsers without a database: those given, by their place from 1. */
function holding(...browsers: readonly TestBrowser[]) {
  const removed: number[] = [];
  const delivered: number[] = [];
  const known = browsers.map(({ endpoint, keys }, at) => ({ id: at + 1, name: `browser ${at + 1}`, endpoint, keys }));
  const held: SubscribedBrowsers = {
    find: async (id) => known.filter((one) => (id === null || one.id === id) && !removed.includes(one.id)),
    remove: async (ids) => void removed.push(...ids),
    noteDelivered: async (ids) => void delivered.push(...ids),
    vapidKeys: async () => vapid,
  };
  return { subscribed: held, removed, delivered };
}

async function world(t: TestContext, count: number) {
  const service = await pushService(t);
  const browsers = Array.from({ length: count }, (_each, at) => service.browser(vapid.publicKey, `browser ${at + 1}`));
  const held = holding(...browsers);
  const send = (target = 'all', message = sampleMessage(), more = {}) =>
    tryChannel(webPush, {
      settings: {},
      target,
      message,
      browsers: held.subscribed,
      ...(service.caCertificates === undefined ? {} : { caCertificates: service.caCertificates }),
      ...more,
    });
  return { service, browsers, send, ...held };
}

void t.test('every browser of the owner gets the message, encrypted for it and signed for its service', async (t) => {
  const { service, send, delivered, removed } = await world(t, 3);
  t.match(await send(), { ok: true });
  t.same(service.received.map(({ browser }) => browser).toSorted(), ['browser 1', 'browser 2', 'browser 3']);
  t.match(service.received[0], {
    notification: { title: 'Shop is down', tag: 'incident:17', url: 'https://monitor.example.com/incidents/17' },
    claims: { sub: 'https://monitor.example.com', aud: service.origin },
    headers: {
      urgency: 'high',
      ttl: '86400',
      topic: /^[A-Za-z0-9_-]{32}$/,
      'content-type': 'application/octet-stream',
    },
  });
  t.same(
    delivered.toSorted((a, b) => a - b),
    [1, 2, 3],
  );
  t.same(removed, []);
});

void t.test('one browser by its id, and no other', async (t) => {
  const { service, send } = await world(t, 2);
  t.match(await send('2'), { ok: true });
  t.same(
    service.received.map(({ browser }) => browser),
    ['browser 2'],
  );
  t.match(await send('3'), { ok: false, error: { code: 'unknown_target', fault: 'target', message: /Browser 3 / } });
});

void t.test('what is told later about the same thing takes the place of what was not delivered yet', async (t) => {
  const { service, send } = await world(t, 1);
  await send();
  await send('all', resolvedMessage());
  await send('all', sampleMessage({ subjectKey: 'incident:18' }));
  const topics = service.received.map(({ headers }) => headers['topic']);
  t.equal(topics[0], topics[1]);
  t.not(topics[0], topics[2]);
  t.same(
    service.received.map(({ headers }) => headers['urgency']),
    ['high', 'normal', 'high'],
  );
});

void t.test('the longest message goes in one record of 4,096 bytes', async (t) => {
  const { service, send } = await world(t, 1);
  for (const character of ['a', 'я', '👩‍👩‍👧‍👦']) {
    t.match(await send('all', longMessage(character)), { ok: true }, character);
    const bytes = service.received.at(-1)?.bytes ?? 0;
    t.ok(bytes <= 4_096 && bytes > 3_900, `${character}: ${bytes} bytes`);
  }
});

void t.test('a service that takes less is sent a shorter one at once', async (t) => {
  const { service, browsers, send } = await world(t, 1);
  browsers[0]?.meet({ status: 413 }, { status: 201 });
  t.match(await send('all', longMessage('я')), { ok: true });
  t.equal(service.requests(), 2);
  browsers[0]?.meet({ status: 413 });
  t.match(await send('all', longMessage('я')), { ok: false, error: { code: 'refused_message', fault: 'message' } });
  t.equal(service.requests(), 4, 'and not a third time');
});

void t.test('a subscription that is gone is forgotten, the others are told', async (t) => {
  const { service, browsers, send, removed, delivered } = await world(t, 3);
  browsers[0]?.meet({ status: 410 });
  browsers[1]?.meet({ status: 404 });
  t.match(await send(), { ok: true });
  t.same(
    removed.toSorted((a, b) => a - b),
    [1, 2],
  );
  t.same(delivered, [3]);
  t.match(await send(), { ok: true });
  t.equal(service.requests(), 4, 'nothing is sent to those any more');
  browsers[2]?.meet({ status: 410 });
  t.match(await send(), { ok: false, error: { fault: 'target', message: /No browser is subscribed/ } }, 'the last one');
  t.match(await send(), { ok: false, error: { code: 'unknown_target' } }, 'and when there is none');
});

void t.test('a browser that took it is enough, so that nobody is told twice', async (t) => {
  const { browsers, send, removed, delivered } = await world(t, 3);
  browsers[0]?.meet({ status: 429, headers: { 'retry-after': '60' } });
  browsers[1]?.meet({ status: 403 });
  t.match(await send(), { ok: true });
  t.same([removed, delivered], [[], [3]]);
  browsers[2]?.meet({ status: 500 });
  t.match(await send(), { ok: false, error: { fault: 'passing', retryAfterMs: 60_000 } });
});

void t.test('a key that the subscription was not made with is a fault of the configuration', async (t) => {
  const { service } = await world(t, 0);
  const { subscribed, removed } = holding(service.browser(webPushLibrary.generateVAPIDKeys().publicKey));
  const trial = { settings: {}, target: 'all', browsers: subscribed, caCertificates: service.caCertificates ?? '' };
  t.match(await tryChannel(webPush, trial), {
    ok: false,
    error: { code: 'refused_credentials', fault: 'configuration', message: /subscribe anew/i },
  });
  t.same(removed, []);
});

void t.test(
  'endpoints are addresses of tenants: private ones are denied, redirects not followed, strangers not trusted',
  async (t) => {
    const { service, browsers, send } = await world(t, 1);
    t.match(await send('all', sampleMessage(), { allowsLoopback: false }), {
      ok: false,
      error: { code: 'address_denied', fault: 'message' },
    });
    t.match(await send('all', sampleMessage(), { caCertificates: undefined }), {
      ok: false,
      error: { code: 'tls_failed' },
    });
    t.equal(service.requests(), 0);
    browsers[0]?.meet({ status: 307, headers: { location: `${service.origin}/elsewhere` } });
    t.match(await send(), { ok: false, error: { code: 'redirected' } });
    t.equal(service.requests(), 1);
  },
);

void t.test('neither endpoint nor keys stand in traces and errors', async (t) => {
  const { browsers, send } = await world(t, 1);
  const secrets = [
    new URL(browsers[0]?.endpoint ?? '').pathname.split('/')[2] ?? '',
    browsers[0]?.keys.auth ?? '',
    vapid.privateKey,
  ];
  for (const status of [201, 400, 403, 410, 429, 500]) {
    if (status !== 201) browsers[0]?.meet({ status });
    const result = await send();
    const shown = JSON.stringify([
      result.steps,
      result.ok ? result.delivered : [result.error.message, result.error.stack],
    ]);
    for (const secret of secrets) t.notOk(shown.includes(secret), `${status}`);
  }
});

void t.test('without browsers at hand it says so', async (t) => {
  t.match(await tryChannel(webPush, { settings: {}, target: 'all' }), { ok: false, error: { code: 'not_configured' } });
});

void t.test('a service over TLS and its stand-in of the contract agree', async (t) => {
  const running = await startStandIn(t, standIn);
  const send = () =>
    tryChannel(webPush, { settings: {}, target: standIn.target, browsers: standIn.browsers?.(running.baseUrl) });
  t.match(await send(), { ok: true });
  t.same(running.problems, []);
  for (const trouble of [
    'refused_credentials',
    'unknown_target',
    'rate_limited',
    'refused_message',
    'service_unavailable',
  ] as const) {
    running.meet(trouble);
    t.match(await send(), { ok: false, error: { code: trouble } }, trouble);
  }
});

void t.test('targets are `all` or a number', async (t) => {
  const parse = (text: string) => webPush.target.parse(text, {});
  for (const text of ['all', ' ALL ']) t.same(parse(text), { ok: true, target: 'all' });
  for (const text of ['17', '017']) t.same(parse(text), { ok: true, target: '17' });
  for (const text of ['', '0', '-1', '1.5', '2147483648', 'everybody', '１７', '1e3'])
    t.match(parse(text), { ok: false }, text);
  t.notOk(webPush.settings.safeParse({ more: 1 }).success);
});

void t.test('whom push services are told to turn to, and how urgent what is', async (t) => {
  t.equal(subjectOf('https://status.example.com/monitor'), 'https://status.example.com');
  t.equal(subjectOf('http://status.example.com'), 'mailto:postmaster@status.example.com');
  for (const url of [
    'http://localhost:8080',
    'https://localhost',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://monitor',
  ]) {
    t.equal(subjectOf(url), 'mailto:postmaster@parallax.invalid', url);
  }
  t.match(treatmentOf(sampleMessage({ severity: 'minor' })), { urgency: 'normal', ttlSeconds: 86_400 });
  t.match(treatmentOf(sampleMessage({ state: 'information', kind: 'information' })), { urgency: 'low' });
  t.match(treatmentOf(sampleMessage({ kind: 'test', state: 'information' })), { urgency: 'high', ttlSeconds: 600 });
});
