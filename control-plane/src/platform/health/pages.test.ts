import { readinessRoute } from '@parallax/api-contract';
import t from 'tap';
import type { DatabasePool } from 'slonik';
import { openDatabase } from '../database/pools.ts';
import { testDatabase } from '../database/testing.ts';
import { healthPages } from './pages.ts';
import type { ServingState } from './pages.ts';

const { urls, database } = await testDatabase(t);

/** What a path answers in a state: its HTTP status and its body. */
async function asked(path: string, state: ServingState): Promise<[number, Record<string, unknown>]> {
  const answer = await healthPages(() => state).get(path)?.();
  if (answer === undefined) throw new Error(`${path} is not served`);
  t.match(answer.contentType, 'application/json');
  return [answer.status, JSON.parse(answer.body) as Record<string, unknown>];
}

t.test('a process that serves says of itself what the API says', async (t) => {
  const [status, body] = await asked('/health/readiness', { database });
  t.equal(status, 200);
  t.match(body, { status: 'ok', database: { status: 'ok' }, schema: { status: 'ok' } });
  t.same(readinessRoute.success.answer?.parse(body), body);
  t.same(await asked('/health/liveness', { database }), [200, { status: 'ok' }]);
});

t.test('a process that does not serve yet, or is stopping, lives and is not ready', async (t) => {
  for (const state of ['it is starting', 'it is stopping'] as const) {
    t.same(await asked('/health/liveness', state), [200, { status: 'ok' }]);
    t.same(await asked('/health/readiness', state), [503, { status: 'failing', detail: state }]);
  }
});

t.test('without its database a process lives and is not ready', async (t) => {
  const away = await openDatabase(urls, { api: 1, worker: 1 });
  await away.close();
  const [status, body] = await asked('/health/readiness', { database: away });
  t.equal(status, 503);
  t.match(body, { status: 'failing', database: { status: 'failing', detail: 'does not answer' } });
  t.same(await asked('/health/liveness', { database: away }), [200, { status: 'ok' }]);
});

t.test('those who ask at the same time share one look, the next gets a new one', async (t) => {
  let pings = 0;
  const counting: DatabasePool = new Proxy(database.api, {
    get: (pool, name) => {
      if (name === 'oneFirst') pings += 1;
      return Reflect.get(pool, name) as unknown;
    },
  });
  const readiness = healthPages(() => ({ database: { ...database, api: counting } })).get('/health/readiness');
  if (readiness === undefined) throw new Error('readiness is not served');
  const answers = await Promise.all(Array.from({ length: 20 }, () => readiness()));
  t.same(new Set(answers.map((answer) => answer.status)), new Set([200]));
  t.equal(pings, 1);
  await readiness();
  t.equal(pings, 2);
});
