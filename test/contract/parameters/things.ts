import { z } from 'zod';
import { addProbe, addRange, addResults, setStatus } from '../../../control-plane/src/monitoring/testing.ts';
import type { TestResult } from '../../../control-plane/src/monitoring/testing.ts';
import { sql } from '../../../control-plane/src/platform/database/pools.ts';
import type { World } from '../world.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** One more than the largest page, so that the largest page leaves one out. */
export const many = 101;

/** A stretch of time, in milliseconds since the epoch; no end: it lasts. */
export type Stretch = { readonly fromMs: number; readonly toMs: number | null; readonly status: 'UP' | 'DOWN' };

/** What the cases are asked about. Ages are half an hour away from every whole hour, so that the clock of a slow machine moves nothing over a bound. */
export type Things = {
  /** When they were made. */
  readonly nowMs: number;
  /** A workspace with `many` paused monitors of the names n000, n001 …, as many groups with the same names, and `busy`. */
  readonly crowded: number;
  /** A workspace with the ten monitors a to j, each in another state, and `old`, `corrected` and `probed`; by their names. */
  readonly varied: number;
  readonly byName: ReadonlyMap<string, number>;
  /** A group of `varied` with the members a and c. */
  readonly group: number;
  /** Checked by the control plane for three years: `many` ranges, and a result of each of some hours. */
  readonly old: { readonly id: number; readonly ranges: readonly Stretch[]; readonly ages: readonly number[] };
  /** With `many` results of its last hours, a minute apart; times newest first. */
  readonly busy: { readonly id: number; readonly timesMs: readonly number[] };
  /** Checked by two probes; results in the last minutes, one by hand, and a fallback. */
  readonly probed: { readonly id: number; readonly one: number; readonly two: number };
  /** With `many` corrections, and so as many entries in its ledger. */
  readonly corrected: number;
  /** A workspace with `many` API checks of the names c000, c001 …; the first ten have the tag `ten` and are each in another state. `group` has c000 and c002, `busy` the results of the other `busy`. */
  readonly checks: { readonly workspace: number; readonly group: number; readonly busy: number };
};

type Made = { readonly id: number };
const made = z.object({ id: z.number() });

export async function makeThings(world: World): Promise<Things> {
  const nowMs = Date.now();
  // As if everything until now had been evaluated.
  await world.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, now())
    on conflict (shard) do update set folded_until = excluded.folded_until`);
  const crowded = await workspace(world, 'crowded');
  for (let index = 0; index < many; index += 1) {
    const name = `n${String(index).padStart(3, '0')}`;
    await monitor(world, crowded, { name, is_active: false });
    await world.make('POST', '/api/v1/monitor-groups', { workspace_id: crowded, name, description: 'crowd' });
  }
  const varied = await workspace(world, 'varied');
  const byName = await variety(world, varied, nowMs);
  const members = ['a', 'c'].map((name) => byName.get(name));
  const group = await world.make('POST', '/api/v1/monitor-groups', {
    workspace_id: varied,
    name: 'a and c',
    monitor_ids: members,
  });
  const old = await withHistory(world, varied, nowMs);
  const busy = await monitor(world, crowded, { name: 'z busy' });
  const timesMs = Array.from({ length: many }, (_, index) => nowMs - (index + 1) * minuteMs);
  await age(world, busy.id, 2);
  await addResults(
    world.database,
    timesMs.map((atMs) => ({ monitorId: busy.id, probeId: 0, central: true, atMs })),
  );
  const corrected = await withCorrections(world, varied, nowMs);
  const checks = await withApiChecks(world, nowMs, timesMs);
  return {
    nowMs,
    crowded,
    varied,
    byName,
    group: Number(group.body['id']),
    old,
    busy: { id: busy.id, timesMs },
    corrected,
    checks,
    // Last: monitors that are made once there are probes are given to them, and these have no agents.
    probed: await withProbes(world, varied, nowMs),
  };
}

async function workspace(world: World, name: string): Promise<number> {
  return made.parse((await world.make('POST', '/api/v1/workspaces', { name })).body).id;
}

async function monitor(world: World, workspaceId: number, body: Record<string, unknown>): Promise<Made> {
  const all = { workspace_id: workspaceId, url: 'https://example.com/', interval_seconds: 86_400, ...body };
  return made.parse((await world.make('POST', '/api/v1/monitors', all)).body);
}

/** As if it had been made so many days ago. */
async function age(world: World, monitorId: number, days: number): Promise<void> {
  await world.database.worker.query(sql.unsafe`
    update monitors set created_at = now() - ${days} * interval '1 day' where id = ${monitorId}`);
}

async function variety(world: World, workspaceId: number, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const long = 'x'.repeat(300);
  const bodies: Readonly<Record<string, Record<string, unknown>>> = {
    a: { tags: ['x', 'y'] },
    b: { tags: ['x'.repeat(50), 'x'] },
    c: { url: `https://example.com/${long}`, tags: ['xx', 'x'] },
    d: { protocol: 'dnsbl', url: '192.0.2.1' },
    e: { is_active: false, tags: ['x'.repeat(49)] },
    f: {},
    g: {},
    h: {},
    i: {},
    j: {},
  };
  const ids = new Map<string, number>();
  for (const [name, body] of Object.entries(bodies))
    ids.set(name, (await monitor(world, workspaceId, { name, ...body })).id);
  const of = (name: string): number => ids.get(name) ?? 0;
  const statuses = { a: 'UP', b: 'DOWN', c: 'DEGRADED', e: 'UP', f: 'TIMEOUT', g: 'PARTIAL', h: 'WARNING' };
  for (const [name, status] of Object.entries(statuses)) await setStatus(world.database, of(name), status);
  const result = (name: string, more: Pick<TestResult, 'atMs' | 'outcome' | 'totalUs'>) => ({
    monitorId: of(name),
    probeId: 0,
    central: true,
    ...more,
  });
  await addResults(world.database, [
    result('a', { atMs: nowMs - minuteMs, totalUs: 99_000 }),
    result('c', { atMs: nowMs - minuteMs, totalUs: 12_000 }),
    result('i', { atMs: nowMs - minuteMs, outcome: 'timeout' }),
    result('j', { atMs: nowMs - minuteMs, outcome: 'skipped' }),
  ]);
  const range = (name: string, from: number, to: number | null, status: 'UP' | 'DOWN') =>
    addRange(world.database, {
      monitorId: of(name),
      fromMs: nowMs - from * hourMs,
      toMs: to === null ? null : nowMs - to * hourMs,
      status,
    });
  await range('a', 12, 6, 'DOWN');
  await range('a', 6, null, 'UP');
  await range('c', 12, null, 'UP');
  await world.database.worker.query(sql.unsafe`
    update monitors set position = case id when ${of('j')} then 1 else 2 end where id in (${of('j')}, ${of('d')})`);
  await world.database.worker.query(sql.unsafe`
    insert into dnsbl_runs (monitor_id, provider, started_at, ended_at, state, is_listed)
    values (${of('d')}, 'list.example', now() - interval '40 days', now() + interval '1 day', 'listed', true)`);
  return ids;
}

/** Hours at which ranges meet, youngest first: near each bound of the windows, and others so that there are `many`. */
const borders = Array.from({ length: many - 7 }, (_, index) => index + 0.5).concat(
  359.5,
  719.5,
  1_079.5,
  2_159.5,
  8_759.5,
  17_519.5,
);
const ages = [0.5, 1.5, 23.5, 24.5, 359.5, 360.5, 718.5, 719.5, 720.5, 1_079.5, 2_158.5, 2_159.5, 2_160.5];

async function withHistory(world: World, workspaceId: number, nowMs: number): Promise<Things['old']> {
  const { id } = await monitor(world, workspaceId, { name: 'old' });
  await age(world, id, 3 * 365);
  const ranges = [0, ...borders].map((hoursAgo, index): Stretch => {
    const before = borders[index] ?? 3 * 8_000;
    return {
      fromMs: nowMs - before * hourMs,
      toMs: hoursAgo === 0 ? null : nowMs - hoursAgo * hourMs,
      status: index % 2 === 0 ? 'UP' : 'DOWN',
    };
  });
  for (const one of ranges) await addRange(world.database, { monitorId: id, ...one });
  // One by one: partitions are made for 60 days at once at most.
  for (const hoursAgo of ages)
    await addResults(world.database, [{ monitorId: id, probeId: 0, central: true, atMs: nowMs - hoursAgo * hourMs }]);
  return { id, ranges, ages };
}

async function withCorrections(world: World, workspaceId: number, nowMs: number): Promise<number> {
  const { id } = await monitor(world, workspaceId, { name: 'corrected' });
  await age(world, id, 2);
  await addRange(world.database, { monitorId: id, fromMs: nowMs - 24 * hourMs, toMs: nowMs, status: 'DOWN' });
  for (let index = 0; index < many; index += 1) {
    const startMs = nowMs - 20 * hourMs + index * minuteMs;
    await world.make('POST', `/api/v1/monitors/${id}/sla/corrections`, {
      started_at: new Date(startMs).toISOString(),
      ended_at: new Date(startMs + minuteMs).toISOString(),
      counted_as: 'UP',
      reason: `correction ${index}`,
    });
  }
  return id;
}

async function withApiChecks(world: World, nowMs: number, timesMs: readonly number[]): Promise<Things['checks']> {
  const id = await workspace(world, 'checks');
  const tags: Readonly<Record<number, readonly string[]>> = { 0: ['x', 'y'], 1: ['x'.repeat(50)], 2: ['x'.repeat(49)] };
  const ids: number[] = [];
  for (let index = 0; index < many; index += 1) {
    const body = {
      workspace_id: id,
      name: `c${String(index).padStart(3, '0')}`,
      url: index === 3 ? `https://example.com/${'x'.repeat(300)}` : 'https://example.com/',
      interval_seconds: 86_400,
      is_active: index !== 3,
      tags: [...(index < 10 ? ['ten'] : []), ...(tags[index] ?? [])],
      steps: [{}],
    };
    ids.push(made.parse((await world.make('POST', '/api/v1/api-checks', body)).body).id);
  }
  const of = (index: number): number => ids[index] ?? 0;
  const statuses = { 0: 'UP', 1: 'DOWN', 2: 'DEGRADED', 4: 'TIMEOUT', 5: 'PARTIAL', 6: 'WARNING' };
  for (const [index, status] of Object.entries(statuses)) await setStatus(world.database, of(Number(index)), status);
  const busy = ids.at(-1) ?? 0;
  await age(world, busy, 2);
  const result = (index: number, more: Pick<TestResult, 'outcome' | 'totalUs'>) => ({
    monitorId: of(index),
    probeId: 0,
    central: true,
    atMs: nowMs - minuteMs,
    ...more,
  });
  await addResults(world.database, [
    result(0, { totalUs: 99_000 }),
    result(2, { totalUs: 12_000 }),
    result(7, { outcome: 'timeout' }),
    result(8, { outcome: 'skipped' }),
    ...timesMs.map((atMs) => ({ monitorId: busy, probeId: 0, central: true, atMs })),
  ]);
  const range = (index: number, from: number, to: number | null, status: 'UP' | 'DOWN') =>
    addRange(world.database, {
      monitorId: of(index),
      fromMs: nowMs - from * hourMs,
      toMs: to === null ? null : nowMs - to * hourMs,
      status,
    });
  await range(0, 12, 6, 'DOWN');
  await range(0, 6, null, 'UP');
  await range(2, 12, null, 'UP');
  await world.database.worker.query(sql.unsafe`
    update monitors set position = case id when ${of(9)} then 1 else 2 end where id in (${of(9)}, ${of(3)})`);
  const group = await world.make('POST', '/api/v1/monitor-groups', {
    workspace_id: id,
    name: 'c000 and c002',
    monitor_ids: [of(0), of(2)],
  });
  return { workspace: id, group: Number(group.body['id']), busy };
}

async function withProbes(world: World, workspaceId: number, nowMs: number): Promise<Things['probed']> {
  const [one, two] = [await addProbe(world.database, 'one', 'eu'), await addProbe(world.database, 'two', 'us')];
  const { id } = await monitor(world, workspaceId, { name: 'probed', probe_ids: [one, two] });
  await age(world, id, 2);
  await world.database.worker.query(sql.unsafe`
    update assignments set started_at = started_at - interval '2 days' where monitor_id = ${id}`);
  const result = (probeId: number, minutesAgo: number, more: object = {}) => ({
    monitorId: id,
    probeId,
    atMs: nowMs - minutesAgo * minuteMs,
    ...more,
  });
  await addResults(world.database, [
    result(one, 9),
    result(one, 8),
    result(one, 7),
    result(two, 6),
    result(two, 5),
    result(one, 4, { kind: 'manual' }),
    result(0, 3, { fallback: true }),
  ]);
  await addRange(world.database, { monitorId: id, fromMs: nowMs - hourMs, toMs: null, status: 'UP' });
  // No more monitors for them.
  await world.database.worker.query(sql.unsafe`update probes set last_seen_at = now() - interval '1 day'`);
  return { id, one, two };
}
