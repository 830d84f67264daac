import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type pg from 'pg';
import { startDatabase } from './database.ts';
import { percentile } from './agent/lateness.ts';
import type { Load } from './pings/client.ts';
import { processorTimeUs } from './processor-time.ts';
import type { Bench, Figures } from './report.ts';

const sizes = {
  full: { heartbeats: 20_000, seconds: 20, connections: 128 },
  brief: { heartbeats: 500, seconds: 1, connections: 64 },
} as const;
const offeredPerSecond = 5_000;

/** What signals of heartbeats cost, from the socket to the disk. */
export const pingsBench: Bench = {
  name: 'pings',
  summary: 'signals of heartbeats that are committed before they are answered, beside what PostgreSQL commits alone',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      return await measure(say, sizes[options?.brief === true ? 'brief' : 'full'], (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

async function measure(
  say: (line: string) => void,
  size: (typeof sizes)[keyof typeof sizes],
  teardown: (step: () => unknown) => void,
) {
  const database = await startDatabase(say, teardown);
  const { port, pid } = await startApi(database.urls, teardown);
  say(`${size.heartbeats} heartbeats`);
  const paths = await fill(database.worker, size.heartbeats);
  await database.owner.query('vacuum analyze');

  say('what PostgreSQL commits');
  await database.owner.query('create table bench_commits (n integer)');
  const oneByOne = await commits(database.worker, 1, size.seconds / 4);
  const together = await commits(database.worker, 4, size.seconds / 4);

  say('as many pings as are answered');
  await load(port, paths, { connections: size.connections, seconds: 1 });
  const before = {
    cpuUs: processorTimeUs(pid),
    commits: await committed(database.owner),
    pings: await stored(database.owner),
  };
  const most = await load(port, paths, { connections: size.connections, seconds: size.seconds });
  const cpuUs = processorTimeUs(pid) - before.cpuUs;
  const batches = (await committed(database.owner)) - before.commits;
  const kept = (await stored(database.owner)) - before.pings;
  if (kept < most.answered) throw new Error(`${most.answered} pings were answered and ${kept} are stored`);

  say(`${offeredPerSecond} pings a second`);
  const even = await load(port, paths, {
    connections: size.connections * 2,
    seconds: size.seconds,
    perSecond: offeredPerSecond,
  });
  const figures = {
    pings_per_second: Math.round(most.answered / most.seconds),
    pings_p99_ms: round(percentile(even.latenciesMs, 0.99)),
    pings_p50_ms: round(percentile(even.latenciesMs, 0.5)),
    offered_per_second: Math.round(even.answered / even.seconds),
    commits_per_second: Math.round(oneByOne),
    commits_together_per_second: Math.round(together),
    pings_per_commit: round(most.answered / Math.max(1, batches)),
    ping_us: round(cpuUs / most.answered),
    refused: most.refused + even.refused,
  } satisfies Figures;
  return { figures, table: tableOf(figures) };
}

async function startApi(urls: Readonly<Record<string, string>>, teardown: (step: () => unknown) => void) {
  const child = fork(path.join(import.meta.dirname, 'api/server.ts'), {
    env: { ...process.env, BENCH_DATABASE_URLS: JSON.stringify(urls) },
  });
  const ended = once(child, 'exit');
  teardown(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('the API did not start'))),
  ])) as [{ port: number }];
  return { port: message.port, pid: child.pid ?? 0 };
}

/** Heartbeats of one workspace; the paths of their plain pings. */
async function fill(pool: pg.Pool, count: number): Promise<string[]> {
  const user = await pool.query<{ id: number }>(
    `insert into users (email, password_hash, plan) values ('bench@example.com', 'x', 'self_hosted') returning id`,
  );
  const workspace = await pool.query<{ id: number }>(
    `insert into workspaces (owner_id, name, ping_key) values ($1, 'bench', 'bench') returning id`,
    [user.rows[0]?.id],
  );
  await pool.query(
    `insert into heartbeats (workspace_id, name, slug, schedule_type, timezone, expected_interval_seconds, grace_period_seconds,
       failures_before_alert, require_secret, resume_on_ping, methods, uuid_hash, sealed_uuid, secret_hash,
       status, expects_from, next_expected_at, deadline_at, last_ping_at)
     select $1, 'job ' || n, 'job-' || n, 'period', 'UTC', 3600, 600, 1, true, false, 'any', sha256(n::text::bytea), '', sha256('secret'),
       'up', now(), now() + interval '60 minutes', now() + interval '70 minutes', now()
     from generate_series(1, $2::integer) n`,
    [workspace.rows[0]?.id, count],
  );
  return Array.from({ length: count }, (_, index) => `/api/v1/ping/bench/job-${index + 1}`);
}

/** Durable transactions of one small row a second, by so many connections: what no ping alone could be faster than. */
async function commits(pool: pg.Pool, connections: number, seconds: number): Promise<number> {
  const beganMs = performance.now();
  const untilMs = beganMs + seconds * 1_000;
  let done = 0;
  const worker = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      while (performance.now() < untilMs) {
        await client.query('insert into bench_commits values (1)');
        done += 1;
      }
    } finally {
      client.release();
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return done / ((performance.now() - beganMs) / 1_000);
}

async function load(
  port: number,
  paths: readonly string[],
  options: { readonly connections: number; readonly seconds: number; readonly perSecond?: number },
): Promise<Load> {
  const child = fork(path.join(import.meta.dirname, 'pings/load.ts'));
  const answer = once(child, 'message');
  child.send({ port, paths, options });
  const [measured] = (await answer) as [Load];
  return measured;
}

/** Batches so far: rows of one batch have one transaction. */
async function committed(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ n: string }>('select count(distinct xmin::text) as n from heartbeat_pings');
  return Number(rows[0]?.n);
}

async function stored(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ n: string }>('select count(*) as n from heartbeat_pings');
  return Number(rows[0]?.n);
}

const round = (value: number): number => Math.round(value * 100) / 100;

function tableOf(figures: Figures): (readonly [string, string])[] {
  const figure = (key: string): string => String(figures[key]);
  return [
    ['durable pings', `${figure('pings_per_second')} a second (goal 5000)`],
    [
      'p99 at 5000 a second',
      `${figure('pings_p99_ms')} ms (goal 50), median ${figure('pings_p50_ms')} ms, ${figure('offered_per_second')} answered`,
    ],
    [
      'a commit of PostgreSQL alone',
      `${figure('commits_per_second')} a second; by four connections ${figure('commits_together_per_second')}`,
    ],
    ['pings in a commit', figure('pings_per_commit')],
    ['processor time of the API for each', `${figure('ping_us')} µs`],
    ['not taken', figure('refused')],
  ];
}
