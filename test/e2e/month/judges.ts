import { sectionOf } from '../../../control-plane/src/reporting/sla/export/test-csv.ts';
import type { ReportingApi } from '../../../control-plane/src/reporting/testing.ts';
import { differences } from './differences.ts';
import type { LivedMonth } from './lived-month.ts';
import { daysOf, distributionOf, hourMs, iso, judgedBars, slaOf, statsOf, windowOf } from './reference-figures.ts';
import type { Subject } from './reference-figures.ts';
import { entriesOf, rangeAnswers, resultAnswer, resultsOf } from './reference-lists.ts';

/** The API over a month, and what is known of its monitors. */
export type Lived = { readonly api: ReportingApi; readonly month: LivedMonth; readonly subjects: readonly Subject[] };
/** A question, and what was wrong with the answer. */
export type Asked = { readonly path: string; readonly differs: string[] };
/** Asks an endpoint about a monitor: a question or two, or in many ways. */
export type Judge = (lived: Lived, subject: Subject, isDeep: boolean) => Promise<Asked[]>;

/** Of a route below a monitor. */
export const pathOf = ({ id }: Subject, rest: string): string => `/api/v1/monitors/${id}/${rest}`;

async function ask({ api }: Lived, path: string, expected: unknown): Promise<Asked> {
  return { path, differs: differences(await api.get(path), expected) };
}

async function judgeStats(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  const hours = isDeep
    ? [1, 24, 37, 168, 720]
    : ([[1, 720], [24], [168], [37, 24], [720]][subject.made.index % 5] ?? []);
  return Promise.all(hours.map((each) => ask(lived, pathOf(subject, `stats?hours=${each}`), statsOf(subject, each))));
}

async function judgeDistribution(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  if (!isDeep && subject.made.index % 2 === 0) return [];
  const probe = subject.probeIds[(subject.made.seats[0]?.probe ?? 1) - 1];
  const wanted: [number, number | undefined][] = isDeep
    ? [
        [1, undefined],
        [24, probe],
        [700, probe],
        [720, undefined],
      ]
    : [[[24, 168, 720, 555][subject.made.index % 4] ?? 24, subject.made.index % 3 === 0 ? probe : undefined]];
  return Promise.all(
    wanted.map(async ([hours, probeId]) => {
      const path = pathOf(
        subject,
        `response-time-distribution?hours=${hours}${probeId === undefined ? '' : `&probe_id=${probeId}`}`,
      );
      const body = await lived.api.get(path);
      const bars = body['histogram'] as Parameters<typeof judgedBars>[3];
      const differs = differences(body, distributionOf(subject, hours, probeId));
      const total = bars.reduce((sum, bar) => sum + bar.count, 0);
      return {
        path,
        differs: [
          ...differs,
          ...differences(bars, judgedBars(subject, hours, probeId, bars)),
          ...differences(total, body['count'], 'sum of bars'),
        ],
      };
    }),
  );
}

async function judgeRanges(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  const newestFirst = rangeAnswers(subject).toReversed();
  const page = (list: typeof newestFirst, number: number, size: number) => ({
    status_ranges: list.slice((number - 1) * size, number * size),
    total: list.length,
    page: number,
    page_size: size,
  });
  const last = Math.max(1, Math.ceil(newestFirst.length / 20));
  const pages = isDeep
    ? [...new Set([1, 2, Math.ceil(last / 2), last, last + 1])]
    : [Math.ceil(last / (1 + (subject.made.index % 3)))];
  const asked = pages.map((number) =>
    ask(lived, pathOf(subject, `status-ranges?page=${number}`), page(newestFirst, number, 20)),
  );
  if (!isDeep && subject.made.index % 3 !== 0) return Promise.all(asked);
  // Hours are counted from the database's clock, which goes on while this runs.
  const hours = [24, 100, 3, 700][subject.made.index % 4] ?? 24;
  const path = pathOf(subject, `status-ranges?hours=${hours}&page_size=100`);
  const overlapping = (nowMs: number) =>
    newestFirst.filter(({ ended_at }) => ended_at === null || Date.parse(ended_at) > nowMs - hours * hourMs);
  const before = overlapping(Date.now() - 2_000);
  const body = await lived.api.get(path);
  const after = overlapping(Date.now() + 2_000);
  const differs = [before, after].map((list) => differences(body, page(list, 1, 100)));
  return [
    ...(await Promise.all(asked)),
    { path, differs: differs.toSorted((one, other) => one.length - other.length)[0] ?? [] },
  ];
}

async function judgeResults(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  const asked: Promise<Asked>[] = [];
  const add = (query: string, bounds: [number?, number?], number: number, size: number, withTotal = true): void => {
    const list = resultsOf(subject, ...bounds);
    const shown = list.slice((number - 1) * size, number * size);
    const results = shown.map((row) => resultAnswer(subject, row));
    const expected = { results, total: withTotal ? list.length : results.length, page: number, page_size: size };
    asked.push(
      ask(
        lived,
        pathOf(subject, `results?page=${number}&page_size=${size}${query}${withTotal ? '' : '&with_total=false'}`),
        expected,
      ),
    );
  };
  const last = Math.max(1, Math.ceil(resultsOf(subject).length / 100));
  const { index } = subject.made;
  for (const number of isDeep
    ? new Set([1, 2, Math.ceil(last / 3), Math.ceil(last / 2), last, last + 1, 10_000])
    : [[1, Math.ceil(last / 2), last][index % 3] ?? 1])
    add('', [], number, 100);
  if (!isDeep && index % 2 === 0) return Promise.all(asked);
  const fromMs = subject.foldedMs - (7 + (index % 20)) * 24 * hourMs + index;
  const toMs = fromMs + (1 + (index % 90)) * hourMs;
  const between = `&start_time=${iso(fromMs)}&end_time=${iso(toMs)}`;
  add(between, [fromMs, toMs], 1, 50);
  if (isDeep) {
    add(between, [fromMs, toMs], 3, 7, false);
    add(`&start_time=${iso(toMs)}`, [toMs], 2, 20);
    add(`&end_time=${iso(fromMs)}`, [0, fromMs], 1, 20);
    // The very millisecond of a result belongs to both bounds.
    const some = subject.rows[Math.floor(subject.rows.length / 2)];
    if (some !== undefined) {
      const atMs = Math.floor(some.eUs / 1_000);
      add(`&start_time=${iso(atMs)}&end_time=${iso(atMs)}`, [atMs, atMs], 1, 20);
    }
  }
  return Promise.all(asked);
}

async function judgeTimeline(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  if (!isDeep && subject.made.index % 2 === 1) return [];
  const { nowMs } = lived.api;
  const { made } = subject;
  const open = made.seats.filter(
    ({ toUs, supplement }) => (toUs === null || toUs >= subject.foldedMs * 1_000) && !supplement,
  );
  const asked = (isDeep ? [24, 720, 1, 300] : [[24, 720, 61][made.index % 3] ?? 24]).map((hours) => {
    const window = { fromMs: nowMs - hours * hourMs, toMs: nowMs };
    const frame = { monitor_id: subject.id, to: iso(window.toMs) };
    const path = pathOf(subject, `timeline?hours=${hours}`);
    if (open.length < 2)
      return ask(lived, path, { ...frame, source: 'results', ...entriesOf(subject, window, undefined, true) });
    const shown = rangeAnswers(subject).filter(
      ({ ended_at }) => ended_at === null || Date.parse(ended_at) > window.fromMs,
    );
    const entries = shown.map((range) => ({ ...range, probe_id: null, response_time_ms: null, count: 0 }));
    return ask(lived, path, {
      ...frame,
      source: 'consensus',
      from: iso(window.fromMs),
      merged: false,
      timeline: entries,
    });
  });
  for (const [index, { probe }] of (isDeep ? made.seats : []).entries()) {
    const probeId = subject.probeIds[probe - 1] ?? 0;
    const hours = [720, 48][index % 2] ?? 24;
    const withManual = index % 3 !== 1;
    const window = { fromMs: nowMs - hours * hourMs, toMs: nowMs };
    const path = pathOf(
      subject,
      `timeline?hours=${hours}&probe_id=${probeId}${withManual ? '' : '&include_manual=false'}`,
    );
    asked.push(ask(lived, path, { source: 'results', ...entriesOf(subject, window, probeId, withManual) }));
  }
  return Promise.all(asked);
}

async function judgeSla(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  const { index } = subject.made;
  const wanted: [number, (number | undefined)?][] = isDeep
    ? [[1], [24, 99.9], [733, 99], [2_160, 100], [720, 90], [5, 95.5]]
    : [[[2_160, 24, 720, 333][index % 4] ?? 24, [99.9, undefined, 99.95][index % 3]]];
  return Promise.all(
    wanted.map(([hours, target]) =>
      ask(
        lived,
        pathOf(subject, `sla?hours=${hours}${target === undefined ? '' : `&slo_target=${target}`}`),
        slaOf(subject, hours, target),
      ),
    ),
  );
}

const numbers = (record: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      value === '' ? null : /^-?\d+(\.\d+)?(e-?\d+)?$/.test(value) ? Number(value) : value,
    ]),
  );

async function judgeCsv(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  if (!isDeep && subject.made.index % 4 !== 1) return [];
  const hours = [720, 2_160, 24][subject.made.index % 3] ?? 720;
  const path = pathOf(subject, `sla/export/csv?hours=${hours}&slo_target=99.9`);
  const { bytes } = await lived.api.file(path);
  const text = bytes.toString();
  const sla = slaOf(subject, hours, 99.9);
  const found = numbers(
    Object.fromEntries(sectionOf(text, 'summary').map(({ name, value }) => [name ?? '', value ?? ''])),
  );
  const { response_time: times, seconds } = sla;
  const expected = {
    monitor_id: sla.monitor_id,
    from: sla.from,
    to: sla.to,
    clamped_by: sla.clamped_by,
    uptime_percent: sla.uptime_percent,
    uptime_seconds: sla.uptime_seconds,
    downtime_seconds: sla.downtime_seconds,
    measured_seconds: sla.measured_seconds,
    up_seconds: seconds.up,
    timeout_seconds: seconds.timeout,
    unknown_seconds: seconds.unknown,
    paused_seconds: seconds.paused,
    incidents: sla.incidents,
    mttr_seconds: sla.mttr_seconds,
    mtbf_seconds: sla.mtbf_seconds,
    response_time_count: times.count,
    response_time_mean_ms: times.mean_ms,
    response_time_max_ms: times.max_ms,
    error_budget_remaining_seconds: sla.error_budget?.remaining_seconds,
    burn_rate: sla.error_budget?.burn_rate,
  };
  const days = daysOf(subject, windowOf(subject, hours)).map(({ day, from, to, outages, uptime_percent, time }) => ({
    date: day,
    from,
    to,
    outages,
    uptime_percent,
    up_seconds: time.up / 1_000,
    degraded_seconds: time.degraded / 1_000,
    down_seconds: time.down / 1_000,
    timeout_seconds: time.timeout / 1_000,
    unknown_seconds: time.unknown / 1_000,
    paused_seconds: time.paused / 1_000,
  }));
  const probes = sla.probes.map(
    ({ probe_id, region, uptime_seconds, downtime_seconds, checks, answered, response_time }) => ({
      probe_id,
      region,
      uptime_seconds,
      downtime_seconds,
      checks,
      answered,
      response_time_count: response_time.count,
      response_time_mean_ms: response_time.mean_ms,
    }),
  );
  const outages = sla.outages.map(({ started_at, ended_at, duration_seconds, downtime_seconds, status }) => ({
    started_at,
    ended_at,
    duration_seconds,
    downtime_seconds,
    status,
  }));
  const verdict = await fetch(`${lived.api.url}/api/v1/sla/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lived.api.token}`, 'content-type': 'text/csv' },
    body: bytes,
  });
  return [
    { path, differs: differences(found, expected) },
    { path: `${path}: days`, differs: differences(sectionOf(text, 'day').map(numbers), days) },
    { path: `${path}: probes`, differs: differences(sectionOf(text, 'probe').map(numbers), probes) },
    { path: `${path}: outages`, differs: differences(sectionOf(text, 'outage').map(numbers), outages) },
    {
      path: '/api/v1/sla/verify',
      differs: differences(await verdict.json(), {
        valid: true,
        kind: 'csv',
        monitor: { id: subject.id },
        period: { from: sla.from, to: sla.to },
        problems: [],
      }),
    },
  ];
}

/** What the ledger says last of a day that no result can change any more is what it came to. */
async function judgeLedger(lived: Lived, subject: Subject, isDeep: boolean): Promise<Asked[]> {
  if (!isDeep) return [];
  const path = pathOf(subject, 'sla/ledger?page_size=100');
  const body = await lived.api.get(path);
  const told = new Map<string, Record<string, unknown>>();
  for (const { entry } of (body['entries'] as { entry: string }[]).toReversed()) {
    const fields = JSON.parse(entry) as Record<string, unknown>;
    told.set(String(fields['day']), fields);
  }
  const settled = daysOf(subject, windowOf(subject, 5_000)).filter(
    ({ to }) => to.endsWith('T00:00:00.000Z') && Date.parse(to) + 52 * hourMs + 12 * hourMs < subject.foldedMs,
  );
  return settled.map(({ day, from, to, outages, time }) => ({
    path: `${path} of ${day}`,
    differs: differences(told.get(day), {
      from,
      to,
      outages,
      up_ms: time.up,
      degraded_ms: time.degraded,
      down_ms: time.down,
      timeout_ms: time.timeout,
      unknown_ms: time.unknown,
      paused_ms: time.paused,
    }),
  }));
}

/** The judge of each endpoint. */
export const endpoints = {
  'GET /stats': judgeStats,
  'GET /response-time-distribution': judgeDistribution,
  'GET /status-ranges': judgeRanges,
  'GET /results': judgeResults,
  'GET /timeline': judgeTimeline,
  'GET /sla': judgeSla,
  'GET /sla/export/csv and POST /sla/verify': judgeCsv,
  'GET /sla/ledger': judgeLedger,
} as const satisfies Readonly<Record<string, Judge>>;
