import type { AvailabilityAnalytics, NoisiestMonitors, ResponseAnalytics, WorstMonitors } from '@parallax/api-contract';
import { statsSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { groupsCapability } from '../../monitoring/groups/index.ts';
import { addProbe, addRange } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { refreshDays } from '../day-sums/refresh.job.ts';
import { dayMs, hourMs, iso, reportingApi } from '../testing.ts';
import { analyticsCapability } from './index.ts';

const api = await reportingApi(t, { more: [groupsCapability, analyticsCapability] });
const { nowMs, database } = api;
const { worker } = database;
const at = (ms: number) => sql.timestamp(new Date(ms));

const [one, two] = [await addProbe(database, 'one', 'eu'), await addProbe(database, 'two', 'us')];
const shop = await api.oldMonitor(70 * dayMs, { name: 'Shop', tags: ['web', 'paid'] });
const blog = await api.oldMonitor(70 * dayMs, { name: 'Blog', tags: ['web'] });
const mail = await api.oldMonitor(20 * dayMs, { name: 'Mail' });
const monitors = [shop, blog, mail];
const group = z.object({ id: z.number() }).parse(
  (
    await api.call('POST', '/api/v1/monitor-groups', {
      token: api.token,
      body: { workspace_id: api.workspaceId, name: 'Front', monitor_ids: [shop, mail] },
    })
  ).body,
);

const range = (
  monitorId: number,
  fromMs: number,
  toMs: number | null,
  status: 'UP' | 'DOWN' | 'DEGRADED',
  probeId?: number,
) => addRange(database, { monitorId, fromMs, toMs, status, ...(probeId === undefined ? {} : { probeId }) });

await range(shop, nowMs - 69 * dayMs, nowMs - 9.3 * dayMs, 'UP');
await range(shop, nowMs - 9.3 * dayMs, nowMs - 9.1 * dayMs, 'DOWN');
await range(shop, nowMs - 9.1 * dayMs, nowMs - 2.4 * dayMs, 'UP');
await range(shop, nowMs - 2.4 * dayMs, nowMs - 2.35 * dayMs, 'DEGRADED');
await range(shop, nowMs - 2.35 * dayMs, null, 'UP');
await range(blog, nowMs - 60 * dayMs, nowMs - 5 * dayMs, 'UP');
await range(blog, nowMs - 5 * dayMs, nowMs - 3.2 * dayMs, 'DOWN');
await range(blog, nowMs - 3.2 * dayMs, null, 'UP');
await range(mail, nowMs - 19 * dayMs, null, 'UP');
for (const [probe, down] of [
  [one, 0.5],
  [two, 1.5],
] as const) {
  for (const id of monitors) {
    await range(id, nowMs - 15 * dayMs, nowMs - 4 * dayMs, 'UP', probe);
    await range(id, nowMs - 4 * dayMs, nowMs - (4 - down) * dayMs, 'DOWN', probe);
    await range(id, nowMs - (4 - down) * dayMs, null, 'UP', probe);
  }
}
await worker.query(sql.unsafe`
  insert into pauses (monitor_id, started_at, ended_at) values (${mail}, ${at(nowMs - 7 * dayMs)}, ${at(nowMs - 6.4 * dayMs)})`);
await worker.query(sql.unsafe`
  insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at)
  values (${api.workspaceId}, 1, 'monitor', ${blog}, ${at(nowMs - 3.5 * dayMs)}, ${at(nowMs - 3 * dayMs)})`);
await refreshDays({ database, now: () => nowMs });

const analytics = async <Answer>(query: string) => (await api.get(`/api/v1/analytics/${query}`)) as Answer;
const refused = async (query: string) => {
  const { status, body } = await api.call('GET', `/api/v1/analytics/${query}`, { token: api.token });
  return { status, code: body['code'], errors: body['errors'] };
};
const stats = async (id: number, fromMs: number, toMs: number) =>
  statsSchema.parse(await api.get(`/api/v1/monitors/${id}/stats?start_time=${iso(fromMs)}&end_time=${iso(toMs)}`));
const span = (fromMs: number, toMs = nowMs) => `from=${iso(fromMs)}&to=${iso(toMs)}`;

/** What the statistics of monitors sum to. */
async function statsOf(ids: readonly number[], fromMs: number, toMs: number) {
  const all = await Promise.all(ids.map((id) => stats(id, fromMs, toMs)));
  const sum = (name: keyof (typeof all)[number]['seconds']) =>
    all.reduce((ms, each) => ms + Math.round(each.seconds[name] * 1_000), 0);
  const up = sum('up') + sum('degraded');
  const known = up + sum('down') + sum('timeout');
  return { up, known, percent: known === 0 ? null : Math.floor((up / known) * 1e6 + 1e-6) / 1e4 };
}

void t.test('series say what the statistics of their monitors say, in the buckets of any zone', async (t) => {
  for (const [zone, days, bucket] of [
    ['UTC', 9, 'day'],
    ['Europe/Berlin', 12, 'day'],
    ['Asia/Kolkata', 4, 'hour'],
    ['America/New_York', 40, 'week'],
    ['Pacific/Auckland', 65, 'month'],
  ] as const) {
    for (const [by, members] of [
      ['monitor', new Map(monitors.map((id) => [String(id), [id]]))],
      ['group', new Map([[String(group.id), [shop, mail]]])],
      [
        'tag',
        new Map([
          ['web', [shop, blog]],
          ['paid', [shop]],
        ]),
      ],
      ['workspace', new Map([[String(api.workspaceId), monitors]])],
    ] as const) {
      const fromMs = nowMs - days * dayMs - 1_234_567;
      const answer = await analytics<AvailabilityAnalytics>(
        `availability?${span(fromMs)}&timezone=${zone}&bucket=${bucket}&by=${by}`,
      );
      t.same(new Set(answer.series.map(({ key }) => key)), new Set(members.keys()), `${by} ${zone}`);
      t.equal(answer.buckets[0]?.start_time, iso(fromMs));
      t.equal(answer.buckets.at(-1)?.end_time, iso(nowMs));
      const places = [0, 1, Math.floor(answer.buckets.length / 2), answer.buckets.length - 1];
      for (const series of answer.series) {
        const ids = members.get(series.key) ?? [];
        for (const place of places) {
          const { start_time: start = '', end_time: end = '' } = answer.buckets[place] ?? {};
          const { percent } = await statsOf(ids, Date.parse(start), Date.parse(end));
          t.equal(series.uptime_percent[place], percent, `${by} ${series.name}, ${zone}, bucket ${place}`);
        }
        const whole = await statsOf(ids, fromMs, nowMs);
        t.equal(series.total_percent, whole.percent);
        t.equal(Math.round((series.seconds.up + series.seconds.degraded) * 1_000), whole.up);
      }
    }
  }
});

void t.test('buckets begin by the calendar of the zone', async (t) => {
  const { buckets } = await analytics<AvailabilityAnalytics>(
    `availability?${span(nowMs - 40 * dayMs)}&timezone=Europe/Berlin&bucket=week`,
  );
  const local = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/Berlin',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  for (const { start_time: start } of buckets.slice(1)) t.match(local.format(Date.parse(start)), /^Mon\D+00:00/);
});

void t.test('the time before is compared, names are shown, and the worst stand first', async (t) => {
  const answer = await analytics<AvailabilityAnalytics>(
    `availability?${span(nowMs - 6 * dayMs)}&by=monitor&compare=true&bucket=month&limit=2`,
  );
  t.same(
    answer.series.map(({ name }) => name),
    ['Blog', 'Shop'],
  );
  const [first, second] = answer.series;
  const before = await statsOf([blog], nowMs - 12 * dayMs, nowMs - 6 * dayMs);
  t.equal(first?.previous?.total_percent, before.percent);
  t.equal(second?.previous?.total_percent, (await statsOf([shop], nowMs - 12 * dayMs, nowMs - 6 * dayMs)).percent);
  t.equal((await analytics<AvailabilityAnalytics>('availability?by=monitor')).series[0]?.previous, null);
  t.same(
    (await analytics<AvailabilityAnalytics>(`availability?by=monitor&ids=${mail}`)).series.map(({ name }) => name),
    ['Mail'],
  );
  t.same(
    (await analytics<AvailabilityAnalytics>('availability?by=tag&ids=paid')).series.map(({ key }) => key),
    ['paid'],
  );
});

void t.test('regions and probes go by their own votes', async (t) => {
  const fromMs = nowMs - 6 * dayMs;
  for (const [by, key, probe] of [
    ['probe', String(one), one],
    ['region', 'us', two],
  ] as const) {
    const answer = await analytics<AvailabilityAnalytics>(
      `availability?${span(fromMs)}&by=${by}&ids=${key}&timezone=Asia/Tokyo`,
    );
    const [series] = answer.series;
    t.equal(series?.key, key);
    const own = await stats(shop, fromMs, nowMs);
    t.equal(series?.total_percent, own.probes.find(({ probe_id: id }) => id === probe)?.uptime_percent);
    for (const [place, { start_time: start, end_time: end }] of answer.buckets.entries()) {
      const { probes } = await stats(shop, Date.parse(start), Date.parse(end));
      const expected = probes.find(({ probe_id: id }) => id === probe)?.uptime_percent;
      t.equal(series?.uptime_percent[place], expected, `${by}, bucket ${place}`);
    }
  }
});

void t.test('the worst monitors are found, as JSON and as CSV', async (t) => {
  const worst = await analytics<WorstMonitors>(`worst?${span(nowMs - 6 * dayMs)}&limit=2`);
  t.match(worst, {
    metric: 'uptime',
    monitors: [
      {
        monitor_id: blog,
        name: 'Blog',
        uptime_percent: (await statsOf([blog], nowMs - 6 * dayMs, nowMs)).percent,
        p95_ms: null,
      },
      { monitor_id: shop, uptime_percent: 100 },
    ],
  });
  const csv = await fetch(`${api.url}/api/v1/analytics/worst?${span(nowMs - 6 * dayMs)}&limit=2`, {
    headers: { authorization: `Bearer ${api.token}`, accept: 'text/csv' },
  });
  t.match(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.match(csv.headers.get('content-disposition'), /worst monitors\.csv/);
  const lines = (await csv.text()).split('\r\n');
  t.equal(
    lines[0],
    'monitor_id,workspace_id,name,uptime_percent,up_seconds,degraded_seconds,down_seconds,timeout_seconds,unknown_seconds,maintenance_seconds,paused_seconds,excluded_seconds,p95_ms',
  );
  t.match(lines[1], `${blog},${api.workspaceId},Blog,`);
  t.equal(lines.length, 4);
});

void t.test('every answer is there as CSV', async (t) => {
  for (const [path, header] of [
    ['availability?by=monitor', 'start_time,end_time,key,name,uptime_percent'],
    ['latency?by=monitor', 'start_time,end_time,key,name,p50_ms,p95_ms,count'],
    ['noisiest', 'monitor_id,workspace_id,name,incidents,messages,flapping'],
    ['response', 'start_time,end_time,incidents,mtta_seconds,mttr_seconds'],
  ] as const) {
    const answer = await fetch(`${api.url}/api/v1/analytics/${path}`, {
      headers: { authorization: `Bearer ${api.token}`, accept: 'text/csv' },
    });
    t.match((await answer.text()).split('\r\n')[0], header);
  }
});

void t.test('noise is counted: incidents, messages that were sent, and flapping', async (t) => {
  const incident = async (startedMs: number, members: readonly number[], more: { deleted?: boolean } = {}) => {
    const id = await worker.oneFirst(sql.type(z.object({ id: z.number() }))`
      insert into incidents (workspace_id, title, started_at, created_at, deleted_at)
      values (${api.workspaceId}, 'down', ${at(startedMs)}, ${at(startedMs)}, ${more.deleted === true ? sql.fragment`now()` : sql.fragment`null`}) returning id`);
    for (const monitorId of members) {
      await worker.query(sql.unsafe`
        insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution)
        values (${api.workspaceId}, ${id}, 'monitor', ${monitorId}, 'x', 'x', ${at(startedMs)}, ${at(startedMs + 1_000)}, 'auto')`);
    }
    return id;
  };
  await incident(nowMs - 2 * hourMs, [shop, blog]);
  await incident(nowMs - 3 * hourMs, [shop]);
  await incident(nowMs - 3 * hourMs, [mail], { deleted: true });
  await incident(nowMs - 40 * dayMs, [mail]);
  const occasion = await worker.oneFirst(sql.type(z.object({ id: z.bigint() }))`
    insert into alert_occasions (workspace_id, key, event, title, severity, is_lasting, started_at, opened_at, seq, problem_seq)
    values (${api.workspaceId}, 'k', 'down', 't', 'major', false, now(), now(), 1, 1) returning id`);
  let seq = 0;
  const message = (monitorId: number, status: string, kind = 'opened') => {
    seq += 1;
    return worker.query(sql.unsafe`
      insert into notifications (workspace_id, occasion_id, alert_name, event, kind, seq, subject_type, subject_id, title, target_key, owner_id,
        channel, target_masked, status, created_at)
      values (${api.workspaceId}, ${occasion}, 'a', 'down', ${kind}, ${seq}, 'monitor', ${monitorId}, 't', 'k', ${api.owner.id}, 'email', 'm', ${status}, ${at(nowMs - hourMs)})`);
  };
  for (const [id, status, kind] of [
    [mail, 'sent'],
    [mail, 'sent'],
    [mail, 'sent'],
    [shop, 'sent'],
    [shop, 'failed'],
    [blog, 'sent', 'test'],
  ] as const) {
    await message(id, status, kind);
  }
  for (const [monitorId, isFlapping] of [
    [blog, true],
    [blog, false],
    [blog, true],
  ] as const) {
    await worker.query(sql.unsafe`
      insert into events (event_id, workspace_id, type, subject_type, subject_id, sequence, body, at)
      values (gen_random_uuid()::text, ${api.workspaceId}, 'monitor.flapping', 'monitor', ${monitorId}, 1,
        ${JSON.stringify({ data: { is_flapping: isFlapping } })}, ${at(nowMs - hourMs)})`);
  }
  const noisiest = (query: string) => analytics<NoisiestMonitors>(`noisiest?${span(nowMs - dayMs)}${query}`);
  const shown = ({ monitors: list }: NoisiestMonitors) =>
    list.map(({ monitor_id: id, incidents, messages, flapping }) => [id, incidents, messages, flapping]);
  t.same(
    shown(await noisiest('')),
    [
      [mail, 0, 3, 0],
      [shop, 2, 1, 0],
    ],
    'by messages',
  );
  t.same(shown(await noisiest('&metric=incidents')), [
    [shop, 2, 1, 0],
    [blog, 1, 0, 2],
  ]);
  t.same(shown(await noisiest('&metric=flapping&limit=1')), [[blog, 1, 0, 2]]);
});

void t.test('response: means of the incidents that began in each bucket', async (t) => {
  const startMs = Date.parse('2026-01-10T00:00:00.000Z');
  const incident = (
    startedMs: number,
    openedS: number,
    ackS: number | null,
    resolvedS: number | null,
    folded = false,
  ) => {
    const after = (seconds: number | null) =>
      seconds === null ? sql.fragment`null` : sql.fragment`${at(startedMs + seconds * 1_000)}`;
    return worker.query(sql.unsafe`
      insert into incidents (workspace_id, title, started_at, created_at, acknowledged_at, resolved_at, status, folded_into)
      values (${api.workspaceId}, 'down', ${at(startedMs)}, ${after(openedS)}, ${after(ackS)}, ${after(resolvedS)}, ${resolvedS === null ? 'open' : 'resolved'},
        ${folded ? sql.fragment`(select min(id) from incidents)` : sql.fragment`null`})`);
  };
  await incident(startMs + hourMs, 60, 120, 600);
  await incident(startMs + 2 * hourMs, 60, 360, 1_200);
  await incident(startMs + 2 * hourMs, 60, 360, 1_200, true);
  await incident(startMs + dayMs + hourMs, 30, null, null);
  await incident(startMs - dayMs, 0, 10, null);
  const answer = await analytics<ResponseAnalytics>(`response?${span(startMs, startMs + 3 * dayMs)}&compare=true`);
  t.match(answer, {
    incidents: [2, 1, 0],
    mtta_seconds: [180, null, null],
    mttr_seconds: [900, null, null],
    total: { incidents: 3, mtta_seconds: 180, mttr_seconds: 900 },
    previous: { incidents: 1, mtta_seconds: 10, mttr_seconds: null },
  });
});

void t.test('what cannot be asked is refused, and what others own is not there', async (t) => {
  for (const [query, path, code] of [
    [`availability?${span(nowMs, nowMs - dayMs)}`, '/from', 'empty_window'],
    [`worst?${span(nowMs - 366 * dayMs - 1)}`, '/from', 'window_too_long'],
    ['availability?timezone=Mars', '/timezone', 'unknown_timezone'],
    ['availability?by=monitor&ids=1,x', '/ids', 'invalid_format'],
    ['latency?by=tag&ids=a,,b', '/ids', 'invalid_format'],
    [`availability?by=monitor&ids=${Array.from({ length: 101 }, (_, id) => id + 1).join()}`, '/ids', 'too_big'],
    ['availability?by=planet', '/by', 'invalid_value'],
    ['noisiest?limit=101', '/limit', 'too_big'],
  ] as const) {
    t.match(await refused(query), { status: 422, errors: [{ in: 'query', path, code }] }, query);
  }
  t.match(await refused(`availability?bucket=hour&${span(nowMs - 8 * dayMs)}`), { status: 422, code: 'too_wide' });
  const eve = await api.account('eve@example.com');
  for (const query of ['availability', 'latency', 'worst', 'noisiest', 'response']) {
    const of = (more: string) => api.call('GET', `/api/v1/analytics/${query}?${more}`, { token: eve.accessToken });
    t.equal((await of(`workspace_id=${api.workspaceId}`)).status, 404, query);
    const { status, body } = await of('');
    t.equal(status, 200);
    t.notMatch(JSON.stringify(body), /Shop|Blog|Mail/, query);
  }
  for (const named of [
    `by=monitor&ids=${shop}`,
    `by=group&ids=${group.id}`,
    `by=workspace&ids=${api.workspaceId}`,
    'by=probe&ids=4711',
  ]) {
    const answer = await api.call('GET', `/api/v1/analytics/availability?${named}`, { token: eve.accessToken });
    t.equal(answer.status, 404, named);
  }
});

void t.test('an answer is kept for a moment, and for each who sees the same alone', async (t) => {
  const query = `availability?${span(nowMs - 2 * dayMs)}&by=monitor`;
  const first = await analytics<AvailabilityAnalytics>(query);
  await worker.query(sql.unsafe`update monitors set name = 'Renamed' where id = ${mail}`);
  t.same(await analytics(query), first, 'not read anew');
  const others = await analytics<AvailabilityAnalytics>(`${query}&limit=99`);
  t.ok(
    others.series.some(({ name }) => name === 'Renamed'),
    'another question is',
  );
});
