import t from 'tap';
import { keptLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { sql } from '../database/pools.ts';
import { testDatabase } from '../database/testing.ts';
import type { OutboxConsumer } from './consumer.ts';
import { enqueue } from './enqueue.ts';
import type { OutboxEntry } from './enqueue.ts';
import { backOffSeconds, cleanOnce, poisonAttempts, startOutboxWorker, workOnce } from './worker.ts';
import type { OutboxContext } from './worker.ts';

async function world(test: TestContext) {
  const { database } = await testDatabase(test);
  const { log, lines } = keptLog();
  let hint: (() => void) | undefined;
  const context: OutboxContext = {
    database,
    log,
    bus: {
      listen: (_, onMessage) => {
        hint = () => void onMessage({});
        return { stop: () => undefined };
      },
    },
  };
  const handed: string[] = [];
  const consumer = (work: (value: string) => Promise<void> = async () => undefined): OutboxConsumer<OutboxContext> => ({
    kind: 'test',
    consume: async (_, row) => {
      await work(String(row.payload));
      handed.push(String(row.payload));
    },
  });
  return {
    pool: database.worker,
    raw: database.raw,
    context,
    lines,
    handed,
    consumer,
    hint: () => hint?.(),
    add: (...entries: readonly OutboxEntry[]) => database.worker.transaction((tx) => enqueue(tx, ...entries)),
  };
}

const entry = (key: string, payload: string): OutboxEntry => ({ key, kind: 'test', payload });

t.test('the back-off doubles from 1 s to 5 min', async (t) => {
  t.same([0, 1, 2, 8, 9, 19].map(backOffSeconds), [1, 2, 4, 256, 300, 300]);
});

t.test('rows of one key are handed out in order, one after the other is done', async (t) => {
  const w = await world(t);
  await w.add(entry('a', 'a1'), entry('a', 'a2'), entry('b', 'b1'));
  t.equal(await workOnce(w.context, [w.consumer()]), 2);
  t.same(w.handed, ['a1', 'b1']);
  t.equal(await workOnce(w.context, [w.consumer()]), 1);
  t.same(w.handed, ['a1', 'b1', 'a2']);
  t.equal(await workOnce(w.context, [w.consumer()]), 0);
});

t.test('a row that failed is put back, holds up its key and nobody else, and what it wrote is undone', async (t) => {
  const w = await world(t);
  await w.add(entry('a', 'a1'), entry('a', 'a2'), entry('b', 'b1'));
  const consumer: OutboxConsumer<OutboxContext> = {
    kind: 'test',
    consume: async (tx, row) => {
      await tx.query(
        sql.unsafe`insert into rate_limits (key, window_started_at, used) values (${String(row.payload)}, now(), 1)`,
      );
      if (row.payload === 'a1') throw new Error('not now');
    },
  };
  t.equal(await workOnce(w.context, [consumer]), 2);
  const wrote = await w.raw.query<{ key: string }>('select key from rate_limits');
  t.same(wrote.rows, [{ key: 'b1' }]);
  t.equal(await workOnce(w.context, [consumer]), 0, 'a2 does not overtake a1');
  const row = await w.raw.query<{ attempts: number; last_error: string; delay: number }>(
    `select attempts, last_error, round(extract(epoch from available_at - now()))::integer as delay from outbox where payload = '"a1"'`,
  );
  t.match(row.rows, [{ attempts: 1, last_error: 'not now', delay: 1 }]);
  await w.raw.query('update outbox set available_at = now()');
  t.equal(await workOnce(w.context, [w.consumer()]), 1);
  t.same(w.handed, ['a1']);
});

t.test('a row that keeps failing is left with its error, and its key goes on', async (t) => {
  const w = await world(t);
  await w.add(entry('a', 'a1'), entry('a', 'a2'));
  await w.raw.query(`update outbox set attempts = $1 where payload = '"a1"'`, [poisonAttempts - 1]);
  const failing = w.consumer(async (value) => {
    if (value === 'a1') throw new Error('never');
  });
  await workOnce(w.context, [failing]);
  await workOnce(w.context, [failing]);
  t.same(w.handed, ['a2']);
  t.equal(w.lines.filter((line) => line['level'] === 'error').length, 1);
  const left = await w.raw.query('select last_error from outbox where done_at is null');
  t.match(left.rows, [{ last_error: 'never' }]);
});

t.test('a kind that nobody consumes is done with', async (t) => {
  const w = await world(t);
  await w.add({ key: 'a', kind: 'unheard of', payload: 'x' });
  t.equal(await workOnce(w.context, [w.consumer()]), 1);
  t.equal(await workOnce(w.context, [w.consumer()]), 0);
  t.same(w.handed, []);
});

t.test('several workers share the rows; each row is done once and in the order of its key', async (t) => {
  const w = await world(t);
  const keys = ['a', 'b', 'c', 'd', 'e'];
  const wanted = 8;
  for (let number = 0; number < wanted; number += 1) await w.add(...keys.map((key) => entry(key, `${key}${number}`)));
  const pauses = w.consumer(() => new Promise((resolve) => setTimeout(resolve, Math.random() * 3)));
  const work = async () => {
    while (w.handed.length < wanted * keys.length) await workOnce(w.context, [pauses]);
  };
  await Promise.all([work(), work(), work()]);
  for (const key of keys) {
    t.same(
      w.handed.filter((value) => value.startsWith(key)),
      Array.from({ length: wanted }, (_, number) => `${key}${number}`),
    );
  }
});

t.test('a hint wakes the worker; stopping waits for the round that runs', async (t) => {
  const w = await world(t);
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const slow = w.consumer(async () => {
    started.resolve();
    await released.promise;
  });
  const worker = await startOutboxWorker(w.context, [slow]);
  await w.add(entry('a', 'a1'));
  w.hint();
  await started.promise;
  const stopped = worker.stop();
  released.resolve();
  await stopped;
  t.same(w.handed, ['a1']);
  const done = await w.raw.query('select from outbox where done_at is not null');
  t.equal(done.rowCount, 1);
});

t.test('two writers of one key get numbers in the order of their commits', async (t) => {
  const w = await world(t);
  const wrote = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const first = w.pool.transaction(async (tx) => {
    await enqueue(tx, entry('a', 'first'));
    wrote.resolve();
    await mayCommit.promise;
  });
  await wrote.promise;
  const second = w.add(entry('a', 'second'));
  t.equal(await workOnce(w.context, [w.consumer()]), 0, 'the second waits for the first to commit');
  mayCommit.resolve();
  await first;
  await second;
  await workOnce(w.context, [w.consumer()]);
  await workOnce(w.context, [w.consumer()]);
  t.same(w.handed, ['first', 'second']);
});

t.test('rows that were finished a day ago are deleted', async (t) => {
  const w = await world(t);
  await w.add(entry('a', 'old'), entry('b', 'new'), entry('c', 'open'));
  await w.raw.query(`update outbox set done_at = now() - interval '25 hours' where key = 'a'`);
  await w.raw.query(`update outbox set done_at = now() where key = 'b'`);
  t.equal(await cleanOnce(w.pool), 1);
  const left = await w.raw.query<{ key: string }>('select key from outbox order by key');
  t.same(left.rows, [{ key: 'b' }, { key: 'c' }]);
});

t.test('a consumer that takes many gets a hundred of a flood at once, each key in order', async (t) => {
  const w = await world(t);
  const keys = Array.from({ length: 120 }, (_, index) => `k${index}`);
  await w.add(...keys.map((key) => entry(key, `${key} first`)));
  await w.add(...keys.map((key) => entry(key, `${key} second`)));
  const rounds: string[][] = [];
  const many: OutboxConsumer<OutboxContext> = {
    kind: 'test',
    consume: () => Promise.reject(new Error('not one by one')),
    consumeMany: async (_, rows) => {
      rounds.push(rows.map((row) => String(row.payload)));
    },
  };
  t.equal(await workOnce(w.context, [many]), 100);
  while ((await workOnce(w.context, [many])) > 0);
  for (const round of rounds)
    t.equal(new Set(round.map((text) => text.split(' ')[0])).size, round.length, 'of different keys');
  const all = rounds.flat();
  t.equal(all.length, 240);
  for (const key of keys) t.ok(all.indexOf(`${key} first`) < all.indexOf(`${key} second`));
});

t.test('of many at once of which one fails the others are done, and what was begun together is undone', async (t) => {
  const w = await world(t);
  await w.add(entry('a', 'a1'), entry('b', 'b1'), entry('c', 'c1'));
  const write = async (
    tx: Parameters<OutboxConsumer<OutboxContext>['consume']>[0],
    rows: readonly { readonly payload: unknown }[],
  ) => {
    for (const { payload } of rows) {
      await tx.query(
        sql.unsafe`insert into rate_limits (key, window_started_at, used) values (${String(payload)}, now(), 1)`,
      );
      if (payload === 'b1') throw new Error('not this one');
    }
  };
  const many: OutboxConsumer<OutboxContext> = {
    kind: 'test',
    consume: (tx, row) => write(tx, [row]),
    consumeMany: write,
  };
  t.equal(await workOnce(w.context, [many]), 3);
  const wrote = await w.raw.query<{ key: string }>('select key from rate_limits order by key');
  t.same(wrote.rows, [{ key: 'a1' }, { key: 'c1' }]);
  const left = await w.raw.query('select payload, attempts from outbox where done_at is null');
  t.match(left.rows, [{ payload: 'b1', attempts: 1 }]);
});

t.test(
  'kinds that somebody takes one by one are not claimed in floods, and run before what is taken together',
  async (t) => {
    const w = await world(t);
    const keys = Array.from({ length: 30 }, (_, index) => `k${index}`);
    await w.add(...keys.map((key) => entry(key, key)));
    const order: string[] = [];
    const many: OutboxConsumer<OutboxContext> = {
      kind: 'test',
      consume: () => Promise.reject(new Error('not one by one')),
      consumeMany: async (_, rows) => void order.push(`${rows.length} together`),
    };
    t.equal(await workOnce(w.context, [w.consumer(async () => void order.push('one')), many]), 20);
    t.same(order, [...Array(20).fill('one'), '20 together']);
  },
);

t.test('in a flood of one workspace, changes of others go before the rest of it, all workspaces in turn', async (t) => {
  const w = await world(t);
  const of = (workspaceId: number, count: number): OutboxEntry[] =>
    Array.from({ length: count }, (_, index) => ({
      key: `${workspaceId}:${index}`,
      kind: 'test',
      payload: { workspace_id: workspaceId },
    }));
  await w.add(...of(1, 400));
  const others = Array.from({ length: 45 }, (_, index) => index + 2);
  for (const workspaceId of others) await w.add(...of(workspaceId, 2));
  const rounds: number[][] = [];
  const consumer: OutboxConsumer<OutboxContext> = {
    kind: 'test',
    consume: () => Promise.reject(new Error('not one by one')),
    consumeMany: async (_, rows) => {
      rounds.push(rows.map(({ payload }) => (payload as { workspace_id: number }).workspace_id));
    },
  };
  const turn = { afterWorkspace: 0 };
  while ((await workOnce(w.context, [consumer], turn)) > 0);
  t.ok(rounds.every(({ length }) => length <= 100));
  const early = new Set(rounds.slice(0, 3).flat());
  t.same(
    others.filter((id) => !early.has(id)),
    [],
    'each has had its turn within three rounds',
  );
  const all = rounds.flat();
  t.equal(all.length, 490, 'each is handed out once');
  t.same(
    others.filter((id) => all.filter((each) => each === id).length !== 2),
    [],
  );
});

t.test('a payload that names no workspace, or names it in another form, is handed out as it comes', async (t) => {
  const w = await world(t);
  const payloads = [
    { workspace_id: 'x' },
    { workspace_id: 1.5 },
    { workspace_id: null },
    { workspace_id: 10 ** 12 },
    [],
  ];
  await w.add(...payloads.map((payload, index) => ({ key: `k${index}`, kind: 'test', payload })));
  t.equal(await workOnce(w.context, [w.consumer()]), payloads.length);
});
