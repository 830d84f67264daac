import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import t from 'tap';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { createSealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { leaseMs } from './sending/claim.queries.ts';
import { insertHooks, startReceiver, storeEvents } from './testing.ts';

/** `PARALLAX_WEBHOOK_KILLS=200` for the long form. */
const kills = Number(process.env['PARALLAX_WEBHOOK_KILLS'] ?? 4);
const eventsForKill = 10;
/** Of one webhook so many are under way at once. */
const mostUnderWay = 5;

t.setTimeout(60_000 + kills * 20_000);

/** From the arrival that a kill is for: before its answer, with the answer under way, and when the first outcomes are noted. */
const momentsMs = [0, 3, 30, 120] as const;

void t.test('workers that are killed lose nothing and repeat what had arrived and was not noted', async (t) => {
  const { urls, database } = await testDatabase(t);
  const pool = database.worker;
  const key = randomBytes(32);
  const receiver = await startReceiver(t);
  const hooks = ['a', 'b'];
  const { workspaceId } = await insertHooks(
    pool,
    createSealer(key),
    hooks.map((name) => ({ name, url: `${receiver.url}/${name}` })),
  );
  const ids = await storeEvents(
    pool,
    workspaceId,
    Array.from({ length: kills * eventsForKill }, (_, index) => ({ subjectId: index + 1 })),
  );
  /** What each life had claimed and not noted at its end. */
  const unnoted: ReadonlySet<string>[] = [];
  let life = 0;
  let onArrival = (): void => undefined;
  receiver.answer = (_request, response) => {
    if (life < kills) onArrival();
    // Late enough for several to be under way at once.
    setTimeout(() => response.end(), 2);
  };
  const start = (aheadMs: number) => {
    const fixture = path.join(import.meta.dirname, 'killed.fixture.ts');
    return spawn(
      process.execPath,
      [fixture, JSON.stringify(urls), key.toString('base64'), String(aheadMs), String(life)],
      { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PGAPPNAME: `life ${life}` } },
    );
  };
  for (; life < kills; life += 1) {
    // What the dead ones had claimed is free when its time is over.
    const child = start(life * (leaseMs + 1_000));
    const ended = once(child, 'exit');
    // The arrival within a life, and the time after it, differ from kill to kill.
    let left = 1 + (life % 4);
    onArrival = () => {
      left -= 1;
      if (left === 0) setTimeout(() => child.kill('SIGKILL'), momentsMs[life % momentsMs.length]);
    };
    t.teardown(() => child.kill('SIGKILL'));
    const [code, by] = await ended;
    if (by !== 'SIGKILL') throw new Error(`life ${life} ended by itself: ${String(code)}`);
    unnoted.push(await leasedBy(pool, life));
  }
  const last = start(kills * (leaseMs + 1_000));
  const ended = once(last, 'exit');
  t.teardown(() => last.kill('SIGKILL'));
  while ((await waiting(pool)) > 0) {
    if (last.exitCode !== null) throw new Error(`the last life ended by itself: ${last.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  last.kill('SIGKILL');
  await ended;

  const arrived = receiver.received.map(({ headers, path: at }) => ({
    life: Number(/\d+$/.exec(String(headers['user-agent']))?.[0]),
    name: `${at.at(-1)} ${String(headers['webhook-id'])}`,
  }));
  const wanted = hooks.flatMap((hook) => ids.map((id) => `${hook} ${id}`));
  t.same(new Set(arrived.map(({ name }) => name)), new Set(wanted), 'each event has arrived, and nothing else');
  const repeatedOf = unnoted.map((names, of) => arrived.filter((one) => one.life === of && names.has(one.name)).length);
  const repetitions = arrived.length - wanted.length;
  t.equal(
    repetitions,
    repeatedOf.reduce((sum, each) => sum + each, 0),
    'repeated is exactly what had arrived and was not noted',
  );
  t.ok(Math.max(...repeatedOf) <= mostUnderWay * hooks.length, `a kill repeats ${repeatedOf.join(', ')}`);
  t.ok(repetitions > 0, 'some kills came between arriving and noting');
  t.comment(`${repetitions} repetitions after ${kills} kills, ${wanted.length} deliveries`);
});

/** Deliveries of a life that is over which it has claimed and not noted, when its last statement is done. */
async function leasedBy(pool: DatabasePool, life: number): Promise<ReadonlySet<string>> {
  const isThere = () =>
    pool.exists(sql.unsafe`select from pg_stat_activity where application_name = ${`life ${life}`}
      and datname = current_database()`);
  while (await isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  const rows = await pool.anyFirst(sql.type(z.object({ name: z.string() }))`
    select w.name || ' ' || d.event_id as name from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where d.state = 'queued' and d.leased_by = ${`life ${life}`}`);
  return new Set(rows);
}

function waiting(pool: DatabasePool): Promise<number> {
  return pool.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from webhook_deliveries where state <> 'delivered'`);
}
