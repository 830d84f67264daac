import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { z } from 'zod';
import {
  insertMonitors,
  insertProbe,
} from '../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import { monitorsPage } from '../../control-plane/src/monitoring/monitors/list/queries.ts';
import { inScope } from '../../control-plane/src/platform/database/scope.ts';
import type { Scope } from '../../control-plane/src/platform/database/scope.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { median, percentile } from './agent/lateness.ts';
import { variantsOf } from './api/variants.ts';
import type { Variant } from './api/variants.ts';
import { startDatabase } from './database.ts';
import { processorTimeUs } from './processor-time.ts';
import { fillRanges } from './query/fill.ts';
import type { Bench, Figures } from './report.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const sizes = {
  full: { monitors: 10_000, rounds: 20, seconds: 60, imports: 3 },
  brief: { monitors: 200, rounds: 2, seconds: 1, imports: 1 },
} as const;

/** What the list of monitors and an import cost through the API, beside the statement alone. */
export const apiBench: Bench = {
  name: 'api',
  summary:
    'the list of 10,000 monitors with every sort and filter under load, beside its statement alone, and an import',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      return await measure(say, sizes[options?.brief === true ? 'brief' : 'full'], (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

type Call = (path: string, init?: RequestInit) => Promise<string>;

async function measure(
  say: (line: string) => void,
  size: (typeof sizes)[keyof typeof sizes],
  teardown: (step: () => unknown) => void,
) {
  const database = await startDatabase(say, teardown);
  const { call, token, pid } = await startApi(database.urls, teardown);
  const caller = JSON.parse(await call('/api/v1/auth/me')) as { id: number };
  const { workspaces } = JSON.parse(await call('/api/v1/workspaces')) as { workspaces: { id: number }[] };
  const workspaceId = workspaces[0]?.id ?? 0;

  say(`${size.monitors} monitors`);
  const groupId = await fill(database.worker, { userId: caller.id, workspaceId }, size.monitors);
  await database.owner.query('vacuum analyze');
  const variants = variantsOf(groupId);
  const scope: Scope = { userId: caller.id, workspaceIds: [workspaceId] };

  const backend =
    await database.readers.oneFirst(sql.type(z.object({ pid: z.number() }))`select pg_backend_pid() as pid`);
  const postmaster = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${backend}/status`, 'utf8'))?.[1]);
  const { rounds } = size;
  // PostgreSQL is below this process, and not below that of the API.
  const spentUs = (by: 'bench' | 'api'): number =>
    by === 'bench' ? processorTimeUs(process.pid) : processorTimeUs(pid) + processorTimeUs(postmaster);
  const costOf = async (by: 'bench' | 'api', works: readonly (() => Promise<unknown>)[]): Promise<number> => {
    for (const work of works) await work();
    const before = spentUs(by);
    for (let round = 0; round < rounds; round += 1) for (const work of works) await work();
    return (spentUs(by) - before) / rounds / works.length / 1_000;
  };

  say('the statement alone, with policies, and the request');
  const bare = (variant: Variant) => () => monitorsPage(database.readers, scope, variant.filter);
  const request = (variant: Variant) => () => call(`/api/v1/monitors?${variant.query}`);
  const bareMs = await costOf('bench', variants.map(bare));
  const policiesMs = await costOf(
    'bench',
    variants.map(
      ({ filter }) =>
        () =>
          inScope(database.requests, scope, (tx) => monitorsPage(tx, scope, filter)),
    ),
  );
  const nothingMs = await costOf(
    'api',
    variants.map(() => () => call('/api/v1/bench/nothing')),
  );
  const listMs = await costOf('api', variants.map(request));

  say('what the statement sustains, and the list at half of it');
  const unloaded: number[] = [];
  for (const variant of variants) {
    const times: number[] = [];
    for (let round = 0; round < Math.max(5, rounds); round += 1) times.push(await timeOf(request(variant)));
    unloaded.push(median(times));
  }
  const rate = await sustained(variants.map(bare), size.seconds);
  const ratios = await atRate(variants.map(request), unloaded, rate / 2, size.seconds);

  say('imports of 500 rows');
  const imports: number[] = [];
  for (let round = 0; round < size.imports; round += 1) {
    const rows = Array.from({ length: 500 }, (_, row) => `import ${round} ${row},https://i${round}-${row}.example/,60`);
    const body = `name,url,interval_seconds\n${rows.join('\n')}\n`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' };
    let answer = '';
    const took = await timeOf(async () => {
      answer = await call(`/api/v1/monitors/import/csv?workspace_id=${workspaceId}`, { method: 'POST', headers, body });
    });
    const { created } = JSON.parse(answer) as { created: number };
    if (created !== 500) throw new Error(`only ${created} of 500 rows were imported`);
    imports.push(took);
  }

  const figures = {
    list_vs_bare: round(listMs / bareMs),
    list_ms: round(listMs),
    bare_ms: round(bareMs),
    policies_ms: round(policiesMs - bareMs),
    credentials_and_limits_ms: round(nothingMs),
    bare_rate: round(rate),
    unloaded_median_ms: round(median(unloaded)),
    slowest_median_ms: round(Math.max(...unloaded)),
    p99_vs_median: round(percentile(ratios, 0.99)),
    requests: ratios.length,
    import_ms: round(median(imports)),
  } satisfies Figures;
  return { figures, table: tableOf(figures, variants.length) };
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
  const base = `http://127.0.0.1:${message.port}`;
  const account = { email: 'bench@example.com', password: 'a rather long phrase 7' };
  const send = async (place: string, init: RequestInit): Promise<string> => {
    const answer = await fetch(base + place, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${place}: ${answer.status} ${text.slice(0, 300)}`);
    return text;
  };
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(account) };
  await send('/api/v1/auth/register', post);
  const { access_token: token } = JSON.parse(await send('/api/v1/auth/login', post)) as { access_token: string };
  const call: Call = (place, init = { headers: { authorization: `Bearer ${token}` } }) => send(place, init);
  return { call, token, pid: child.pid ?? 0 };
}

/** @returns a group with a tenth of the monitors */
async function fill(
  pool: pg.Pool,
  owner: { readonly userId: number; readonly workspaceId: number },
  count: number,
): Promise<number> {
  const nowMs = Date.now();
  const probes = await Promise.all(['a', 'b', 'c'].map((name) => insertProbe(pool, name)));
  const monitors = await insertMonitors(pool, owner, { count, probes, createdMs: nowMs - 3 * dayMs });
  await pool.query(
    `update monitors set status = (array['UP', 'UP', 'UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'])[1 + id % 9],
       tags = array['tag ' || id % 10], position = case when id % 2 = 0 then id end where id = any($1)`,
    [monitors],
  );
  await pool.query('select ensure_result_partitions($1, $2)', [new Date(nowMs - 3 * dayMs), new Date(nowMs + dayMs)]);
  // Each has results of the last minutes only: the list reads the newest one.
  const slots =
    'insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, connect_us, error)';
  await pool.query(
    `${slots} select at, at + interval '1 second', m, $3, 1, 0, 160, 20000 + (m * 7919) % 400000, 1500, 0
     from unnest($1::integer[]) m cross join generate_series($2::timestamptz - interval '10 minutes', $2::timestamptz, interval '1 minute') at`,
    [monitors, new Date(nowMs - 60_000), probes[0]?.id],
  );
  await fillRanges(pool, monitors, { days: 2, nowUs: nowMs * 1_000, everyHours: 12 });
  const group = await pool.query<{ id: number }>(
    `insert into monitor_groups (workspace_id, name) values ($1, 'bench') returning id`,
    [owner.workspaceId],
  );
  const groupId = group.rows[0]?.id ?? 0;
  await pool.query(
    'insert into monitor_group_members (workspace_id, group_id, monitor_id) select $3, $1, m from unnest($2::integer[]) m where m % 10 = 0',
    [groupId, monitors, owner.workspaceId],
  );
  return groupId;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** How many a second are done by as many at once as the pool of the bench has connections. */
async function sustained(works: readonly (() => Promise<unknown>)[], seconds: number): Promise<number> {
  const untilMs = performance.now() + seconds * 1_000;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      await works[done % works.length]?.();
      done += 1;
    }
  };
  const took = await timeOf(() => Promise.all(Array.from({ length: 4 }, worker)));
  return (done / took) * 1_000;
}

/** Latencies from when each request was due, whether or not the ones before it were answered, against the median of its kind. */
async function atRate(
  works: readonly (() => Promise<unknown>)[],
  medians: readonly number[],
  rate: number,
  seconds: number,
): Promise<readonly number[]> {
  const ratios: number[] = [];
  const waiting: Promise<void>[] = [];
  const beganMs = performance.now();
  const count = Math.max(works.length, Math.floor(rate * seconds));
  for (let index = 0; index < count; index += 1) {
    const dueMs = beganMs + (index * 1_000) / rate;
    const ahead = dueMs - performance.now();
    if (ahead > 0) await wait(ahead);
    const kind = index % works.length;
    const answered = async (): Promise<void> => {
      await works[kind]?.();
      ratios.push((performance.now() - dueMs) / (medians[kind] ?? 1));
    };
    waiting.push(answered());
  }
  await Promise.all(waiting);
  return ratios;
}

const round = (value: number): number => Math.round(value * 100) / 100;

function tableOf(figures: Figures, variants: number): (readonly [string, string])[] {
  const figure = (key: string): string => String(figures[key]);
  return [
    [
      'list : statement',
      `${figure('list_vs_bare')} of processor time (goal 1.3), mean of ${variants} sorts and filters`,
    ],
    ['the list', `${figure('list_ms')} ms of processor time`],
    ['the statement alone', `${figure('bare_ms')} ms`],
    ['policies and their transaction', `${figure('policies_ms')} ms more`],
    ['a request with nothing in it', `${figure('credentials_and_limits_ms')} ms: HTTP, credentials, limits`],
    ['the statement sustains', `${figure('bare_rate')} a second, four at once`],
    ['unloaded', `median ${figure('unloaded_median_ms')} ms, slowest kind ${figure('slowest_median_ms')} ms`],
    [
      'p99 at half of that rate',
      `${figure('p99_vs_median')} × the unloaded median (goal: below 5), ${figure('requests')} requests`,
    ],
    ['import of 500 rows', `${figure('import_ms')} ms (goal 2000)`],
  ];
}
