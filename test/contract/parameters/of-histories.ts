import { hours, id, page, pageSize, yesOrNo } from './bounds.ts';
import { reportedIn, windowTrials } from './of-windows.ts';
import { hourMs } from './things.ts';
import type { Stretch, Things } from './things.ts';
import { fullPages, isPage, rowsOf, usualSizes } from './trial.ts';
import type { Asked, EndpointTrials, Request } from './trial.ts';

const below = (monitorId: number, rest: string, query = ''): Request => ({
  path: `/api/v1/monitors/${monitorId}/${rest}`,
  query,
});
const iso = (ms: number): string => new Date(ms).toISOString();

/** How many of the results of the old monitor are so young. */
const youngerThan = ({ old }: Things, value: string): number => old.ages.filter((age) => age < Number(value)).length;

/** Of the results of `busy`, by its times. */
export const results: EndpointTrials = {
  of: (_world, { busy }) => below(busy.id, 'results'),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      effect: (asked) =>
        isPage(asked, 'results', 'created_at', { all: asked.things.busy.timesMs.map(iso), kind: 'page' }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      effect: (asked) =>
        isPage(asked, 'results', 'created_at', { all: asked.things.busy.timesMs.map(iso), kind: 'page_size' }),
    },
    start_time: {
      bounds: { kind: 'instant' },
      more: instants,
      effect: ({ t, things, value, answer }) =>
        t.equal(answer.body['total'], things.busy.timesMs.filter((ms) => ms >= Date.parse(value)).length, value),
    },
    end_time: {
      bounds: { kind: 'instant' },
      more: instants,
      effect: ({ t, things, value, answer }) =>
        t.equal(answer.body['total'], things.busy.timesMs.filter((ms) => ms <= Date.parse(value)).length, value),
    },
    with_total: {
      bounds: yesOrNo(true),
      effect: ({ t, things, value, answer }) => {
        t.equal(rowsOf(answer, 'results').length, 20);
        t.equal(answer.body['total'], value === 'true' ? things.busy.timesMs.length : 20, `total with ${value}`);
      },
    },
  },
};

/** The times of results themselves, since both ends are inclusive, a millisecond beside, and the same time written in other ways. */
function instants({ busy }: Things): readonly string[] {
  const [last = 0, before = 0] = busy.timesMs;
  const text = iso(before);
  return [
    iso(last),
    text,
    iso(before + 1),
    iso(before - 1),
    '1970-01-01T00:00:00Z',
    '2999-12-31T23:59:59.999Z',
    text.replace('Z', '+00:00'),
    iso(before + hourMs).replace('Z', '+01:00'),
    iso(before - 9 * hourMs).replace('Z', '-09:00'),
  ];
}

const isRecent =
  (value: string, nowMs: number) =>
  ({ toMs }: Stretch) =>
    toMs === null || toMs > nowMs - Number(value) * hourMs;

const ranges: EndpointTrials = {
  of: (_world, { old }) => below(old.id, 'status-ranges'),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      effect: (asked) =>
        isPage(asked, 'status_ranges', 'started_at', {
          all: asked.things.old.ranges.map(({ fromMs }) => iso(fromMs)),
          kind: 'page',
        }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      effect: (asked) =>
        isPage(asked, 'status_ranges', 'started_at', {
          all: asked.things.old.ranges.map(({ fromMs }) => iso(fromMs)),
          kind: 'page_size',
        }),
    },
    hours: {
      bounds: hours(17_520),
      more: () => ['24', '720'],
      effect: ({ t, things, value, answer }) => {
        const { ranges: all } = things.old;
        const overlapping = all.filter(isRecent(value, things.nowMs));
        t.equal(answer.body['total'], overlapping.length, `${value} hours are overlapped by so many`);
        t.same(
          rowsOf(answer, 'status_ranges').map((row) => [row['started_at'], row['ended_at']]),
          overlapping.slice(0, 20).map(({ fromMs, toMs }) => [iso(fromMs), toMs === null ? null : iso(toMs)]),
          'each is whole',
        );
      },
    },
  },
};

const evidence: EndpointTrials = {
  of: async (world, { old }) => {
    const answer = await world.make('GET', `/api/v1/monitors/${old.id}/status-ranges?page_size=1&page=2`);
    return below(old.id, `status-ranges/${String(rowsOf(answer, 'status_ranges')[0]?.['id'])}/evidence`);
  },
  parameters: {
    replay: {
      bounds: yesOrNo(false),
      effect: ({ t, value, answer }) => t.equal(answer.body['replay'] !== null, value === 'true', `replay=${value}`),
    },
  },
};

/** What a timeline of one entry for each result is made of, oldest first. */
const sources = ({ answer }: Asked): readonly string[] =>
  rowsOf(answer, 'timeline').map((row) =>
    row['is_fallback'] === true
      ? 'fallback'
      : row['is_manual'] === true
        ? 'manual'
        : `probe ${String(row['probe_id'])}`,
  );

const timeline: EndpointTrials = {
  of: (_world, { old }) => below(old.id, 'timeline'),
  parameters: {
    hours: {
      bounds: hours(720, 24),
      effect: (asked) =>
        asked.t.equal(sources(asked).length, youngerThan(asked.things, asked.value), `results of ${asked.value} hours`),
    },
    probe_id: {
      bounds: id,
      more: ({ probed }) => [String(probed.one), String(probed.two)],
      of: (_world, { probed }) => below(probed.id, 'timeline', 'include_manual=false'),
      effect: (asked) => {
        const { t, things, value, answer } = asked;
        const { one, two } = things.probed;
        const count = Number(value) === one ? 3 : Number(value) === two ? 2 : 0;
        t.same(
          sources(asked),
          Array.from({ length: count }, () => `probe ${value}`),
          `${value} has its own only`,
        );
        t.equal(answer.body['source'], 'results', 'and no longer what all of them say together');
      },
    },
    include_manual: {
      bounds: yesOrNo(true),
      of: (_world, { probed }) => below(probed.id, 'timeline', `probe_id=${probed.one}`),
      effect: (asked) => {
        const own = Array.from({ length: 3 }, () => `probe ${asked.things.probed.one}`);
        asked.t.same(sources(asked), asked.value === 'true' ? [...own, 'manual', 'fallback'] : own);
      },
    },
  },
};

/** Trials of the window of what is told of the old monitor. */
const windowOf = (rest: string) =>
  windowTrials(
    (query) =>
      (_world, { old }) =>
        below(old.id, rest, query),
    reportedIn,
  );

const distribution: EndpointTrials = {
  of: (_world, { old }) => below(old.id, 'response-time-distribution'),
  parameters: {
    ...windowOf('response-time-distribution'),
    hours: {
      bounds: hours(720, 24),
      effect: ({ t, things, value, answer }) =>
        t.match(answer.body, { hours: Number(value), count: youngerThan(things, value) }, `of ${value} hours`),
    },
    probe_id: {
      bounds: id,
      more: ({ probed }) => [String(probed.one), String(probed.two)],
      of: (_world, { probed }) => below(probed.id, 'response-time-distribution'),
      effect: ({ t, things, value, answer }) => {
        const { one, two } = things.probed;
        const count = Number(value) === one ? 3 : Number(value) === two ? 2 : 0;
        t.match(answer.body, { probe_id: Number(value), count }, `of the probe ${value}`);
      },
    },
  },
};

const stats: EndpointTrials = {
  of: (_world, { old }) => below(old.id, 'stats'),
  parameters: {
    ...windowOf('stats'),
    hours: {
      bounds: hours(720, 24),
      effect: ({ t, things, value, answer }) =>
        t.match(
          answer.body,
          { hours: Number(value), checks: { total: youngerThan(things, value) } },
          `checks of ${value} hours`,
        ),
    },
  },
};

/** The series of an answer. */
const seriesOf = ({ answer }: Asked) => rowsOf(answer, 'series');

const latency: EndpointTrials = {
  of: (_world, { old }) => below(old.id, 'latency'),
  parameters: {
    ...windowOf('latency'),
    hours: {
      bounds: hours(9_600, 24),
      effect: (asked) => {
        const { t, things, value, answer } = asked;
        t.match(answer.body, { hours: Number(value) });
        t.match(seriesOf(asked), [{ checks: youngerThan(things, value) }], `checks of ${value} hours`);
      },
    },
    points: {
      bounds: { kind: 'integer', least: 2, most: 500, byDefault: 200 },
      of: (_world, { old }) => below(old.id, 'latency', 'hours=720'),
      effect: (asked) => {
        const [series] = seriesOf(asked);
        const buckets = series?.['buckets'] as readonly unknown[];
        asked.t.ok(buckets.length > 0 && buckets.length <= Number(asked.value), `${buckets.length} of ${asked.value}`);
      },
    },
    bucket: {
      bounds: { kind: 'words', words: ['hour', 'day', 'week', 'month'], anyCase: true },
      effect: ({ t, value, answer }) => t.match(answer.body, { bucket: { unit: value, size: 1 } }),
    },
    by: {
      bounds: { kind: 'words', words: ['monitor', 'region', 'probe'], byDefault: 'monitor', anyCase: true },
      of: (_world, { probed }) => below(probed.id, 'latency'),
      effect: (asked) => {
        const { t, things, value } = asked;
        const ids = seriesOf(asked).map((series) => series['probe_id']);
        t.match(asked.answer.body, { by: value });
        if (value === 'monitor') t.same(ids, [null]);
        if (value === 'probe') t.same(ids, [things.probed.one, things.probed.two, null]);
        if (value === 'region') t.ok(ids.length > 0 && ids.every((id) => id === null));
      },
    },
    probe_id: {
      bounds: id,
      more: ({ probed }) => [String(probed.one), String(probed.two)],
      of: (_world, { probed }) => below(probed.id, 'latency'),
      effect: (asked) => {
        const { t, things, value } = asked;
        const { one, two } = things.probed;
        const count = Number(value) === one ? 3 : Number(value) === two ? 2 : 0;
        t.match(seriesOf(asked), [{ probe_id: Number(value), count }], `of the probe ${value}`);
      },
    },
  },
};

/** What was measured of a monitor. */
export const ofHistories: Readonly<Record<string, EndpointTrials>> = {
  'GET /api/v1/monitors/{monitor_id}/results': results,
  'GET /api/v1/monitors/{monitor_id}/status-ranges': ranges,
  'GET /api/v1/monitors/{monitor_id}/status-ranges/{range_id}/evidence': evidence,
  'GET /api/v1/monitors/{monitor_id}/timeline': timeline,
  'GET /api/v1/monitors/{monitor_id}/response-time-distribution': distribution,
  'GET /api/v1/monitors/{monitor_id}/stats': stats,
  'GET /api/v1/monitors/{monitor_id}/latency': latency,
};
