import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { addMonitors, fail, startReceiver, tellTargets } from '../../harness/alerting.ts';
import type { Receiver } from '../../harness/alerting.ts';
import { signedIn, startProduct } from '../../harness/product.ts';
import { openDatabaseOf } from '../../faults/oracle.ts';
import { percentile } from '../agent/lateness.ts';
import type { Load } from './load.ts';
import { ask, startProcess } from './processes.ts';
import type { Asking } from './processes.ts';

export type CrowdPlan = {
  /** Each has an address of its own. */
  readonly readers: number;
  readonly perSecond: number;
  /** Monitors that fail in each turn, one after another. */
  readonly fails: number;
  readonly everyMs: number;
  /** How often it is done alone and then beside the crowd. */
  readonly turns: number;
};

export type CrowdFigures = {
  readonly alert_alone_p50_ms: number;
  readonly alert_alone_max_ms: number;
  readonly alert_crowd_p50_ms: number;
  readonly alert_crowd_max_ms: number;
  readonly crowd_per_second: number;
  readonly crowd_p99_ms: number;
};

type World = { readonly pool: pg.Pool; readonly receiver: Receiver; readonly asking: Asking };
const slug = 'crowded';
/** A page has room for so many of those that fail. */
const mostShown = 40;

/**
 * How long the product, in its one process, takes from an outage to a message that a real receiver has taken: alone, and while a crowd reads the page
 * that tells the outage, in turns.
 */
export async function alertsWithCrowd(plan: CrowdPlan, teardown: (step: () => unknown) => void): Promise<CrowdFigures> {
  const receiver = await startReceiver();
  teardown(() => receiver.close());
  const product = await startProduct({
    PARALLAX_LOG_LEVEL: 'warn',
    PARALLAX_CHANNEL_BASE_URLS: `pagerduty=${receiver.baseUrl}`,
  });
  teardown(() => product.stop());
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const pool = openDatabaseOf(product);
  teardown(() => pool.end());
  await tellTargets(api, workspaceId, 'pagerduty', receiver, [
    { name: 'team', scope: { all: true }, events: ['monitor.down'] },
  ]);
  const monitors = await addMonitors(pool, workspaceId, 'shop', plan.fails * plan.turns * 2, ['shop']);
  const items = monitors.slice(0, mostShown).map((id) => ({ type: 'monitor', id }));
  const page = { workspace_id: workspaceId, name: 'Shop', slug, is_published: true, items };
  await api.call('POST', '/api/v1/status-pages', 201, page);
  const { child: readers } = await startProcess('readers.ts', {}, [], teardown);
  const world: World = { pool, receiver, asking: { readers, port: product.ports.http } };
  const [alone, beside]: number[][] = [[], []];
  const loads: Load[] = [];
  for (let turn = 0; turn < plan.turns; turn += 1) {
    const first = turn * plan.fails * 2;
    alone?.push(...(await failOneByOne(world, plan, monitors, first)));
    const other = await besideCrowd(world, plan, () => failOneByOne(world, plan, monitors, first + plan.fails));
    beside?.push(...other.latenciesMs);
    loads.push(other.load);
  }
  const answered = loads.reduce((sum, load) => sum + load.answered, 0);
  const seconds = loads.reduce((sum, { untilLastSeconds }) => sum + untilLastSeconds, 0);
  const answers = loads.flatMap(({ latenciesMs }) => latenciesMs);
  return {
    alert_alone_p50_ms: percentile(alone ?? [], 0.5),
    alert_alone_max_ms: Math.max(...(alone ?? [])),
    alert_crowd_p50_ms: percentile(beside ?? [], 0.5),
    alert_crowd_max_ms: Math.max(...(beside ?? [])),
    crowd_per_second: Math.round(answered / seconds),
    crowd_p99_ms: Math.round(percentile(answers, 0.99) * 10) / 10,
  };
}

/** Failures are told apart by their time until all of their messages have arrived. @returns milliseconds from each commit to its message */
async function failOneByOne(
  { pool, receiver }: World,
  { fails, everyMs }: CrowdPlan,
  monitors: readonly number[],
  first: number,
): Promise<number[]> {
  const failedMs = new Map<string, number>();
  const began = receiver.arrivals.length;
  for (let at = first; at < first + fails; at += 1) {
    const startedMs = Date.now();
    failedMs.set(`shop-${at + 1}`, await fail(pool, [monitors[at] ?? 0]));
    await delay(Math.max(0, everyMs - (Date.now() - startedMs)));
  }
  const deadlineMs = Date.now() + 60_000;
  while (receiver.arrivals.length - began < fails) {
    if (Date.now() > deadlineMs) throw new Error(`${receiver.arrivals.length - began} of ${fails} alerts have arrived`);
    await delay(20);
  }
  return receiver.arrivals.slice(began).map(({ title, atMs }) => {
    // The name comes first.
    const atFailureMs = failedMs.get(title.split(' ', 1)[0] ?? '');
    if (atFailureMs === undefined) throw new Error(`"${title}" tells of nothing that failed`);
    return atMs - atFailureMs;
  });
}

/** Lets a crowd read the page for as long as something takes. */
async function besideCrowd(
  { asking }: World,
  { readers, perSecond, fails, everyMs }: CrowdPlan,
  work: () => Promise<number[]>,
): Promise<{ readonly latenciesMs: number[]; readonly load: Load }> {
  const loading = ask(asking, {
    paths: [`/status/${slug}`],
    headers: ['accept-encoding: gzip'],
    readers,
    perSecond,
    // Messages wait three seconds for company.
    seconds: (fails * everyMs) / 1_000 + 4,
  });
  // It is there before the first fails.
  await delay(500);
  const [latenciesMs, load] = await Promise.all([work(), loading]);
  const others = Object.keys(load.statuses).filter((status) => status !== '200');
  if (others.length > 0 || load.lost > 0)
    throw new Error(`the crowd was answered ${JSON.stringify(load.statuses)}, ${load.lost} not at all`);
  return { latenciesMs, load };
}
