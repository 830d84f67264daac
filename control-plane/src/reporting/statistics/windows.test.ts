import { distributionSchema, latencySeriesSchema, slaSchema, statsSchema } from '@parallax/api-contract';
import t from 'tap';
import { dayUs, madeHistory, storeHistory } from '../../monitoring/check-results/reading/testing/stored-history.ts';
import { addProbe, addRange } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, iso, minuteMs, reportingApi } from '../testing.ts';

/*
 * Windows by hours, by two instants and by the calendar; and response times in buckets, whose figures are those of the statistics.
 */

const api = await reportingApi(t);
const { nowMs } = api;
const [one, two] = [await addProbe(api.database, 'one', 'eu'), await addProbe(api.database, 'two', 'us')];
const id = await api.oldMonitor(40 * dayMs);
const firstDay = Math.floor(nowMs / dayMs) - 12;
const firstMs = firstDay * dayMs;
const rows = madeHistory({ seed: 7, fromUs: firstMs * 1_000, days: 13, probes: [one, two], intervalS: 300 }).filter(
  ({ eUs }) => eUs < nowMs * 1_000,
);
const packedUntilHour = Math.floor(nowMs / hourMs) - 2;
await storeHistory(api.database.raw, id, rows, {
  packedUntilHour,
  mergedUntilDay: firstDay + 11,
  hotFromUs: (firstDay + 11) * dayUs,
});
await addRange(api.database, { monitorId: id, fromMs: nowMs - 20 * dayMs, toMs: nowMs - 3 * dayMs, status: 'UP' });
await addRange(api.database, { monitorId: id, fromMs: nowMs - 3 * dayMs, toMs: nowMs - 2 * dayMs, status: 'DOWN' });
await addRange(api.database, { monitorId: id, fromMs: nowMs - 2 * dayMs, toMs: null, status: 'UP' });

const path = (rest: string) => `/api/v1/monitors/${id}/${rest}`;
const stats = async (query: string) => statsSchema.parse(await api.get(path(`stats?${query}`)));
const latency = async (query: string) => latencySeriesSchema.parse(await api.get(path(`latency?${query}`)));
const between = (fromMs: number, toMs: number) => `start_time=${iso(fromMs)}&end_time=${iso(toMs)}`;

void t.test('a window between two instants is that window, open or closed, of every report', async (t) => {
  const [fromMs, toMs] = [nowMs - 4 * dayMs, nowMs - 2 * dayMs - 12 * hourMs];
  const query = between(fromMs, toMs);
  const shown = { hours: null, period: null, requested_from: iso(fromMs), from: iso(fromMs), to: iso(toMs) };
  const figures = { uptime_percent: 66.6666, outages: 1, seconds: { up: 86_400, down: 43_200, unknown: 0 } };
  const said = await stats(query);
  t.match(said, { ...shown, requested_to: iso(toMs), clamped_by: null, ...figures });
  const counted = rows.filter(({ eUs }) => eUs >= fromMs * 1_000 && eUs < toMs * 1_000).length;
  t.equal(said.checks.total + said.checks.manual, counted);
  t.match(distributionSchema.parse(await api.get(path(`response-time-distribution?${query}`))), {
    ...shown,
    ...said.response_time,
  });
  const report = slaSchema.parse(await api.get(path(`sla?${query}&slo_target=99`)));
  t.match(report, { ...shown, downtime_seconds: 43_200, response_time: said.response_time, mttr_seconds: null });
  for (const kind of ['csv', 'pdf']) t.ok((await api.file(path(`sla/export/${kind}?${query}`))).bytes.length > 500);

  t.match(await stats(`start_time=${iso(nowMs - dayMs)}`), { from: iso(nowMs - dayMs), to: iso(nowMs) });
  const ahead = await stats(between(nowMs - dayMs, nowMs + dayMs));
  t.match(ahead, { to: iso(nowMs), requested_to: iso(nowMs + dayMs), seconds: { up: 86_400, unknown: 0 } });
  t.match(await stats(`hours=24&end_time=${iso(nowMs - 2 * dayMs)}`), { hours: 24, seconds: { down: 86_400, up: 0 } });
  t.match(await stats(between(nowMs - 60 * dayMs, nowMs - 50 * dayMs)), {
    clamped_by: 'creation',
    uptime_percent: null,
    checks: { total: 0 },
  });
});

void t.test('a calendar period is that of its zone', async (t) => {
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Kolkata', dateStyle: 'short' });
  const today = Date.parse(`${local.format(nowMs)}T00:00:00+05:30`);
  const zone = 'timezone=asia%2Fkolkata'.replace('asia', 'Asia').replace('kolkata', 'Kolkata');
  t.match(await stats(`period=last_day&${zone}`), {
    hours: null,
    period: 'last_day',
    timezone: 'Asia/Kolkata',
    from: iso(today - dayMs),
    to: iso(today),
  });
  t.match(await stats(`period=DAY&${zone}`), { from: iso(today), to: iso(nowMs), requested_to: iso(today + dayMs) });
  const year = await api.get(path('sla?period=year'));
  t.match(year, { clamped_by: iso(nowMs).slice(5, 7) === '01' ? /./ : 'creation', timezone: 'UTC' });
  t.ok((await api.file(path(`sla/export/pdf?${between(nowMs - 399 * dayMs, nowMs)}`))).bytes.length > 500);
});

void t.test('a window that contradicts itself, is empty or too long is refused by its part', async (t) => {
  const start = `start_time=${iso(nowMs - dayMs)}`;
  for (const [query, part, code] of [
    [`${start}&hours=24`, '/hours', 'unexpected'],
    [`${start}&period=day`, '/start_time', 'unexpected'],
    [`end_time=${iso(nowMs)}&period=day`, '/end_time', 'unexpected'],
    ['hours=24&period=day', '/hours', 'unexpected'],
    [between(nowMs - dayMs, nowMs - dayMs), '/start_time', 'empty_window'],
    [between(nowMs, nowMs + dayMs), '/start_time', 'empty_window'],
    [between(nowMs - 400 * dayMs - 1, nowMs), '/start_time', 'window_too_long'],
    ['start_time=2026-03-01T10:00:00', '/start_time', 'invalid_format'],
    ['period=fortnight', '/period', 'invalid_value'],
    ['period=day&timezone=Mars', '/timezone', 'unknown_timezone'],
    ['period=day&week_starts=8', '/week_starts', 'too_big'],
  ] as const) {
    for (const route of ['stats', 'response-time-distribution', 'sla', 'sla/export/csv', 'latency']) {
      const answer = await api.call('GET', path(`${route}?${query}`), { token: api.token });
      t.match(answer, { status: 422, body: { errors: [{ in: 'query', path: part, code }] } }, `${route} ${query}`);
    }
  }
  for (const [query, part, code] of [
    ['bucket=hour&hours=501', '/bucket', 'window_too_long'],
    ['bucket=day&points=10', '/points', 'unexpected'],
    ['points=501', '/points', 'too_big'],
    ['by=workspace', '/by', 'invalid_value'],
  ] as const) {
    const answer = await api.call('GET', path(`latency?${query}`), { token: api.token });
    t.match(answer, { status: 422, body: { errors: [{ in: 'query', path: part, code }] } }, query);
  }
});

void t.test('a bucket has exactly the figures that the statistics have of its time', async (t) => {
  const windows = [
    between(firstMs + 5 * hourMs + 17 * minuteMs, firstMs + 11 * dayMs + 90 * minuteMs),
    'hours=9',
    'hours=2&points=9',
  ];
  const lengths = ['bucket=day', 'bucket=day&timezone=Asia/Kolkata', 'bucket=week&timezone=America/New_York', ''];
  for (const query of windows.flatMap((window) => lengths.map((length) => `${window}&${length}`))) {
    if (query.includes('points') && query.includes('bucket')) continue;
    const { from, to, series } = await latency(query);
    const [all] = series;
    if (all === undefined || series.length !== 1) throw new Error(`${series.length} series`);
    t.equal(all.buckets[0]?.start_time, from, query);
    t.equal(all.buckets.at(-1)?.end_time, to);
    const parts = [{ ...all, start_time: from, end_time: to }, ...all.buckets.slice(0, 4), ...all.buckets.slice(-3)];
    for (const { start_time, end_time, name: _name, ...part } of parts as typeof all.buckets & { name?: string }[]) {
      const said = await stats(`start_time=${start_time}&end_time=${end_time}`);
      const { checks, failed, ...times } = part;
      t.match(times, said.response_time, `${start_time} to ${end_time}`);
      t.same([checks, failed], [said.checks.total, said.checks.fail + said.checks.timeout]);
    }
  }
});

void t.test('a series of each probe or region has what they measured', async (t) => {
  const query = between(nowMs - 2 * dayMs, nowMs);
  const { probes } = await stats(query);
  const { series } = await latency(`${query}&by=probe`);
  t.same(
    series.map(({ probe_id, name, region, count, p99_ms }) => ({ probe_id, name, region, count, p99_ms })),
    probes.map(({ probe_id, name, region, response_time: { count, p99_ms } }) => ({
      probe_id,
      name,
      region,
      count,
      p99_ms,
    })),
  );
  t.ok(series.every(({ count }) => count > 100));
  const regions = (await latency(`${query}&by=region`)).series;
  t.match(
    regions.filter(({ region }) => region === 'us'),
    [{ probe_id: null, name: null, p50_ms: series.find(({ probe_id }) => probe_id === two)?.p50_ms }],
  );
  t.match((await latency(`${query}&probe_id=${one}`)).series, [{ probe_id: one, name: 'one', region: 'eu' }]);
  const foreign = await addProbe(api.database, 'secret', 'eu');
  t.match((await latency(`${query}&probe_id=${foreign}`)).series, [{ probe_id: foreign, name: null, count: 0 }]);
});

void t.test('a time without answers is a bucket without times', async (t) => {
  const other = await api.oldMonitor(2 * dayMs);
  const answer = latencySeriesSchema.parse(await api.get(`/api/v1/monitors/${other}/latency?bucket=hour&hours=3`));
  const [series] = answer.series;
  t.ok(series !== undefined && series.buckets.length >= 3);
  for (const bucket of series?.buckets ?? []) {
    t.match(bucket, { checks: 0, failed: 0, count: 0, mean_ms: null, min_ms: null, p50_ms: null, p99_ms: null });
  }
  t.same(
    (await latency(between(nowMs - 60 * dayMs, nowMs - 50 * dayMs))).series[0]?.buckets,
    [],
    'before its creation',
  );
});

void t.test('buckets of whole hours and days are read from summaries alone', async (t) => {
  const [hours, days] = [between(firstMs, firstMs + 2 * dayMs), between(firstMs, firstMs + 10 * dayMs)];
  const asked = [`${hours}&bucket=hour`, `${days}&bucket=day`, `${days}&bucket=week&by=probe`] as const;
  const before = [];
  for (const query of asked) before.push((await latency(query)).series);
  await api.database.worker.query(sql.unsafe`
    update result_hours set chunk = '\\x00' where monitor_id = ${id} and hour < ${(firstDay + 10) * 24}`);
  for (const [index, query] of asked.entries()) t.same((await latency(query)).series, before[index], query);
  await api.database.worker.query(sql.unsafe`
    update result_hours set summary = '\\x00' where monitor_id = ${id} and hour < ${(firstDay + 10) * 24}`);
  t.same((await latency(asked[1])).series, before[1], 'whole days are not put together from hours');
  t.equal((await api.call('GET', path(`latency?${asked[0]}`), { token: api.token })).status, 500, 'and hours are read');
});
