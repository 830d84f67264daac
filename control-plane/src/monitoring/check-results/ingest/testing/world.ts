import { keptLog, natsServer } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import type { ResultRecord } from '@parallax/wire';
import pg from 'pg';
import { connectBus } from '../../../../platform/bus/nats-bus.ts';
import { testDatabase } from '../../../../platform/database/testing.ts';
import { insertMonitors, insertProbe, insertWorkspace, message } from './fixture.ts';
import type { FixtureMonitors, FixturePlace, FixtureProbe } from './fixture.ts';
import { openIngestClient, startShard } from '../job.ts';
import type { ShardOptions } from '../job.ts';

export type WorldOptions = Partial<Pick<FixtureMonitors, 'intervalS' | 'timeoutS' | 'confirmations' | 'createdMs'>> & {
  readonly probes?: number;
  readonly monitors?: number;
};

export const fastLimits = { lingerMs: 5, idleMs: 50, pollMs: 20, probesMs: 20, expiryMs: 5 };

/** For tests: a database and a broker of its own, probes and monitors in it, and shards that are started when the test wants. */
export async function world(test: TestContext, options: WorldOptions = {}) {
  const nats = await natsServer(test);
  const { urls, database } = await testDatabase(test);
  const pool = database.raw;
  const { log, lines } = keptLog();
  const bus = await connectBus({ servers: nats.url, name: 'test', log });
  test.teardown(() => bus.close());
  const owner = await insertWorkspace(pool);
  const probes: FixtureProbe[] = [];
  for (let index = 0; index < (options.probes ?? 1); index += 1) probes.push(await insertProbe(pool, `r${index}`));
  const { intervalS = 60, timeoutS = 10, confirmations = 2, createdMs = Date.now() - 3_600_000 } = options;
  const addMonitors = (count: number, assigned = probes) =>
    insertMonitors(pool, owner, { count, probes: assigned, createdMs, intervalS, timeoutS, confirmations });
  const monitors = await addMonitors(options.monitors ?? 1);

  return {
    urls,
    nats,
    database,
    pool,
    bus,
    lines,
    probes,
    monitors,
    addMonitors,
    probe: first(probes),
    monitor: first(monitors),
    start: (changed: Partial<ShardOptions> = {}) => {
      const shard = startShard({
        shard: 0,
        shards: 1,
        replica: 'a',
        openClient: () => openIngestClient(urls.worker, 'test ingest'),
        reader: pool,
        connection: bus.connection,
        bus,
        log,
        now: () => Date.now(),
        claimEveryMs: 20,
        limits: fastLimits,
        ...changed,
      });
      test.teardown(() => shard.stop());
      return shard;
    },
    /** Publishes as an agent does: until the stream has acknowledged it. */
    send: (probe: FixtureProbe, data: Uint8Array, shard = 0) =>
      eventually(async () => {
        const answer = await bus.connection.request(`results.${probe.id}.${shard}`, data, { timeout: 1_000 });
        return answer.json<{ stream?: string }>().stream === 'RESULTS';
      }, 'the stream takes a message'),
    batch: (probe: FixtureProbe, place: Partial<FixturePlace>, results: readonly ResultRecord[]) =>
      message(probe, { epoch: 1, shard: 0, firstSeq: 1, ...place }, results),
    count: async (table: string): Promise<number> =>
      Number((await pool.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]?.n),
    cursor: async (): Promise<number> =>
      Number((await pool.query<{ seq: string }>('select max(seq) as seq from cursors')).rows[0]?.seq ?? 0),
    /** Messages that the stream still holds. */
    unread: async (): Promise<number> => {
      const answer = await bus.connection.request('$JS.API.STREAM.INFO.RESULTS', '', { timeout: 1_000 });
      return answer.json<{ state: { messages: number } }>().state.messages;
    },
    logged: (text: string) => lines.filter((line) => String(line['msg']).includes(text)),
  };
}

export type World = Awaited<ReturnType<typeof world>>;

/** A connection whose `commit` is done by `onCommit`; everything else is as it is. */
export function clientWithCommit(
  client: pg.Client,
  onCommit: (commit: () => Promise<unknown>) => Promise<unknown>,
): pg.Client {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const replaced = (...given: unknown[]): unknown =>
    given[0] === 'commit' ? onCommit(() => query('commit') as Promise<unknown>) : query(...given);
  client.query = replaced as typeof client.query;
  return client;
}

function first<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error('the fixture is empty');
  return item;
}

/** Waits for a condition; what it throws counts as not yet. What does not come at once is looked for less often: most looks are queries. */
export async function eventually(check: () => Promise<boolean> | boolean, what: string, ms = 30_000): Promise<void> {
  const since = performance.now();
  const until = since + ms;
  let last: unknown;
  while (performance.now() < until) {
    try {
      if (await check()) return;
    } catch (error) {
      last = error;
    }
    const waitedMs = performance.now() - since;
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(5, waitedMs / 20), 100)));
  }
  throw new Error(`not within ${ms} ms: ${what}`, { cause: last });
}
