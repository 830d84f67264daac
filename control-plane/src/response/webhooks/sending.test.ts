import { createPublicKey, verify } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { beginClaim, claimDeliveries, claimStatement, giveBack, waitingWebhooks } from './sending/claim.queries.ts';
import type { Claimed } from './sending/claim.queries.ts';
import { noteDeliveries } from './sending/outcomes.queries.ts';
import type { Done } from './sending/outcomes.queries.ts';
import { switchOffFull } from './upkeep/queries.ts';
import { only, sendingWorld, storeEvents } from './testing.ts';
import type { Received } from './testing.ts';

/** 20 MB of zeros in 20 kB; made once, since it takes longer than the sender waits. */
const bombBytes = gzipSync(Buffer.alloc(20_000_000));

const headersOf = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

void t.test('receivers verify with the libraries of the standard, also across a rotation with grace', async (t) => {
  const { api, run, receiver } = await sendingWorld(t);
  const hook = await api.webhook({ url: receiver.url, signature: 'both', headers: { 'X-Own': 'own value' } });
  const [eventId] = await storeEvents(api.database.worker, api.workspaceId, [{}]);
  await run();
  const [first] = receiver.received;
  if (first === undefined) throw new Error('nothing arrived');
  t.equal(first.headers['webhook-id'], eventId);
  t.equal(first.headers['x-own'], 'own value');
  const verified = (received: Received, secret: string): void => {
    t.match(new StandardWebhook(secret).verify(received.body, headersOf(received)), { type: 'monitor.down' });
    t.doesNotThrow(() => new SvixWebhook(secret).verify(received.body, headersOf(received)));
  };
  verified(first, hook.secret);
  const { public_key: publicKey } = (await api.webhooks('GET', `/${hook.id}`)).body;
  const asymmetric = ({ headers, body }: Received, key: unknown): boolean => {
    const spki = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(String(key).slice('whpk_'.length), 'base64'),
    ]);
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    return String(headers['webhook-signature'])
      .split(' ')
      .filter((one) => one.startsWith('v1a,'))
      .some((one) =>
        verify(
          null,
          Buffer.from(signed),
          createPublicKey({ key: spki, type: 'spki', format: 'der' }),
          Buffer.from(one.slice(4), 'base64'),
        ),
      );
  };
  t.ok(asymmetric(first, publicKey));
  t.notOk(asymmetric({ ...first, body: `${first.body} ` }, publicKey));
  const rotated = await api.webhooks('POST', `/${hook.id}/secret`, { grace_seconds: 600 });
  t.match(rotated, { status: 200, body: { secret: /^whsec_/, public_key: /^whpk_/ } });
  await storeEvents(api.database.worker, api.workspaceId, [{}]);
  await run();
  const second = receiver.received[1];
  if (second === undefined) throw new Error('the second did not arrive');
  verified(second, hook.secret);
  verified(second, String(rotated.body['secret']));
  t.ok(asymmetric(second, publicKey) && asymmetric(second, rotated.body['public_key']));
  await storeEvents(api.database.worker, api.workspaceId, [{}]);
  await run(601_000);
  const third = receiver.received[2];
  if (third === undefined) throw new Error('the third did not arrive');
  t.throws(() => new StandardWebhook(hook.secret).verify(third.body, headersOf(third)), 'the grace is over');
  t.match((await api.webhooks('GET', `/${hook.id}/stats`)).body, { success: 3, error: 0, attempts: 3, queued: 0 });
});

void t.test(
  'whoever verifies by one secret accepts all that comes, while secrets are exchanged under way',
  async (t) => {
    const { api, run, receiver } = await sendingWorld(t);
    const hook = await api.webhook({ url: receiver.url });
    // A receiver takes the new secret some time after it was made.
    let secret = hook.secret;
    let accepted = 0;
    const refused: string[] = [];
    receiver.answer = (_request, response) => {
      const last = receiver.received.at(-1);
      try {
        if (last === undefined) throw new Error('nothing arrived');
        new StandardWebhook(secret).verify(last.body, headersOf(last));
        new SvixWebhook(secret).verify(last.body, headersOf(last));
        accepted += 1;
        response.end();
      } catch (error) {
        refused.push(String(error));
        response.writeHead(401).end();
      }
    };
    for (let rotation = 0; rotation < 4; rotation += 1) {
      await storeEvents(api.database.worker, api.workspaceId, eventsFor(60));
      const sending = run();
      while (receiver.received.length < rotation * 120 + 20) await new Promise((resolve) => setTimeout(resolve, 1));
      const rotated = await api.webhooks('POST', `/${hook.id}/secret`, { grace_seconds: 600 });
      await sending;
      await storeEvents(api.database.worker, api.workspaceId, eventsFor(60));
      const more = run();
      while (receiver.received.length < rotation * 120 + 90) await new Promise((resolve) => setTimeout(resolve, 1));
      secret = String(rotated.body['secret']);
      await more;
    }
    t.same(refused, []);
    t.equal(accepted, 480);
    t.match((await api.webhooks('GET', `/${hook.id}/stats`)).body, { success: 480, error: 0, attempts: 480 });
  },
);

void t.test('what a receiver answers decides what becomes of a delivery', async (t) => {
  const { api, run, receiver } = await sendingWorld(t);
  const secondsOf = (body: Record<string, unknown>): number => {
    const [last] = z
      .array(z.object({ at: z.string() }))
      .parse(body['attempt_list'])
      .slice(-1);
    return (Date.parse(String(body['next_attempt_at'])) - Date.parse(String(last?.at))) / 1_000;
  };
  const tried = async (answer: typeof receiver.answer) => {
    receiver.answer = answer;
    const { id } = await api.webhook({ url: receiver.url });
    await storeEvents(api.database.worker, api.workspaceId, [{}]);
    await run();
    const body = await only(api, id);
    const webhook = (await api.webhooks('GET', `/${id}`)).body;
    await api.webhooks('DELETE', `/${id}`);
    return { body, webhook, seconds: secondsOf(body) };
  };
  const moved = await tried((_request, response) => response.writeHead(302, { location: '/other' }).end());
  t.match(moved.body, { state: 'queued', status_code: 302, error_code: 'redirected', attempts: 1 });
  t.ok(moved.seconds >= 4 && moved.seconds <= 7.5, `after ${moved.seconds} s`);
  t.equal(receiver.received.length, 1, 'redirects are not followed');
  const busy = await tried((_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end());
  t.ok(busy.seconds >= 3_590 && busy.seconds <= 3_610, `after ${busy.seconds} s`);
  const patient = await tried((_request, response) => response.writeHead(429).end());
  t.ok(patient.seconds >= 60 && patient.seconds < 70, `after ${patient.seconds} s`);
  const late = await tried((_request, response) => void setTimeout(() => response.end(), 2_500).unref());
  t.match(late.body, { state: 'queued', status_code: null, error_code: 'timeout' });
  t.ok(late.seconds >= 60, 'a timeout waits for a minute at least');
  const garbage = await tried((request) => void request.socket.end('garbage\r\n\r\n'));
  t.match(garbage.body, { state: 'queued', error_code: 'unexpected_answer' });
  const bomb = await tried((_request, response) =>
    response.writeHead(500, { 'content-encoding': 'gzip' }).end(bombBytes),
  );
  t.match(bomb.body, { state: 'queued', status_code: 500, attempt_list: [{ answer: '' }] });
  const chatty = await tried((_request, response) => response.writeHead(500).end('x'.repeat(100_000)));
  t.match(chatty.body['attempt_list'], [{ answer: 'x'.repeat(20_000) }]);
  const gone = await tried((_request, response) => response.writeHead(410).end());
  t.match(gone, { body: { state: 'failed' }, webhook: { is_active: false, disabled_reason: 'gone' } });
});

void t.test('ten attempts fail, the dead letter is retried under the same id, and resolved', async (t) => {
  const { api, run, receiver } = await sendingWorld(t);
  receiver.answer = (_request, response) => void response.writeHead(500).end();
  const { id } = await api.webhook({ url: receiver.url });
  const [eventId] = await storeEvents(api.database.worker, api.workspaceId, [{}]);
  for (let attempt = 0; attempt < 12; attempt += 1) await run(86_400_000 * 1.3);
  t.equal(receiver.received.length, 10);
  const dead = (await api.webhooks('GET', `/${id}/dlq`)).body;
  t.match(dead, { total: 1, dead_letters: [{ event_id: eventId, status: 'failed', retries: 0, attempts: 10 }] });
  const [letter] = z.array(z.object({ dlq_id: z.number() })).parse(dead['dead_letters']);
  const at = `/${id}/dlq/${letter?.dlq_id}`;
  // Events are kept for 30 days, dead letters for 30 days from when they failed.
  await api.database.worker.query(sql.unsafe`delete from events`);
  t.match(await api.webhooks('POST', `${at}/retry`), { status: 202, body: { status: 'retried' } });
  t.match(await api.webhooks('POST', `${at}/retry`), { status: 409, body: { code: 'already_retried' } });
  for (let attempt = 0; attempt < 12; attempt += 1) await run(86_400_000 * 1.3);
  t.equal(receiver.received.length, 20, 'ten anew');
  t.match((await api.webhooks('GET', `/${id}/dlq`)).body, { dead_letters: [{ status: 'failed', retries: 1 }] });
  receiver.answer = (_request, response) => void response.end();
  t.equal((await api.webhooks('POST', `${at}/retry`)).status, 202);
  await run(1_000_000_000);
  t.match((await api.webhooks('GET', `/${id}/dlq?status=retried`)).body, { dead_letters: [{ delivered_at: /T/ }] });
  t.same(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])), new Set([eventId]));
  await api.database.worker.query(sql.unsafe`update webhook_deliveries set dlq_status = 'failed', state = 'failed'`);
  t.match(await api.webhooks('POST', `${at}/resolve`), { status: 200, body: { status: 'resolved' } });
  t.match(await api.webhooks('POST', `${at}/resolve`), { status: 200, body: { status: 'resolved' } });
  t.match(await api.webhooks('POST', `${at}/retry`), { status: 409, body: { code: 'already_resolved' } });
});

void t.test('a test is one attempt with its steps, also while it is off, and counted nowhere', async (t) => {
  const { api, receiver } = await sendingWorld(t);
  const { id } = await api.webhook({ url: receiver.url, is_active: false });
  const tested = await api.webhooks('POST', `/${id}/test`, {});
  t.match(tested, { status: 200, body: { ok: true, status_code: 200 } }, tested.text);
  const steps = z.array(z.object({ name: z.string() })).parse(tested.body['steps']);
  t.same(
    steps.map(({ name }) => name),
    ['resolve', 'connect', 'request', 'response', 'result'],
  );
  t.match(JSON.parse(receiver.received[0]?.body ?? ''), { type: 'webhook.test' });
  t.match(await only(api, id), { is_test: true, state: 'delivered' });
  t.match((await api.webhooks('GET', `/${id}/stats`)).body, { success: 0, attempts: 0 });
});

const eventsFor = (count: number) => Array.from({ length: count }, (_, index) => ({ subjectId: index + 1 }));

void t.test('five deliveries are under way to a webhook, however many are claimed', async (t) => {
  const { api, run, receiver } = await sendingWorld(t);
  await api.webhook({ url: receiver.url });
  let underWay = 0;
  let most = 0;
  receiver.answer = (_request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    setTimeout(() => {
      underWay -= 1;
      response.end();
    }, 20);
  };
  await storeEvents(api.database.worker, api.workspaceId, eventsFor(23));
  await run();
  t.equal(most, 5);
  t.equal(receiver.received.length, 23);
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 23, 'each once');
});

void t.test(
  'a process claims twice what may be under way, but not beside another one, nor for a slow receiver',
  async (t) => {
    const { api } = await sendingWorld(t);
    const { worker } = api.database;
    await api.webhook({ url: 'https://hooks.example/' });
    await storeEvents(worker, api.workspaceId, eventsFor(30));
    const room = { all: 200, slow: 128, full: new Set<number>() };
    const claim = async (replica: string) =>
      (await claimDeliveries(worker, replica, Date.now() + 1_000, room)).map(({ id }) => id);
    const first = await claim('one');
    t.equal(first.length, 10);
    t.same(await claim('other'), []);
    await giveBack(worker, 'other', first);
    t.same(await claim('other'), [], 'nobody gives back what another one has');
    await giveBack(worker, 'one', first.slice(3));
    const second = await claim('other');
    t.equal(second.length, 2, 'together five');
    t.same(await claim('one'), []);
    await giveBack(worker, 'one', first.slice(0, 3));
    await giveBack(worker, 'other', second);
    t.equal(
      await worker.oneFirst(sql.type(z.object({ n: z.number() }))`
      select count(*)::integer as n from webhook_deliveries where tries = 0 and leased_by is null`),
      30,
      'as if nothing had been claimed',
    );
    await worker.query(sql.unsafe`update webhooks set is_slow = true`);
    t.equal((await claim('one')).length, 5);
  },
);

void t.test('a sender that stops gives back what it has not begun', async (t) => {
  const { api, sender, receiver } = await sendingWorld(t);
  const { worker } = api.database;
  await api.webhook({ url: receiver.url });
  receiver.answer = (_request, response) => void setTimeout(() => response.end(), 100);
  await storeEvents(worker, api.workspaceId, eventsFor(10));
  t.equal(await sender.begin(), 10);
  await sender.stop();
  t.equal(receiver.received.length, 5);
  const rows = await worker.any(sql.type(z.object({ state: z.string(), tries: z.number(), n: z.number() }))`
    select state, tries, count(*)::integer as n from webhook_deliveries where leased_by is null group by 1, 2 order by 1`);
  t.same(rows, [
    { state: 'delivered', tries: 1, n: 5 },
    { state: 'queued', tries: 0, n: 5 },
  ]);
});

void t.test('what was sent costs later claims nothing, although it all waited since one moment', async (t) => {
  const { api } = await sendingWorld(t);
  const { worker } = api.database;
  const ids = [];
  for (let n = 0; n < 6; n += 1) ids.push((await api.webhook({ url: 'https://hooks.example/' })).id);
  await worker.query(sql.unsafe`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at)
    select ${api.workspaceId}, id, 'evt_' || n, 'monitor.down', now(), 'queued', now()
    from generate_series(1, 1000) n, unnest(${sql.array(ids, 'int4')}) as id order by n`);
  const nowMs = Date.now() + 1_000;
  const room = { all: 200, slow: 128, full: new Set<number>() };
  /** Pages that are read to find the webhooks for which anything waits, as a claim does. */
  const pagesRead = async () => {
    const explained = z.tuple([z.looseObject({ Plan: z.looseObject({ 'Shared Hit Blocks': z.number() }) })]);
    const [plan] = await worker.oneFirst(sql.type(z.object({ 'QUERY PLAN': explained }))`
      explain (analyze, buffers, format json) with recursive hooks (id) as (${waitingWebhooks}) select id from hooks`);
    return plan.Plan['Shared Hit Blocks'];
  };
  await pagesRead();
  const first = await pagesRead();
  for (let n = 0; n < 40; n += 1) {
    const claimed = await claimDeliveries(worker, 'test', nowMs, room);
    await noteDeliveries(worker, 'test', claimed.map(delivered));
  }
  // An entry is marked once nobody can see it any more, and whoever connects to the server at this moment may, for an instant.
  let last = await pagesRead();
  for (let tries = 0; tries < 20 && last >= first * 2; tries += 1) {
    await sleep(50);
    last = await pagesRead();
  }
  t.ok(last < first * 2, `${last} pages after 2,400 were sent, ${first} before`);
});

const delivered = (one: Claimed): Done => ({
  id: one.id,
  workspaceId: one.workspace_id,
  webhookId: one.webhook_id,
  tries: one.tries,
  attempt: {
    atMs: one.claimedMs,
    durationMs: 5,
    statusCode: 200,
    errorCode: null,
    error: null,
    answer: 'ok',
    retryAfterMs: undefined,
  },
  outcome: { state: 'delivered' },
});

void t.test('a claim leaps over a hundred thousand that wait', async (t) => {
  const { api } = await sendingWorld(t);
  const { worker } = api.database;
  const slow = await api.webhook({ url: 'https://hooks.example/', max_per_second: 1 });
  const busy = await api.webhook({ url: 'https://hooks.example/' });
  await worker.query(sql.unsafe`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at)
    select ${api.workspaceId}, case when n % 2 = 0 then ${slow.id}::integer else ${busy.id}::integer end, 'evt_' || n, 'monitor.down', now(), 'queued', now()
    from generate_series(1, 100000) n`);
  const nowMs = Date.now() + 1_000;
  const room = { all: 200, slow: 128, full: new Set<number>() };
  const plan = await worker.transaction(async (tx) => {
    await tx.query(beginClaim);
    return tx.any(sql.type(z.object({ 'QUERY PLAN': z.string() }))`
      explain (costs off) ${claimStatement('test', nowMs, room)}`);
  });
  const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
  t.notMatch(lines, /Seq Scan|Bitmap Heap Scan/, 'no statistics were taken since the queue grew');
  const started = performance.now();
  const claimed = await claimDeliveries(worker, 'test', nowMs, room);
  t.comment(`${Math.round(performance.now() - started)} ms`);
  t.equal(claimed.filter(({ webhook_id: id }) => id === busy.id).length, 10, 'twice the five that may be under way');
  t.equal(claimed.filter(({ webhook_id: id }) => id === slow.id).length, 1, 'one a second of the other');
  t.same(await claimDeliveries(worker, 'test', nowMs + 100, room), [], 'no more while they are under way');

  const full = await api.webhook({ url: 'https://hooks.example/' });
  await worker.query(sql.unsafe`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at)
    select ${api.workspaceId}, ${full.id}, 'evt_full_' || n, 'monitor.down', now(), 'queued', now() from generate_series(1, 99999) n`);
  await switchOffFull(worker);
  t.match(
    (await api.webhooks('GET', `/${full.id}`)).body,
    { is_active: true, queued: 99_999 },
    'one less than too many',
  );
  await worker.query(sql.unsafe`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at)
    values (${api.workspaceId}, ${full.id}, 'evt_full_0', 'monitor.down', now(), 'queued', now())`);
  await switchOffFull(worker);
  t.match((await api.webhooks('GET', `/${full.id}`)).body, { is_active: false, disabled_reason: 'queue_full' });
  t.match((await api.webhooks('GET', `/${busy.id}`)).body, { is_active: true });
  await worker.query(sql.unsafe`
    update webhook_deliveries set state = 'missed' where webhook_id = ${full.id} and state = 'queued'`);
  const on = await api.webhooks('PATCH', `/${full.id}`, { is_active: true });
  t.match(on, { status: 200, body: { is_active: true, missed: 100_000, disabled_reason: null } });
});
