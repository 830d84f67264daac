import { listMonitorsRoute } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addProbe, addRange, addResults, monitorsApi, setStatus } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const answer = z.object({ monitors: z.array(z.object({ id: z.number(), name: z.string() })), total: z.number() });

async function names(api: MonitorsApi, query: string): Promise<string[]> {
  const list = await api.call('GET', `/api/v1/monitors?${query}`, { token: api.token });
  if (list.status !== 200) throw new Error(`${query}: ${list.status} ${JSON.stringify(list.body)}`);
  return answer.parse(list.body).monitors.map((monitor) => monitor.name);
}

void t.test('a page fits the contract and knows how many match', async (t) => {
  const api = await monitorsApi(t);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await api.monitor({ name });
  const list = await api.call('GET', '/api/v1/monitors?page=2&page_size=2&sort=name', { token: api.token });
  t.ok(listMonitorsRoute.success.answer?.safeParse(list.body).success, JSON.stringify(list.body).slice(0, 300));
  t.match(list.body, { total: 5, page: 2, page_size: 2, monitors: [{ name: 'c' }, { name: 'd' }] });
  t.match((await api.call('GET', '/api/v1/monitors?page=9', { token: api.token })).body, {
    total: 5,
    monitors: [],
    page_size: 20,
  });
});

void t.test('categories, raw statuses and the order worst first', async (t) => {
  const api = await monitorsApi(t);
  const statuses = ['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'];
  const id = new Map<string, number>();
  for (const status of [...statuses, 'paused']) {
    const { id: made } = await api.monitor({ name: status, is_active: status !== 'paused' });
    id.set(status, made);
    await setStatus(api.database, made, status === 'paused' ? 'DOWN' : status);
  }
  const dnsbl = await api.monitor({ name: 'dnsbl' });
  await api.database.worker.query(
    sql.unsafe`update monitors set protocol = 'dnsbl', status = 'DOWN' where id = ${dnsbl.id}`,
  );

  const warned = await api.monitor({ name: 'dnsbl in part' });
  await api.database.worker.query(
    sql.unsafe`update monitors set protocol = 'dnsbl', status = 'DEGRADED' where id = ${warned.id}`,
  );

  t.same(await names(api, 'status_filter=up'), ['UP']);
  t.same(await names(api, 'status_filter=down'), ['DOWN', 'TIMEOUT']);
  t.same(await names(api, 'status_filter=degraded'), ['DEGRADED', 'PARTIAL', 'WARNING']);
  t.same(
    await names(api, 'status_filter=unknown'),
    ['UNKNOWN', 'dnsbl', 'dnsbl in part'],
    'a blacklisted host is no outage',
  );
  t.same(await names(api, 'status_filter=paused'), ['paused']);
  t.same(await names(api, 'status_filter=partial'), ['PARTIAL']);
  t.same(await names(api, 'status_filter=timeout'), ['TIMEOUT']);
  t.same(await names(api, 'status_filter=warning'), ['WARNING']);
  t.same(await names(api, 'is_active=false'), ['paused']);

  const down = ['DOWN', 'TIMEOUT'];
  const degraded = ['DEGRADED', 'PARTIAL', 'WARNING'];
  const unknown = ['UNKNOWN', 'dnsbl', 'dnsbl in part'];
  t.same(await names(api, ''), [...down, ...degraded, ...unknown, 'UP', 'paused']);
  t.same(
    await names(api, 'order=desc'),
    ['UP', ...unknown, ...degraded, ...down, 'paused'],
    'paused is last in both orders',
  );

  await api.database.worker.query(sql.unsafe`update monitors set position = 7 where name = 'UP'`);
  await api.database.worker.query(sql.unsafe`update monitors set position = 3 where name = 'paused'`);
  t.same(await names(api, 'sort=manual&page_size=3'), ['paused', 'UP', 'DOWN'], 'what was dragged, then by status');
  t.same(
    await names(api, 'sort=manual&order=desc'),
    ['UP', 'paused', ...unknown, ...degraded, ...down],
    'the other way round, and what has no place is last all the same',
  );

  // A group's pause, which leaves the flag of the monitor as it is.
  await api.database.worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by) values (${id.get('UP') ?? 0}, now(), 'group')`);
  t.same(await names(api, 'status_filter=paused'), ['UP', 'paused']);
  t.same(await names(api, 'is_active=false'), ['paused']);
  t.match((await api.call('GET', `/api/v1/monitors/${id.get('UP')}`, { token: api.token })).body, {
    is_active: true,
    paused_by: 'group',
    status: 'UNKNOWN',
  });
});

void t.test('the last raw result decides transient and skipped', async (t) => {
  const api = await monitorsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const now = Date.now();
  const ids = new Map<string, number>();
  for (const name of ['ok', 'transient', 'confirmed', 'skipped', 'manual'])
    ids.set(name, (await api.monitor({ name })).id);
  const result = (name: string, ago: number, more: object) => ({
    monitorId: ids.get(name) ?? 0,
    probeId: probe,
    atMs: now - ago,
    ...more,
  });
  await addResults(api.database, [
    result('ok', 2_000, { outcome: 'fail' }),
    result('ok', 1_000, {}),
    result('transient', 1_000, { outcome: 'timeout' }),
    result('confirmed', 1_000, { outcome: 'fail' }),
    result('skipped', 1_000, { outcome: 'skipped' }),
    result('manual', 2_000, {}),
    result('manual', 1_000, { outcome: 'fail', kind: 'manual' }),
  ]);
  await addRange(api.database, {
    monitorId: ids.get('confirmed') ?? 0,
    probeId: probe,
    fromMs: now - minuteMs,
    toMs: null,
    status: 'DOWN',
  });
  t.same(await names(api, 'status_filter=transient'), ['transient']);
  t.same(await names(api, 'status_filter=skipped'), ['skipped']);
});

void t.test('uptime of the last 24 hours counts durations of ranges, and missing values come last', async (t) => {
  const api = await monitorsApi(t);
  const now = Date.now();
  await api.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(now))})
    on conflict (shard) do update set folded_until = excluded.folded_until`);
  const { id: half } = await api.monitor({ name: 'half' });
  await addRange(api.database, { monitorId: half, fromMs: now - 48 * hourMs, toMs: now - 18 * hourMs, status: 'DOWN' });
  await addRange(api.database, {
    monitorId: half,
    fromMs: now - 18 * hourMs,
    toMs: now - 14 * hourMs,
    status: 'DEGRADED',
  });
  // A gap of two hours counts on neither side.
  await addRange(api.database, {
    monitorId: half,
    fromMs: now - 12 * hourMs,
    toMs: now - 10 * hourMs,
    status: 'TIMEOUT',
  });
  await addRange(api.database, { monitorId: half, fromMs: now - 10 * hourMs, toMs: null, status: 'UP' });
  const { id: full } = await api.monitor({ name: 'full' });
  const { id: equal } = await api.monitor({ name: 'as full' });
  await addRange(api.database, { monitorId: equal, fromMs: now - 90 * 24 * hourMs, toMs: null, status: 'UP' });
  await addRange(api.database, { monitorId: full, fromMs: now - 90 * 24 * hourMs, toMs: null, status: 'UP' });
  await api.monitor({ name: 'none' });

  const read = await api.call('GET', `/api/v1/monitors/${half}`, { token: api.token });
  // 6 h DOWN + 2 h TIMEOUT against 4 h DEGRADED + 10 h UP.
  t.ok(Math.abs(Number(read.body['uptime_24h']) - (100 * 14) / 22) < 0.01, String(read.body['uptime_24h']));
  t.match((await api.call('GET', `/api/v1/monitors/${full}`, { token: api.token })).body, { uptime_24h: 100 });
  await api.monitor({ name: 'none too' });
  t.same(await names(api, 'sort=uptime'), ['half', 'full', 'as full', 'none', 'none too']);
  t.same(
    await names(api, 'sort=uptime&order=desc'),
    ['full', 'as full', 'half', 'none', 'none too'],
    'equals by their identifiers in both orders',
  );
});

void t.test('an open range earns nothing beyond where its shard was folded', async (t) => {
  const api = await monitorsApi(t);
  const now = Date.now();
  await api.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(now - 8 * hourMs))})
    on conflict (shard) do update set folded_until = excluded.folded_until`);
  const { id } = await api.monitor();
  await addRange(api.database, { monitorId: id, fromMs: now - 16 * hourMs, toMs: now - 12 * hourMs, status: 'DOWN' });
  await addRange(api.database, { monitorId: id, fromMs: now - 12 * hourMs, toMs: null, status: 'UP' });
  const read = await api.call('GET', `/api/v1/monitors/${id}`, { token: api.token });
  t.ok(Math.abs(Number(read.body['uptime_24h']) - 50) < 0.01, String(read.body['uptime_24h']));
});

void t.test(
  'the last response time is that of the last answered check, never of a fallback beside probes',
  async (t) => {
    const api = await monitorsApi(t);
    const now = Date.now();
    const central = (await api.monitor({ name: 'central' })).id;
    const probe = await addProbe(api.database, 'p', 'eu');
    const fast = (await api.monitor({ name: 'fast' })).id;
    const slow = (await api.monitor({ name: 'slow' })).id;
    const failing = (await api.monitor({ name: 'failing' })).id;
    const fallback = (await api.monitor({ name: 'fallback' })).id;
    await addResults(api.database, [
      { monitorId: fast, probeId: probe, atMs: now - 3_000, totalUs: 12_345 },
      { monitorId: fast, probeId: probe, atMs: now - 1_000, totalUs: 99_000, kind: 'manual' },
      { monitorId: slow, probeId: probe, atMs: now - 2_000, totalUs: 800_000, outcome: 'slow' },
      { monitorId: failing, probeId: probe, atMs: now - 2_000, outcome: 'timeout', totalUs: 10_000_000 },
      { monitorId: fallback, probeId: 0, fallback: true, atMs: now - 2_000, totalUs: 5_000 },
      { monitorId: central, probeId: 0, central: true, atMs: now - 2_000, totalUs: 50_000 },
    ]);
    t.same(await names(api, 'sort=response&page_size=3'), ['fast', 'central', 'slow']);
    t.same(await names(api, 'sort=response&order=desc&page_size=3'), ['slow', 'central', 'fast']);
    t.match((await api.call('GET', `/api/v1/monitors/${fast}`, { token: api.token })).body, {
      last_response_time_ms: 12.345,
      last_checked_at: new Date(now - 3_000).toISOString(),
    });
    t.match((await api.call('GET', `/api/v1/monitors/${failing}`, { token: api.token })).body, {
      last_response_time_ms: null,
      last_checked_at: new Date(now - 2_000).toISOString(),
    });
  },
);

void t.test('the search is a literal part of name or URL in any case', async (t) => {
  const api = await monitorsApi(t);
  await api.monitor({ name: 'Über 100% done', url: 'https://a.example/' });
  await api.monitor({ name: 'snake_case', url: 'https://B.example/Path' });
  await api.monitor({ name: 'snakeXcase', url: 'https://c.example/' });
  t.same(await names(api, `search=${encodeURIComponent('über')}`), ['Über 100% done']);
  t.same(await names(api, `search=${encodeURIComponent('100%')}`), ['Über 100% done']);
  t.same(await names(api, `search=${encodeURIComponent('%')}`), ['Über 100% done']);
  t.same(await names(api, 'search=e_c'), ['snake_case']);
  await api.monitor({ name: 'back\\slash "quoted" it\'s', url: 'https://d.example/' });
  for (const text of ['\\', 'back\\s', '"', '"quoted"', "'", "it's"])
    t.same(await names(api, `search=${encodeURIComponent(text)}`), ['back\\slash "quoted" it\'s'], text);
  for (const text of ['\\%', '%_', 'quoted it', '\\\\'])
    t.same(await names(api, `search=${encodeURIComponent(text)}`), [], `${text} stands nowhere`);
  t.same(await names(api, 'search=b.EXAMPLE/path'), ['snake_case']);
  t.same(await names(api, `search=${encodeURIComponent("'; drop table monitors --")}`), []);
  t.equal((await names(api, 'search=')).length, 4);
});

void t.test('tags, protocol and workspace narrow the list; deleted ones are gone', async (t) => {
  const api = await monitorsApi(t);
  await api.monitor({ name: 'one', tags: ['a', 'b'] });
  await api.monitor({ name: 'two', tags: ['b'], url: 'tcp://example.com:1' });
  const gone = await api.monitor({ name: 'gone', tags: ['b'] });
  await api.call('DELETE', `/api/v1/monitors/${gone.id}`, { token: api.token });
  t.same(await names(api, 'tag=b&sort=name'), ['one', 'two']);
  t.same(await names(api, 'tag=a&tag=b'), ['one']);
  t.same(await names(api, 'protocol=tcp'), ['two']);
  t.same(await names(api, `workspace_id=${api.workspaceId}&sort=name&order=desc`), ['two', 'one']);
  t.equal((await api.call('GET', '/api/v1/monitors?workspace_id=2147483647', { token: api.token })).status, 404);
});
