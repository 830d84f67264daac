import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { addMonitors, fail, startReceiver, tellTargets } from '../harness/alerting.ts';
import type { Receiver } from '../harness/alerting.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { pidOf } from '../harness/children.ts';
import { signedIn, startProduct } from '../harness/product.ts';
import type { Product } from '../harness/product.ts';
import { openDatabaseOf } from '../faults/oracle.ts';
import { percentile } from './agent/lateness.ts';
import { processorTimeUs } from './processor-time.ts';
import type { Bench, Figures } from './report.ts';

const sizes = {
  full: { storm: 10_000, teams: 19, seconds: 30, perSecond: 20, fails: 30, others: 8 },
  brief: { storm: 200, teams: 4, seconds: 3, perSecond: 10, fails: 3, others: 2 },
} as const;
type Size = (typeof sizes)[keyof typeof sizes];

const named = (what: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${what}-${n}`);

type World = {
  readonly product: Product;
  readonly pool: pg.Pool;
  readonly api: ApiClient;
  readonly workspaceId: number;
  readonly receiver: Receiver;
};

/** How fast people know. */
export const alertsBench: Bench = {
  name: 'alerts',
  summary: 'from failures to messages, over webhooks: at a steady load, and when very many monitors fail at once',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      return await measure(say, sizes[options?.brief === true ? 'brief' : 'full'], (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

async function measure(say: (line: string) => void, size: Size, teardown: (step: () => unknown) => void) {
  const receiver = await startReceiver();
  teardown(() => receiver.close());
  say('starting the product');
  const product = await startProduct({
    PARALLAX_LOG_LEVEL: 'warn',
    PARALLAX_CHANNEL_BASE_URLS: `pagerduty=${receiver.baseUrl}`,
  });
  teardown(() => product.stop());
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const pool = openDatabaseOf(product);
  teardown(() => pool.end());
  const world: World = { product, pool, api, workspaceId, receiver };
  say(`${size.perSecond} changes a second for ${size.seconds} s`);
  const steady = await steadyLoad(world, size);
  say(`${size.storm} monitors fail at once`);
  const storm = await failAtOnce(world, size);
  const figures = { ...steady, ...storm } satisfies Figures;
  return { figures, table: tableOf(figures, size) };
}

/** Changes of status and `/fail` of heartbeats, each told in a message of its own. */
async function steadyLoad(world: World, size: Size) {
  const { pool, api, workspaceId, receiver, product } = world;
  const count = size.perSecond * size.seconds;
  const steady = named('steady', 15);
  const jobs = named('jobs', 5);
  await tellTargets(api, workspaceId, 'pagerduty', receiver, [
    ...steady.map((name) => ({ name, scope: { tags: [name] }, events: ['monitor.down'] })),
    ...jobs.map((name) => ({ name, scope: { tags: [name] }, events: ['heartbeat.failed'] })),
  ]);
  const monitors = await addMonitors(pool, workspaceId, 'shop', count, steady);
  const heartbeats: { readonly uuid: string }[] = [];
  for (let n = 0; n < size.fails; n += 1) {
    const fields = { name: `job-${n}`, tags: [jobs[n % jobs.length]] };
    heartbeats.push(await api.call('POST', `/api/v1/heartbeats?workspace_id=${workspaceId}`, 201, fields));
  }
  const toldOf = new Map<string, number>();
  const beganMs = Date.now();
  const changes = monitors.map(async (id, index) => {
    await delay(beganMs + (index * 1_000) / size.perSecond - Date.now());
    toldOf.set(`shop-${index + 1}`, await fail(pool, [id]));
  });
  const signals = heartbeats.map(async ({ uuid }, index) => {
    await delay(beganMs + ((index + 0.5) * size.seconds * 1_000) / size.fails - Date.now());
    toldOf.set(`job-${index}`, Date.now());
    const answer = await fetch(`${product.baseUrl}/ping/${uuid}/fail`, { method: 'POST' });
    if (!answer.ok) throw new Error(`/fail: ${answer.status}`);
  });
  await Promise.all([...changes, ...signals]);
  await until(60, () => receiver.arrivals.length >= count + size.fails);
  const latencies = receiver.arrivals.map(({ title, atMs }) => ({
    isJob: title.startsWith('job'),
    // The name comes first.
    ms: atMs - (toldOf.get(title.split(' ', 1)[0] ?? '') ?? Number.NaN),
  }));
  const of = (isJob: boolean): number[] => latencies.filter((one) => one.isJob === isJob).map(({ ms }) => ms);
  return {
    changes: count,
    change_p50_ms: percentile(of(false), 0.5),
    change_p99_ms: percentile(of(false), 0.99),
    fail_p50_ms: percentile(of(true), 0.5),
    fail_p99_ms: percentile(of(true), 0.99),
    messages_steady: latencies.length,
  };
}

async function failAtOnce({ product, pool, api, workspaceId, receiver }: World, size: Size) {
  const teams = named('team', size.teams);
  const targets = [...teams, 'everything'];
  await tellTargets(
    api,
    workspaceId,
    'webhook',
    receiver,
    targets.map((name) => ({
      name,
      scope: { tags: name === 'everything' ? teams : [name] },
      events: ['monitor.down'],
    })),
  );
  const monitors = await addMonitors(pool, workspaceId, 'storm', size.storm, teams);
  const before = await count(pool, `select count(*)::integer as n from notifications where status = 'sent'`);
  const pids = [pidOf(product, 'control-plane'), pidOf(product, 'PostgreSQL')];
  const processorUs = (): number => pids.reduce((sum, pid) => sum + processorTimeUs(pid), 0);
  const [controlPlane = 0] = pids;
  const began = { all: processorUs(), controlPlane: processorTimeUs(controlPlane), arrivals: receiver.arrivals.length };
  const other = await bystander({ product, receiver }, size.others);
  const failedMs = await fail(pool, monitors);
  const ofOthers = other.failOneByOne();
  const wanted = before + 2 * size.storm;
  await until(
    300,
    async () => (await count(pool, `select count(*)::integer as n from notifications where status = 'sent'`)) >= wanted,
  );
  await ofOthers;
  const allUs = processorUs() - began.all;
  const ownUs = processorTimeUs(controlPlane) - began.controlPlane;
  const arrivals = receiver.arrivals.slice(began.arrivals);
  const ofTargets = targets.map((target) => arrivals.filter((one) => one.target === target));
  const latest = async (of: string): Promise<number> => {
    const atMs = await count(pool, `select (extract(epoch from max(at)) * 1000)::float8 as n from (${of}) times (at)`);
    return round((atMs - failedMs) / 1_000);
  };
  return {
    storm: size.storm,
    storm_first_s: round(Math.min(...arrivals.map(({ atMs }) => atMs - failedMs)) / 1_000),
    storm_each_has_a_message_s: round(
      Math.max(...ofTargets.map(([first]) => (first?.atMs ?? Infinity) - failedMs)) / 1_000,
    ),
    storm_incidents_s: await latest(`select done_at from outbox where kind = 'monitor.transition'`),
    storm_decided_s: await latest(`select created_at from notifications where kind = 'opened'`),
    storm_everybody_knows_s: round(Math.max(...arrivals.map(({ atMs }) => atMs - failedMs)) / 1_000),
    storm_other_fail_s: round(Math.max(...other.latenciesMs()) / 1_000),
    storm_messages: arrivals.length - size.others,
    storm_most_messages: Math.max(...ofTargets.map((own) => own.length)),
    outage_control_plane_us: Math.round(ownUs / size.storm),
    outage_database_us: Math.round((allUs - ownUs) / size.storm),
  };
}

/** Somebody whom the storm does not concern, some of whose jobs fail meanwhile, one a second. */
async function bystander({ product, receiver }: Pick<World, 'product' | 'receiver'>, jobs: number) {
  const { api, workspaceId } = await signedIn(product.baseUrl, 'other@example.org');
  await tellTargets(api, workspaceId, 'pagerduty', receiver, [
    { name: 'other', scope: { all: true }, events: ['heartbeat.failed'] },
  ]);
  const uuids: string[] = [];
  for (const name of named('other', jobs)) {
    const made = await api.call<{ uuid: string }>('POST', `/api/v1/heartbeats?workspace_id=${workspaceId}`, 201, {
      name,
    });
    uuids.push(made.uuid);
  }
  const failedMs = new Map<string, number>();
  return {
    failOneByOne: async () => {
      for (const [index, uuid] of uuids.entries()) {
        await delay(1_000);
        failedMs.set(`other-${index}`, Date.now());
        const answer = await fetch(`${product.baseUrl}/ping/${uuid}/fail`, { method: 'POST' });
        if (!answer.ok) throw new Error(`/fail: ${answer.status}`);
      }
    },
    /** From each request to its message. */
    latenciesMs: () =>
      [...failedMs].map(([name, atMs]) => {
        const arrival = receiver.arrivals.find((one) => one.target === 'other' && one.title.startsWith(`${name} `));
        return (arrival?.atMs ?? Infinity) - atMs;
      }),
  };
}

async function count(pool: pg.Pool, text: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(text);
  return rows[0]?.n ?? 0;
}

async function until(seconds: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + seconds * 1_000;
  while (!(await holds())) {
    if (Date.now() > deadlineMs) throw new Error(`not within ${seconds} s`);
    await delay(100);
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

function tableOf(figures: Figures, size: Size): (readonly [string, string])[] {
  const figure = (key: string): string => String(figures[key]);
  return [
    [
      `from the commit of a change to its message, ${size.perSecond} a second`,
      `p99 ${figure('change_p99_ms')} ms (goal 5000), median ${figure('change_p50_ms')} ms, of which 3000 wait for company`,
    ],
    ['from /fail to its message', `p99 ${figure('fail_p99_ms')} ms (goal 2000), median ${figure('fail_p50_ms')} ms`],
    [
      `${size.storm} at once: everybody is told of all that concerns them`,
      `after ${figure('storm_everybody_knows_s')} s (goal 60), each of something after ${figure('storm_each_has_a_message_s')} s`,
    ],
    ['meanwhile, of somebody else: from /fail to its message', `at most ${figure('storm_other_fail_s')} s`],
    ['all incidents are open', `after ${figure('storm_incidents_s')} s`],
    ['who is told is decided of all', `after ${figure('storm_decided_s')} s`],
    ['messages', `${figure('storm_messages')}, at most ${figure('storm_most_messages')} to one target`],
    [
      'processor time for each outage',
      `${figure('outage_control_plane_us')} µs of the control plane, ${figure('outage_database_us')} µs of PostgreSQL`,
    ],
  ];
}
