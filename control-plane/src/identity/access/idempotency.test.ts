import { randomUUID } from 'node:crypto';
import { Problem, route } from '@parallax/api-contract';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { sql } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { startKeySweep } from '../../platform/http/idempotency/job.ts';
import { sweepKeys } from '../../platform/http/idempotency/queries.ts';
import { testApi } from '../testing.ts';
import type { TestAnswer, TestApi } from '../testing.ts';

const thing = z.object({ id: z.number().int(), secret: z.string() });

/** What becomes of the next requests; the last one stays. */
type Turns = { next: (() => Promise<void>)[]; readonly done: number[] };

/** A route that creates things, which are rows of the audit log. */
function makeThings(turns: Turns): (context: Context) => readonly Route[] {
  const contract = route({
    method: 'POST',
    path: '/things/:place',
    credentials: 'key-or-bearer',
    tag: 'test',
    summary: 'test',
    params: z.object({ place: z.string() }),
    body: z.object({ name: z.string().default('none'), workspace_id: z.number().optional() }).nullish(),
    success: { status: 201, answer: thing },
    idempotent: true,
    errors: [404],
  });
  return (context) => [
    handle(contract, async ({ caller, body, request }) => {
      if (body?.workspace_id !== undefined) requireRole(caller, body.workspace_id, 'viewer');
      const turn = turns.next.shift();
      const scope = scopeOf(caller);
      // A look before, which writes nothing.
      await inScope(context.database.api, scope, (tx) => tx.query(sql.unsafe`select 1`));
      if (body?.name === 'first') await turn?.();
      const id = await inScope(context.database.api, scope, (tx) =>
        tx.oneFirst(sql.type(z.object({ id: z.bigint() }))`
          insert into audit_log (user_id, actor, action, subject_type) values (${caller.userId}, 'user', 'thing.made', 'thing') returning id`),
      );
      turns.done.push(Number(id));
      if (body?.name !== 'first') await turn?.();
      request.reply.header('location', `/things/${id}`).header('etag', '"1"');
      return { id: Number(id), secret: `shown once ${id}` };
    }),
  ];
}

async function open(t: Test) {
  const turns: Turns = { next: [], done: [] };
  const api = await testApi(t, { routes: makeThings(turns) });
  const { accessToken: token } = await api.account('ada@example.com');
  const post = (key: string | undefined, body: unknown = {}, more: Parameters<TestApi['call']>[2] = { token }) =>
    api.call('POST', '/things/here', {
      body,
      ...more,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  return { api, turns, token, post };
}

const made = (api: TestApi): Promise<number> =>
  api.database.worker.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count from audit_log where action = 'thing.made'`);

const isReplayed = (answer: TestAnswer): boolean => answer.headers.get('idempotency-replayed') === 'true';

/** A gate, and what waits at it. */
function gate(): { readonly reached: Promise<void>; readonly wait: () => Promise<void>; readonly open: () => void } {
  const [reached, passed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    reached: reached.promise,
    wait: () => {
      reached.resolve();
      return passed.promise;
    },
    open: passed.resolve,
  };
}

void t.test('the same request under the same key is done once, and its answer is repeated whole', async (t) => {
  const { api, post } = await open(t);
  const first = await post('k', { name: 'a', workspace_id: 1 });
  t.match(first, { status: 201, body: { secret: `shown once ${String(first.body['id'])}` } });
  t.notOk(isReplayed(first));
  const again = await post('k', { workspace_id: 1, name: 'a' });
  t.ok(isReplayed(again));
  t.equal(again.status, 201);
  t.equal(again.text, first.text);
  for (const name of ['location', 'etag', 'content-type']) t.equal(again.headers.get(name), first.headers.get(name));
  t.not(again.headers.get('x-request-id'), first.headers.get('x-request-id'), 'an exchange of its own');
  t.equal(await made(api), 1);
  await post('other');
  await post(undefined);
  await post(undefined);
  t.equal(await made(api), 4, 'another key, and none, are requests of their own');
});

void t.test('a key belongs to one request of one user and route', async (t) => {
  const { api, token, post } = await open(t);
  await post('k', { name: 'a' });
  t.match(await post('k', { name: 'b' }), {
    status: 422,
    body: { code: 'idempotency_key_reused', errors: [{ in: 'header', path: '/Idempotency-Key' }] },
  });
  const headers = { 'idempotency-key': 'k' };
  t.match(await api.call('POST', '/things/there', { token, body: { name: 'a' }, headers }), { status: 422 });
  t.match(await api.call('POST', '/things/here?x=1', { token, body: { name: 'a' }, headers }), { status: 422 });
  t.equal(await made(api), 1);
  const workspace = await api.call('POST', '/api/v1/workspaces', { token, body: { name: 'a' }, headers });
  t.equal(workspace.status, 201, 'of another route it is another one');
  const { accessToken: other } = await api.account('bob@example.com');
  t.match(await post('k', { name: 'b' }, { token: other }), { status: 201 }, 'and of another user');
  t.equal(await made(api), 2);
});

void t.test('a key that is none is refused before anything is done', async (t) => {
  const { api, turns, post } = await open(t);
  for (const key of ['', 'x'.repeat(256), 'é']) {
    t.match(await post(key), {
      status: 422,
      body: { code: 'invalid_input', errors: [{ in: 'header', path: '/Idempotency-Key' }] },
    });
  }
  t.equal((await post('x'.repeat(255))).status, 201);
  t.equal(turns.done.length, 1);
  t.equal(await made(api), 1);
});

void t.test('what was refused or failed leaves the key free', async (t) => {
  const { api, turns, post } = await open(t);
  t.equal((await post('k', { workspace_id: 99 })).status, 404);
  t.equal((await post('k', { name: 7 })).status, 422);
  const fail = async () => {
    throw new Error('broken');
  };
  turns.next.push(fail);
  t.equal((await post('k', { name: 'first' })).status, 500);
  t.equal(await made(api), 0, 'nothing was written');
  const done = await post('k', { name: 'first' });
  t.equal(done.status, 201);
  t.notOk(isReplayed(done), 'a transaction that only read does not count');
  t.equal(await made(api), 1);
});

void t.test('what failed after something was committed is not done again', async (t) => {
  const { api, turns, post } = await open(t);
  turns.next.push(async () => {
    throw new Problem('unavailable', 'away');
  });
  t.equal((await post('k')).status, 503);
  t.equal(await made(api), 1);
  const again = await post('k');
  t.match(again, { status: 409, body: { code: 'conflict' } });
  t.match(again.body['detail'], /carried out/);
  t.equal(await made(api), 1);
});

void t.test('while it is under way the same request is 409 and another is 422', async (t) => {
  const { api, turns, post } = await open(t);
  const { reached, wait, open: pass } = gate();
  turns.next.push(wait);
  const first = post('k', { name: 'first' });
  await reached;
  const second = await post('k', { name: 'first' });
  t.match(second, { status: 409, body: { code: 'idempotency_key_in_use' } });
  t.equal(second.headers.get('retry-after'), '1');
  t.match(await post('k', { name: 'other' }), { status: 422 });
  pass();
  const answer = await first;
  t.equal(answer.status, 201);
  t.same((await post('k', { name: 'first' })).body, answer.body);
  t.equal(await made(api), 1);
});

void t.test('of fifty equal requests at once one is done; the others get its answer or 409', async (t) => {
  const { api, post } = await open(t);
  const answers = await Promise.all(Array.from({ length: 50 }, () => post('k', { name: 'x' })));
  const created = answers.filter(({ status }) => status === 201);
  t.equal(answers.filter((answer) => answer.status === 201 && !isReplayed(answer)).length, 1);
  t.equal(new Set(created.map(({ text }) => text)).size, 1);
  for (const answer of answers) t.ok([201, 409].includes(answer.status), String(answer.status));
  t.equal(await made(api), 1);
  t.equal((await post('k', { name: 'x' })).text, created[0]?.text);
});

void t.test('an attempt that is taken over commits nothing', async (t) => {
  const { api, turns, post } = await open(t);
  const { reached, wait, open: pass } = gate();
  turns.next.push(wait);
  const first = post('k', { name: 'first' });
  await reached;
  await api.database.worker.query(sql.unsafe`update idempotency_keys set lease_until = now()`);
  const second = await post('k', { name: 'first' });
  t.equal(second.status, 201, 'its process has said nothing for too long');
  pass();
  t.match(await first, { status: 409, body: { code: 'idempotency_key_in_use' } });
  t.equal(await made(api), 1);
  t.equal((await post('k', { name: 'first' })).text, second.text, 'nor does it touch the answer');
});

void t.test('an attempt whose process ended before it kept the answer is not done again', async (t) => {
  const { api, post } = await open(t);
  await post('k');
  await api.database.worker.query(sql.unsafe`update idempotency_keys set answer = null, lease_until = now()`);
  t.match(await post('k'), { status: 409, body: { code: 'conflict' } });
  t.equal(await made(api), 1);
});

void t.test('credentials that see less are not shown the answer', async (t) => {
  const { api, token, post } = await open(t);
  await api.call('POST', '/api/v1/workspaces', { token, body: { name: 'second' } });
  const limited = await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'k', workspace_ids: [1] } });
  const key = String(limited.body['key']);
  await post('k');
  t.match(await post('k', {}, { key }), { status: 422, body: { code: 'idempotency_key_reused' } });
  await post('l', {}, { key });
  t.ok(isReplayed(await post('l')), 'those that see more are');
  const bad = await api.call('POST', '/things/here', { body: {}, headers: { 'idempotency-key': 'k' } });
  t.equal(bad.status, 401, 'nobody is let in by a key');
});

void t.test('what is shown once stands nowhere unsealed, and is opened under its own key only', async (t) => {
  const { api, token } = await open(t);
  const headers = { 'idempotency-key': randomUUID() };
  const first = await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'k' }, headers });
  const shown = String(first.body['key']);
  const again = await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'k' }, headers });
  t.equal(again.body['key'], shown, 'whoever lost the answer gets the key that was made');
  const rows = await api.database.raw.query<{ row: string; answer: Buffer }>(
    `select row_to_json(k)::text as row, answer from idempotency_keys k`,
  );
  t.equal(rows.rows.length, 1);
  t.notOk(rows.rows[0]?.row.includes(shown));
  t.notOk(rows.rows[0]?.answer.includes(shown));
  await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'k' }, headers: { 'idempotency-key': 'other' } });
  await api.database.worker.query(sql.unsafe`
    update idempotency_keys k set answer = o.answer from idempotency_keys o where k.key = 'other' and o.key <> 'other'`);
  const moved = await api.call('POST', '/api/v1/api-keys', {
    token,
    body: { name: 'k' },
    headers: { 'idempotency-key': 'other' },
  });
  t.equal(moved.status, 500, 'an answer that was moved to another row does not open');
});

void t.test('after a day a key is free, and its row goes', async (t) => {
  const { api, post } = await open(t);
  await post('old');
  await post('older');
  await post('young');
  const age = (key: string, hours: number) =>
    api.database.worker.query(sql.unsafe`
      update idempotency_keys set begun_at = now() - ${hours} * interval '1 hour' where key = ${key}`);
  await age('old', 24);
  await age('older', 25);
  await age('young', 23.9);
  const fresh = await post('old');
  t.notOk(isReplayed(fresh));
  t.ok(isReplayed(await post('young')));
  t.equal(await made(api), 4);
  t.equal(await sweepKeys(api.database.worker, 10), 1);
  t.equal(await sweepKeys(api.database.worker, 10), 0);
  const left = await api.database.worker.anyFirst(sql.type(z.object({ key: z.string() }))`
    select key from idempotency_keys order by key`);
  t.same(left, ['old', 'young']);
  const sweep = await startKeySweep(api.context, api.context.log);
  await sweep.stop();
});

void t.test('keys of others are hidden by row-level security', async (t) => {
  const { api, post } = await open(t);
  await post('k');
  const count = (userId: number | null) =>
    inScope(api.database.api, { userId, workspaceIds: [1] }, (tx) =>
      tx.oneFirst(sql.type(z.object({ count: z.number() }))`select count(*)::integer as count from idempotency_keys`),
    );
  t.equal(await count(1), 1);
  t.equal(await count(2), 0);
  t.equal(await count(null), 0);
});
