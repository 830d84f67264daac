import t from 'tap';
import type pg from 'pg';
import { enqueueText, enqueueValues } from '../../control-plane/src/platform/outbox/enqueue.ts';
import { leaseSeconds } from '../../control-plane/src/platform/outbox/worker.ts';
import { openDatabaseOf } from '../faults/oracle.ts';
import { startProduct } from '../harness/product.ts';
import { eventually } from '../harness/processes.ts';
import { logLines, startReplica } from '../harness/replicas.ts';
import type { Replica } from '../harness/replicas.ts';

const keys = 60;
const rowsOfKey = 25;

t.test('worker processes share the outbox without overtaking', { timeout: 120_000 }, async (t) => {
  const product = await startProduct({ PARALLAX_ROLES: 'api,dispatch' });
  const workers: Replica[] = [];
  t.teardown(async () => {
    await Promise.all(workers.map((worker) => worker.process.stop(4_000)));
    await product.stop();
  });
  const startWorker = async (): Promise<Replica> => {
    const worker = await startReplica(product, { roles: 'worker' });
    workers.push(worker);
    return worker;
  };
  let first = await startWorker();
  let second = await startWorker();
  const pool = openDatabaseOf(product);
  t.teardown(() => pool.end());

  await t.test('both take part, each change is handled once and in the order of its key', async (t) => {
    const batch = await writeChanges(pool, 'shared');
    await untilDone(pool, 'shared', keys * rowsOfKey);
    t.same(await outOfOrder(pool), []);
    const byFirst = handledBy(first, 'shared');
    const bySecond = handledBy(second, 'shared');
    t.ok(byFirst.length > 0 && bySecond.length > 0, `${byFirst.length} and ${bySecond.length}`);
    t.same([...byFirst, ...bySecond].sort(), [...batch].sort(), 'none was handled twice');
  });

  await t.test('a worker that is killed in the middle leaves its rows to the other at once', async (t) => {
    await writeChanges(pool, 'killed');
    await untilDone(pool, 'killed', keys);
    const before = handledBy(first, 'killed').length;
    // What the other one holds at that moment is among these, too.
    const held = await stoppedWithRows(first, pool, 'killed');
    first.process.kill('SIGKILL');
    const killedMs = Date.now();
    await eventually('the rows that were held to be done', async () => (await undone(pool, held)) === 0, {
      timeoutMs: 20_000,
      everyMs: 20,
    });
    const tookMs = Date.now() - killedMs;
    t.ok(tookMs < leaseSeconds * 1_000, `${tookMs} ms: before a lease could have ended`);
    await untilDone(pool, 'killed', keys * rowsOfKey);
    t.same(await outOfOrder(pool), []);
    t.comment(`${before} by the one that was killed; ${held.length} rows were held and done ${tookMs} ms after it`);
  });

  await t.test('a worker that hangs in the middle keeps its rows until its lease ends, and no longer', async (t) => {
    await second.process.stop();
    first = await startWorker();
    await writeChanges(pool, 'hung');
    // With nobody else at work, what is locked is what this one holds.
    const held = await stoppedWithRows(first, pool, 'hung');
    const hungMs = Date.now();
    second = await startWorker();
    await untilDone(pool, 'hung', keys * rowsOfKey, (leaseSeconds + 20) * 1_000);
    const doneMs = Date.now() - hungMs;
    t.ok(doneMs > (leaseSeconds - 2) * 1_000, 'nobody touched them before');
    t.same(await outOfOrder(pool), []);
    const doneAt = await whenDone(pool, held);
    first.process.kill('SIGCONT');
    await eventually('it to notice that it lost them', async () =>
      logLines(first.process.output()).some((line) => String(line['msg']).startsWith('outbox:')),
    );
    t.same(await whenDone(pool, held), doneAt, 'what the other did stays');
    t.comment(`${held.length} rows were held; all was done after ${doneMs} ms`);
  });
});

const kind = 'probe.offline';
const nameOf = (batch: string, key: number, number: number): string => `${batch} ${key} ${number}`;

/** Writes changes of many keys in one transaction; gives the names of all. Their consumer writes a line to the log. */
async function writeChanges(pool: pg.Pool, batch: string): Promise<string[]> {
  const entries = Array.from({ length: keys * rowsOfKey }, (_, at) => {
    const key = at % keys;
    const payload = { probe_id: 1_000 + key, region: 'eu', name: nameOf(batch, key, Math.floor(at / keys)) };
    return { key: `${batch}:${key}`, kind, payload };
  });
  await pool.query(enqueueText, enqueueValues(entries));
  return entries.map((entry) => entry.payload.name);
}

async function untilDone(pool: pg.Pool, batch: string, least: number, timeoutMs = 20_000): Promise<void> {
  await eventually(
    `${least} changes of ${batch} to be done`,
    async () => {
      const { rows } = await pool.query<{ done: number }>(
        `select count(*)::integer as done from outbox where key like $1 and done_at is not null`,
        [`${batch}:%`],
      );
      if ((rows[0]?.done ?? 0) < least) throw new Error(`${rows[0]?.done} are done`);
      return true;
    },
    { timeoutMs, everyMs: 20 },
  );
}

/** Changes that were done before an earlier one of their key. */
async function outOfOrder(pool: pg.Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select key, id from (
       select key, id, done_at, max(done_at) over (partition by key order by id rows between unbounded preceding and 1 preceding) as earlier
       from outbox where kind = $1) o
     where done_at < earlier`,
    [kind],
  );
  return rows;
}

/** The changes whose line stands in the log of a worker. */
function handledBy(worker: Replica, batch: string): string[] {
  return logLines(worker.process.output()).flatMap(({ notice }) => {
    const name = typeof notice === 'object' && notice !== null && 'name' in notice ? String(notice.name) : '';
    return name.startsWith(`${batch} `) ? [name] : [];
  });
}

/** Unfinished rows that somebody holds at this moment. */
async function lockedRows(pool: pg.Pool, batch: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `with free as materialized (
       select id from outbox where key like $1 and done_at is null for update skip locked)
     select id from outbox where key like $1 and done_at is null and id not in (select id from free)`,
    [`${batch}:%`],
  );
  return rows.map((row) => row.id);
}

/** Stops a worker in a moment in which rows are held. @returns which */
function stoppedWithRows(worker: Replica, pool: pg.Pool, batch: string): Promise<string[]> {
  return eventually(
    'it to hang while it holds rows',
    async () => {
      worker.process.kill('SIGSTOP');
      const ids = await lockedRows(pool, batch);
      if (ids.length > 0) return ids;
      worker.process.kill('SIGCONT');
      return undefined;
    },
    { everyMs: 3 },
  );
}

async function undone(pool: pg.Pool, ids: readonly string[]): Promise<number> {
  const found = await pool.query('select from outbox where id = any ($1) and done_at is null', [ids]);
  return found.rowCount ?? 0;
}

async function whenDone(pool: pg.Pool, ids: readonly string[]): Promise<unknown[]> {
  return (await pool.query('select id, done_at from outbox where id = any ($1) order by id', [ids])).rows;
}
