import { createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { limitsWith } from '../../../identity/plans/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import { published, signStandard, webhookChecksApi } from '../testing.ts';
import type { Sent, WebhookChecksApi } from '../testing.ts';

// Other tests of this file must not meet the limits.
const generous = limitsWith({ webhook_delivery: 100_000, webhook_refused: 100_000 });
const api = await webhookChecksApi(t, { context: { limits: generous } });
const row = z.record(z.string(), z.unknown());

const status = async (id: number) => (await api.checks('GET', `/${id}`)).body['status'];
const events = async (id: number, query = '') =>
  z.array(row).parse((await api.checks('GET', `/${id}/events${query}`)).body['events']);

/** The refused deliveries of a check, once there are so many: they are kept after the answer. */
async function refusedEvents(id: number, count: number): Promise<Record<string, unknown>[]> {
  for (;;) {
    const found = await events(id, '?accepted=false&page_size=100');
    if (found.length >= count) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

for (const [form, { secret, seconds, body, headers }] of Object.entries(published)) {
  void t.test(`the published delivery of ${form} is accepted over HTTP, and not with one bit flipped`, async (t) => {
    const check = await api.check({ signature: form, secret });
    t.equal(check.secret, null, 'a secret that was given is not shown');
    const real = api.clock.aheadMs;
    api.clock.aheadMs = seconds * 1_000 - Date.now();
    t.teardown(() => {
      api.clock.aheadMs = real;
    });
    const answer = await api.send(check.slug, { body, headers });
    t.equal(answer.status, 202, answer.text);
    t.same(answer.body, {});
    const flipped = Buffer.from(body);
    flipped[3] = (flipped[3] ?? 0) ^ 1;
    t.equal((await api.send(check.slug, { body: flipped, headers })).status, 404);
    api.clock.aheadMs = real;
    t.equal(await status(check.id), 'up');
    const [kept] = await events(check.id, '?accepted=true');
    t.match(kept, { accepted: true, reason: null, status: 'up', body, body_bytes: body.length });
    t.match(await refusedEvents(check.id, 1), [{ accepted: false, reason: 'signature_mismatch', status: null }]);
  });
}

void t.test('an HMAC of its own, and none', async (t) => {
  const custom = { header: 'X-Mine', encoding: 'base64', prefix: 'v1:', algorithm: 'sha512', id_header: 'X-Id' };
  const check = await api.check({ signature: 'custom_hmac', custom_hmac: custom });
  const signature = createHmac('sha512', check.secret ?? '')
    .update('hello')
    .digest('base64');
  const headers = { 'x-mine': `v1:${signature}`, 'x-id': 'a' };
  t.equal((await api.send(check.slug, { body: 'hello', headers })).status, 202);
  t.equal((await api.send(check.slug, { body: 'hallo', headers })).status, 404);
  t.match(await events(check.id, '?accepted=true'), [{ delivery_id: 'a' }]);
  const open = await api.check({ signature: 'none' });
  t.equal(open.secret, null);
  t.equal(open.has_secret, false);
  t.equal((await api.send(open.slug, { body: '', headers: {} })).status, 202, 'without a body');
  t.equal(await status(open.id), 'up');
});

void t.test('GitHub is told that its ping arrived, Slack gets its challenge back', async (t) => {
  const github = await api.check({ signature: 'github' });
  const signed = (secret: string | null, body: string, more: Record<string, string>): Sent => ({
    body,
    headers: {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret ?? '')
        .update(body)
        .digest('hex')}`,
      ...more,
    },
  });
  const ping = signed(github.secret, '{"zen": "Keep it logically awesome."}', { 'x-github-event': 'ping' });
  t.equal((await api.send(github.slug, ping)).status, 202);
  t.equal(await status(github.id), 'new', 'it says nothing of the service');
  t.match(await events(github.id), [{ reason: 'ping', accepted: true, status: null }]);
  const slack = await api.check({ signature: 'slack' });
  const seconds = Math.floor(Date.now() / 1_000);
  const body =
    '{"token": "t", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", "type": "url_verification"}';
  const mac = createHmac('sha256', slack.secret ?? '')
    .update(`v0:${seconds}:${body}`)
    .digest('hex');
  const asked = { body, headers: { 'x-slack-request-timestamp': String(seconds), 'x-slack-signature': `v0=${mac}` } };
  const answer = await api.send(slack.slug, asked);
  t.equal(answer.status, 200);
  t.same(answer.body, { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' });
  t.equal(await status(slack.id), 'new');
  const unsigned = await api.send(slack.slug, { body, headers: {} });
  t.equal(unsigned.status, 404, 'not to everybody');
  t.notOk(unsigned.text.includes('3eZbrw'));
});

void t.test('rules read the payload; others are told of failure and recovery once', async (t) => {
  const rules = [
    { path: '$.state', op: 'equals', value: 'failed', status: 'down' },
    { path: '$.state', op: 'matches', value: '^slow', status: 'degraded' },
  ];
  const check = await api.check({ name: 'nightly', rules });
  const say = (state: string) => api.send(check.slug, signStandard(check.secret ?? '', JSON.stringify({ state })));
  const before = (await api.told()).length;
  for (const state of ['fine', 'failed', 'failed', 'slowly', 'fine']) t.equal((await say(state)).status, 202);
  t.equal(await status(check.id), 'up');
  const told = (await api.told()).slice(before);
  t.match(told, [
    {
      kind: 'webhook_check.failed',
      payload: {
        webhook_check_id: check.id,
        workspace_id: api.workspaceId,
        name: 'nightly',
        from: 'up',
        to: 'down',
        rule: rules[0],
      },
    },
    { kind: 'webhook_check.recovered', payload: { webhook_check_id: check.id, from: 'down', to: 'degraded' } },
  ]);
  t.equal(told.length, 2);
  t.type(told[0]?.payload['event_id'], 'number');
  t.match(
    (await events(check.id)).map(({ status, rule }) => [status, rule]),
    [
      ['up', null],
      ['degraded', 1],
      ['down', 0],
      ['down', 0],
      ['up', null],
    ],
  );
  const broken = await api.send(check.slug, signStandard(check.secret ?? '', '{"state": "failed"'));
  t.equal(broken.status, 202, 'sent again it would be no better');
  t.equal(await status(check.id), 'up');
  t.match((await events(check.id))[0], { reason: 'invalid_json', status: null, body: '{"state": "failed"' });
  const stats = await api.checks('GET', `/${check.id}/stats`);
  t.match(stats.body, {
    hours: 24,
    accepted: 6,
    duplicates: 0,
    refused: 0,
    said: { up: 2, degraded: 1, down: 2 },
    missed: 0,
  });
});

void t.test('the same delivery counts once in a day, fifty at once too', async (t) => {
  const check = await api.check({ rules: [{ path: null, op: 'contains', value: 'bad', status: 'down' }] });
  const before = (await api.told()).length;
  const sent = signStandard(check.secret ?? '', 'bad');
  const all = await Promise.all(Array.from({ length: 50 }, () => api.send(check.slug, sent)));
  t.ok(all.every(({ status }) => status === 202));
  t.equal((await api.told()).length, before + 1);
  const kept = await events(check.id, '?page_size=100');
  t.equal(kept.filter(({ reason }) => reason === 'duplicate').length, 49);
  t.equal(kept.filter(({ reason }) => reason === null).length, 1);
  t.match((await api.checks('GET', `/${check.id}/stats`)).body, { accepted: 50, duplicates: 49, said: { down: 1 } });
  await api.database.worker.query(sql.unsafe`
    update webhook_check_events set received_at = received_at - interval '86401 seconds' where check_id = ${check.id}`);
  t.equal((await api.send(check.slug, sent)).status, 202);
  t.match((await events(check.id))[0], { reason: null, status: 'down' }, 'after a day it is another one');
});

void t.test('an unknown URL and a wrong signature are answered alike', async (t) => {
  const check = await api.check();
  const sent = signStandard('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'hello');
  const answers = [
    await api.send('whk_00000000000000000000000000000000000000', sent),
    await api.send('x', sent),
    await api.send(check.slug, sent),
    await api.send(check.slug, { body: 'hello', headers: {} }),
    await api.send(
      check.slug,
      signStandard(check.secret ?? '', 'hello', { seconds: Math.floor(Date.now() / 1_000) - 301 }),
    ),
    await api.send(
      check.slug,
      signStandard(check.secret ?? '', 'hello', { seconds: Math.floor(Date.now() / 1_000) + 400 }),
    ),
    await api.send(check.slug.toUpperCase(), sent),
    await api.send(check.slug, { ...sent, headers: { ...sent.headers, 'webhook-signature': '' } }),
    await api.send(check.slug, {
      ...sent,
      headers: { ...sent.headers, 'webhook-signature': `v1,${'A'.repeat(10_000)}` },
    }),
  ];
  const comparable = answers.map(({ status, body, headers }) => {
    const { request_id: _, ...rest } = body;
    const varying = new Set(['date', 'x-request-id', 'ratelimit']);
    return { status, rest, headers: [...headers].filter(([name]) => !varying.has(name)) };
  });
  t.match(comparable[0], { status: 404, rest: { code: 'not_found' } });
  for (const one of comparable) t.same(one, comparable[0]);
  // They are noted beside the answers, several at once.
  t.same((await refusedEvents(check.id, 6)).map(({ reason }) => String(reason)).sort(), [
    'signature_malformed',
    'signature_mismatch',
    'signature_missing',
    'signature_missing',
    'timestamp_in_future',
    'timestamp_too_old',
  ]);
  t.equal(await status(check.id), 'new');
  t.match((await api.checks('GET', `/${check.id}`)).body, { last_received_at: null });
});

void t.test('with the largest body neither takes much longer than the other', async (t) => {
  const check = await api.check();
  const body = 'x'.repeat(1_048_576);
  const sent = signStandard('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', body);
  const took: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let count = 0; count < 15; count += 1) {
    for (const [kind, slug] of [
      ['known', check.slug],
      ['unknown', `whk_${'0'.repeat(38)}`],
    ] as const) {
      const startedMs = performance.now();
      t.equal((await api.send(slug, sent)).status, 404);
      took[kind].push(performance.now() - startedMs);
    }
  }
  // The quickest of each: whatever else the machine does only adds to it.
  const ratio = Math.min(...took.known) / Math.min(...took.unknown);
  t.ok(ratio > 0.2 && ratio < 5, `${ratio}`);
});

void t.test('two signatures, from two senders or for one, are none', async (t) => {
  const check = await api.check();
  const { body, headers } = signStandard(check.secret ?? '', 'hello');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const twice = `webhook-signature: ${headers['webhook-signature']}\r\n`;
  const ask = (extra: string) =>
    rawRequest(
      `POST /api/v1/webhook-check/${check.slug} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 5\r\n${lines.join('')}${extra}\r\n${String(body)}`,
    );
  t.match(await ask(''), /^HTTP\/1\.1 202 /);
  t.match(await ask(twice), /^HTTP\/1\.1 404 /);
  t.match(await refusedEvents(check.id, 1), [{ reason: 'signature_malformed' }]);
});

void t.test('bodies may have 1 MiB and no byte more, and none goes on without end', async (t) => {
  const check = await api.check({ signature: 'none' });
  const send = (length: number) => api.send(check.slug, { body: Buffer.alloc(length, 'x'), headers: {} });
  t.equal((await send(1_048_576)).status, 202);
  const [kept] = await events(check.id);
  t.match(kept, { body_bytes: 1_048_576, body_truncated: true });
  t.ok(kept?.['body'] === 'x'.repeat(10_000));
  for (const [length, isCut] of [
    [10_000, false],
    [10_001, true],
  ] as const) {
    t.equal((await send(length)).status, 202);
    t.match((await events(check.id))[0], { body_bytes: length, body_truncated: isCut, body: 'x'.repeat(10_000) });
  }
  const refused = await send(1_048_577);
  t.equal(refused.status, 413);
  t.match(refused.body, { code: 'payload_too_large' });
  const unknown = await api.send(`whk_${'0'.repeat(38)}`, { body: Buffer.alloc(1_048_577), headers: {} });
  t.equal(unknown.status, 413, 'of no check too');
  t.match(await endless(check.slug), /^HTTP\/1\.1 413 /);
  t.match(await endless('x'), /^HTTP\/1\.1 413 /);
});

void t.test('any type and encoding is taken as it comes', async (t) => {
  const check = await api.check({ signature: 'none' });
  const send = (headers: Record<string, string>, body: string | Buffer<ArrayBuffer> = '{"a":1}') =>
    api.send(check.slug, { body, headers });
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/xml; charset=latin1', 'x/y']) {
    t.equal((await send({ 'content-type': type })).status, 202, type);
  }
  t.equal((await send({ 'content-encoding': 'gzip' })).status, 202);
  t.equal((await send({}, Buffer.from([0, 0xff, 0x41, 0xc3]))).status, 202);
  t.match((await events(check.id))[0], { body: '\u{FFFD}\u{FFFD}A\u{FFFD}', body_bytes: 4 });
  for (const method of ['GET', 'PUT', 'DELETE']) {
    t.equal((await api.call(method, `/api/v1/webhook-check/${check.slug}`)).status, 405, method);
  }
});

void t.test('of refused deliveries the last hundred are kept, of accepted ones the last hundred bodies', async (t) => {
  const check = await api.check({ signature: 'none' });
  await api.database.worker.query(sql.unsafe`
    insert into webhook_check_events (check_id, workspace_id, received_at, accepted, reason, body, body_truncated, body_bytes, remote_address)
    select ${check.id}, ${api.workspaceId}, now(), n > 120, case when n <= 120 then 'signature_mismatch' end, 'b' || n, false, 2, '192.0.2.1'
    from generate_series(1, 240) n`);
  t.equal((await api.send(check.slug, { body: 'new', headers: {} })).status, 202);
  const accepted = z.array(row).parse(
    await api.database.worker.any(sql.type(row)`
      select body from webhook_check_events where check_id = ${check.id} and accepted order by id desc`),
  );
  t.equal(accepted.length, 121);
  t.equal(accepted.filter(({ body }) => body !== null).length, 100);
  t.equal(accepted[0]?.['body'], 'new');
  await api.checks('PUT', `/${check.id}`, { signature: 'github' });
  t.equal((await api.send(check.slug, { body: 'newest', headers: {} })).status, 404);
  const refused = async () => (await api.checks('GET', `/${check.id}/events?accepted=false&page_size=100`)).body;
  while (z.array(row).parse((await refused())['events'])[0]?.['body'] !== 'newest');
  // Asked again: the number and the rows of the answer before may be from either side of the commit.
  t.equal((await refused())['total'], 100);
});

void t.test('clients that go before they are answered keep no place among what waits to be written', async (t) => {
  const check = await api.check();
  const { worker } = api.database;
  const request = `POST /api/v1/webhook-check/${check.slug} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\ngone`;
  await worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`lock table rate_limits in access exclusive mode`);
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(api.port, '127.0.0.1', () => socket.write(request));
      return socket.on('error', () => undefined);
    });
    const isWaiting = sql.type(
      z.object({}),
    )`select from pg_locks where not granted and relation = 'rate_limits'::regclass`;
    while (!(await tx.exists(isWaiting))) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket.once('close', resolve);
            socket.destroy();
          }),
      ),
    );
    t.equal((await fetch(`${api.url}/health/liveness`)).status < 500, true, 'the server has seen them go');
  });
  for (;;) {
    await api.send(check.slug, { body: 'still there', headers: {} });
    const kept = await events(check.id, '?accepted=false&page_size=100');
    if (kept.some(({ body }) => body === 'still there')) break;
  }
  t.pass('and later ones are written down');
});

void t.test('paused, deliveries are taken and count for nothing', async (t) => {
  const check = await api.check({ signature: 'none' });
  t.match((await api.checks('POST', `/${check.id}/pause`)).body, { status: 'paused' });
  t.equal((await api.send(check.slug, { body: 'x', headers: {} })).status, 202);
  t.match(await events(check.id), [{ accepted: true, reason: 'paused', status: null }]);
  t.equal(await status(check.id), 'paused');
  t.match((await api.checks('POST', `/${check.id}/resume`)).body, { status: 'new' });
  t.equal((await api.send(check.slug, { body: 'x', headers: {} })).status, 202);
  t.equal(await status(check.id), 'up');
});

void t.test('a deleted check, and one of a deleted workspace, answer like none', async (t) => {
  const check = await api.check({ signature: 'none' });
  t.equal((await api.checks('DELETE', `/${check.id}`)).status, 204);
  t.equal((await api.send(check.slug, { body: 'x', headers: {} })).status, 404);
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'doomed' } });
  const there = await api.check({ signature: 'none', workspace_id: Number(made.body['id']) });
  t.equal((await api.send(there.slug, { body: 'x', headers: {} })).status, 202);
  t.equal(
    (await api.call('DELETE', `/api/v1/workspaces/${String(made.body['id'])}`, { token: api.token })).status,
    204,
  );
  t.equal((await api.send(there.slug, { body: 'x', headers: {} })).status, 404);
});

void t.test('floods are limited: of refused deliveries by address, of accepted ones by check', async (t) => {
  const limited = await webhookChecksApi(t, {
    context: { limits: limitsWith({ webhook_delivery: 3, webhook_refused: 2 }) },
  });
  await earlyInTheMinute();
  const check = await limited.check();
  const bad = { body: 'x', headers: {} };
  const from = '203.0.113.7';
  const refused = (sent: Sent, slug = check.slug) => limited.send(slug, sent, { from });
  t.equal((await refused(bad)).status, 404);
  t.equal((await refused(bad, 'unknown')).status, 404);
  for (const slug of [check.slug, 'unknown']) isLimited(t, await refused(bad, slug), 2);
  const good = () => limited.send(check.slug, signStandard(check.secret ?? '', 'x', { id: randomUUID() }), { from });
  for (let count = 0; count < 3; count += 1)
    t.equal((await good()).status, 202, 'what is rightly signed is taken all the same');
  isLimited(t, await good(), 3);
});

function isLimited(t: Test, answer: Awaited<ReturnType<WebhookChecksApi['send']>>, quota: number): void {
  t.match(answer, { status: 429, body: { code: 'rate_limited' } });
  t.match(answer.headers.get('retry-after'), /^\d+$/);
  t.equal(answer.headers.get('ratelimit-policy'), `"minute";q=${quota};w=60`);
}

/** So that a window does not end while its requests are made. */
async function earlyInTheMinute(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 20_000) await new Promise((resolve) => setTimeout(resolve, left + 50));
}

/** Sends bytes over a connection of their own. @returns the answer, once the server has closed */
function rawRequest(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => (answer += data.toString('latin1')));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

/** Sends a body that does not end. @returns the answer */
function endless(slug: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(api.port, '127.0.0.1', () => {
      socket.write(
        `POST /api/v1/webhook-check/${slug} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      go();
    });
    let answer = '';
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const go = (): void => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', go);
    socket.on('data', (data) => {
      answer += data.toString('latin1');
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}
