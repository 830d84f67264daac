import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { createSealer } from '../../control-plane/src/platform/crypto/seal.ts';
import { startDatabase } from './database.ts';
import { median, percentile } from './agent/lateness.ts';
import { processorTimeUs } from './processor-time.ts';
import type { Bench, Figures } from './report.ts';
import { measureClaims } from './webhooks/claims.ts';
import { change, fillWorkspaces, switchBad } from './webhooks/fill.ts';
import type { Workspace } from './webhooks/fill.ts';
import type { Report } from './webhooks/receivers.ts';

const sizes = {
  full: {
    workspaces: 4,
    hooks: 25,
    queued: 100_000,
    claims: 100,
    burst: 20_000,
    rounds: 4,
    seconds: 5,
    perSecond: 400,
  },
  brief: { workspaces: 2, hooks: 10, queued: 20_000, claims: 5, burst: 400, rounds: 1, seconds: 1, perSecond: 100 },
} as const;
type Size = (typeof sizes)[keyof typeof sizes];

/** How fast other systems are sent events. */
export const webhooksBench: Bench = {
  name: 'webhooks',
  summary: 'events to receivers: as many as go, at a steady rate beside one that hangs, and claims from a long queue',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      const size = sizes[options?.brief === true ? 'brief' : 'full'];
      return await measure(say, size, options?.profiles, (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

async function measure(
  say: (line: string) => void,
  size: Size,
  profiles: string | undefined,
  teardown: (step: () => unknown) => void,
) {
  const database = await startDatabase(say, teardown, profiles === undefined ? {} : statementSettings);
  if (profiles !== undefined) await database.owner.query('create extension pg_stat_statements');
  const receivers = await startProcess('receivers.ts', {}, [], teardown);
  const key = randomBytes(32);
  const workspaces = await fillWorkspaces(database.worker, createSealer(key), { ...size, port: receivers.port });
  say(`claims of ${size.queued} queued deliveries`);
  const claims = await measureClaims(database, size);
  await database.owner.query('truncate webhook_deliveries, events, webhook_hours, webhook_latencies cascade');
  await database.owner.query('vacuum analyze');

  const sender = await startProcess(
    'sender.ts',
    { BENCH_DATABASE_URLS: JSON.stringify(database.urls), BENCH_KEY: key.toString('base64') },
    profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
    teardown,
  );
  const world: World = { pool: database.worker, workspaces, receivers: receivers.child, sender: sender.child };
  const processes = [sender.child.pid ?? 0, database.pid];
  say('warming up');
  await burst(world, size, Math.ceil(size.burst / 10));
  say(`${size.burst} deliveries at once`);
  if (profiles !== undefined) await database.owner.query('select pg_stat_statements_reset()');
  const before = processes.map(processorTimeUs);
  const full = await burst(world, size, size.burst);
  const [senderUs = 0, databaseUs = 0] = processes.map(
    (pid, at) => (processorTimeUs(pid) - (before[at] ?? 0)) / full.arrived,
  );
  if (profiles !== undefined) for (const line of await topStatements(database.owner)) say(line);

  say(`${size.perSecond} deliveries a second, without and with one that hangs`);
  const without: Round[] = [];
  const beside: Round[] = [];
  for (let round = 0; round < size.rounds; round += 1) {
    without.push(await steady(world, size));
    await switchBad(world.pool, true);
    // All that may be under way to the dead one is.
    await steady(world, { ...size, seconds: 1 });
    beside.push(await steady(world, size));
    await switchBad(world.pool, false);
    await ask(world.receivers, 'release');
    await delay(500);
  }
  const figures = {
    deliveries_per_second: Math.round(full.arrived / full.seconds),
    delivery_us: Math.round(senderUs + databaseUs),
    delivery_sender_us: Math.round(senderUs),
    delivery_database_us: Math.round(databaseUs),
    event_to_receiver_p99_ms: median(without.map(({ p99 }) => p99)),
    event_to_receiver_p50_ms: median(without.map(({ p50 }) => p50)),
    beside_hanging_p99_ms: median(beside.map(({ p99 }) => p99)),
    slow_neighbour_ratio: round2(median(beside.map(({ p99 }) => p99)) / median(without.map(({ p99 }) => p99))),
    ...claims,
    offered_per_second: size.perSecond,
  } satisfies Figures;
  return { figures, table: tableOf(figures, size) };
}

const statementSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
};

/** The statements that took PostgreSQL most, in ms. */
async function topStatements(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select lpad(round(total_exec_time + total_plan_time)::text, 8) || ' ms, planning ' || lpad(round(total_plan_time)::text, 6)
       || ', ' || lpad(calls::text, 6) || ' calls, ' || lpad(rows::text, 7) || ' rows  '
       || left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as line
     from pg_stat_statements order by total_exec_time + total_plan_time desc limit 20`,
  );
  return rows.map(({ line }) => line);
}

type World = {
  readonly pool: pg.Pool;
  readonly workspaces: readonly Workspace[];
  readonly receivers: ChildProcess;
  readonly sender: ChildProcess;
};

/** State changes all at once, until everybody has the last of them. */
async function burst(world: World, size: Size, deliveries: number) {
  const { pool, workspaces, receivers, sender } = world;
  const rounds = Math.ceil(deliveries / (size.workspaces * size.hooks));
  const wanted = rounds * size.workspaces * size.hooks;
  const beganMs = performance.now();
  await change(pool, workspaces, rounds);
  sender.send('hint');
  await untilArrived(receivers, wanted);
  const seconds = (performance.now() - beganMs) / 1_000;
  const report = await ask<Report>(receivers, 'report');
  return { arrived: report.latenciesMs.length, seconds };
}

type Round = { readonly p50: number; readonly p99: number };

/** State changes at a rate, each in all workspaces; what quick receivers of the first workspace waited, whose neighbours are the bad ones. */
async function steady(
  world: World,
  size: Pick<Size, 'workspaces' | 'hooks'> & { seconds: number; perSecond: number },
): Promise<Round> {
  const { pool, workspaces, receivers, sender } = world;
  const everyMs = (1_000 * size.workspaces * size.hooks) / size.perSecond;
  const rounds = Math.ceil((size.seconds * 1_000) / everyMs);
  const beganMs = performance.now();
  for (let n = 0; n < rounds; n += 1) {
    await delay(Math.max(0, beganMs + n * everyMs - performance.now()));
    await change(pool, workspaces);
    sender.send('hint');
  }
  await untilArrived(receivers, rounds * size.workspaces * size.hooks);
  const report = await ask<Report>(receivers, 'report');
  const own = report.latenciesMs.filter((_, at) => report.workspaces[at] === 1);
  return { p50: percentile(own, 0.5), p99: percentile(own, 0.99) };
}

async function untilArrived(receivers: ChildProcess, wanted: number): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  for (;;) {
    const { count } = await ask<{ count: number }>(receivers, 'count');
    if (count >= wanted) return;
    if (performance.now() > deadlineMs) throw new Error(`${count} of ${wanted} deliveries have arrived`);
    await delay(20);
  }
}

async function ask<Answer>(child: ChildProcess, question: string): Promise<Answer> {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0] as Answer;
}

async function startProcess(
  file: string,
  env: Readonly<Record<string, string>>,
  execArgv: readonly string[],
  teardown: (step: () => unknown) => void,
) {
  const child = fork(path.join(import.meta.dirname, 'webhooks', file), {
    env: { ...process.env, ...env },
    execArgv: [...process.execArgv, ...execArgv],
  });
  const ended = once(child, 'exit');
  teardown(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error(`${file} did not start`))),
  ])) as [{ port?: number }];
  return { child, port: message.port ?? 0 };
}

const round2 = (value: number): number => Math.round(value * 100) / 100;

function tableOf(figures: Figures, size: Size): (readonly [string, string])[] {
  const figure = (key: string): string => String(figures[key]);
  return [
    ['deliveries', `${figure('deliveries_per_second')} a second (goal 1000)`],
    [
      'processor time for each',
      `${figure('delivery_us')} µs: sender ${figure('delivery_sender_us')}, PostgreSQL ${figure('delivery_database_us')}`,
    ],
    [
      `from the change to its receiver, ${size.perSecond} a second`,
      `p99 ${figure('event_to_receiver_p99_ms')} ms (goal 1000), median ${figure('event_to_receiver_p50_ms')} ms`,
    ],
    [
      'the same beside one that hangs and one that is slow',
      `p99 ${figure('beside_hanging_p99_ms')} ms, ratio ${figure('slow_neighbour_ratio')} (goal 1.1)`,
    ],
    [
      `a claim of ${size.queued} that wait`,
      `p99 ${figure('claim_p99_ms')} ms (goal 50), median ${figure('claim_p50_ms')} ms, of ${figure('claimed')} deliveries`,
    ],
  ];
}
