import { analyticsLimits } from '@parallax/api-contract';
import type { AnalyticsKind, AvailabilityAnalytics, InputOf, availabilityAnalyticsRoute } from '@parallax/api-contract';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { readSums } from '../day-sums/index.ts';
import type { SumKey } from '../day-sums/index.ts';
import { iso, noTime } from '../statistics/index.ts';
import { countMonitors, namesOf, requireKeys } from './keys.queries.ts';
import { askedEdges, askedKeys, askedWindow, tooWide, windowBefore } from './question.ts';
import type { AskedWindow } from './question.ts';
import { byUptime, measuredSeconds, percent, seriesOf } from './series.ts';
import type { KeyedTime, TimeSeries } from './series.ts';
import { readVotes } from './votes.queries.ts';

type AvailabilityQuery = InputOf<typeof availabilityAnalyticsRoute>['query'];

/** Buckets of a window as an answer names them. */
export function bucketAnswers(edgesMs: readonly number[]): { start_time: string; end_time: string }[] {
  return edgesMs
    .slice(0, -1)
    .map((edge, bucket) => ({ start_time: iso(edge), end_time: iso(edgesMs[bucket + 1] ?? edge) }));
}

/** Availability of the scope, or of a part of it, in series. */
export async function readAvailabilitySeries(
  scope: Scope,
  tx: Transaction,
  query: AvailabilityQuery,
  nowMs: number,
): Promise<AvailabilityAnalytics> {
  const window = askedWindow(query, nowMs);
  const edgesMs = askedEdges(query, window);
  const keys = askedKeys(query.by, query.ids);
  await requireKeys(scope, tx, query.by, keys);
  const read = readerOf(scope, tx, { by: query.by, workspaceId: query.workspace_id, keys }, nowMs);
  await refuseTooWide(scope, tx, query, edgesMs, keys);
  const series = await worstSeries(read, query, window, edgesMs);
  const shown = series.map(({ key }) => key);
  const names = await namesOf(scope, tx, query.by, shown);
  const before = new Map<string, TimeSeries>();
  if (query.compare && shown.length > 0) {
    const { fromMs, toMs } = windowBefore(window);
    for (const one of seriesOf(await read([fromMs, toMs], shown), 1)) before.set(one.key, one);
  }
  return {
    from: iso(window.fromMs),
    to: iso(window.toMs),
    as_of: iso(nowMs),
    bucket: query.bucket,
    timezone: query.timezone,
    buckets: bucketAnswers(edgesMs),
    by: query.by,
    series: series.map(({ key, buckets, total }) => ({
      key,
      name: names.get(key) ?? `${query.by} ${key}`,
      uptime_percent: buckets.map(percent),
      total_percent: percent(total),
      seconds: measuredSeconds(total),
      previous: query.compare ? previousOf(before.get(key)) : null,
    })),
  };
}

/** What nothing is known of has no time at all. */
function previousOf(series: TimeSeries | undefined): AvailabilityAnalytics['series'][number]['previous'] {
  const total = series?.total ?? noTime();
  return { total_percent: percent(total), seconds: measuredSeconds(total) };
}

/** Reads the times of keys in buckets. @param only these keys */
export type ReadTimes = (edgesMs: readonly number[], only?: readonly string[]) => Promise<readonly KeyedTime[]>;

const sumKeys: Readonly<Record<Exclude<AnalyticsKind, 'region' | 'probe'>, SumKey>> = {
  workspace: 'workspace',
  group: 'group',
  tag: 'tag',
  monitor: 'subject',
};

function readerOf(
  scope: Scope,
  tx: Transaction,
  selection: {
    readonly by: AnalyticsKind;
    readonly workspaceId: number | undefined;
    readonly keys: readonly string[] | undefined;
  },
  nowMs: number,
): ReadTimes {
  const { by, workspaceId } = selection;
  if (by === 'region' || by === 'probe') {
    return (edgesMs, only) => readVotes(scope, tx, { by, workspaceId, keys: only ?? selection.keys }, edgesMs, nowMs);
  }
  return (edgesMs, only) => {
    const keys = only ?? selection.keys;
    const chosen = by === 'monitor' ? { ids: keys?.map(Number) } : { keys };
    return readSums(scope, tx, { type: 'monitor', by: sumKeys[by], workspaceId, ...chosen }, edgesMs, nowMs);
  };
}

/** The series with the lowest uptime. Of monitors, which may be many, the buckets are read of those alone. */
async function worstSeries(
  read: ReadTimes,
  query: AvailabilityQuery,
  { fromMs, toMs }: AskedWindow,
  edgesMs: readonly number[],
): Promise<TimeSeries[]> {
  const count = edgesMs.length - 1;
  if (query.by !== 'monitor' || count === 1) {
    return seriesOf(await read(edgesMs), count)
      .toSorted(byUptime)
      .slice(0, query.limit);
  }
  const whole = seriesOf(await read([fromMs, toMs]), 1)
    .toSorted(byUptime)
    .slice(0, query.limit);
  if (whole.length === 0) return [];
  const keys = whole.map(({ key }) => key);
  return seriesOf(await read(edgesMs, keys), count).toSorted(byUptime);
}

/** @throws Problem `too_wide` */
async function refuseTooWide(
  scope: Scope,
  tx: Transaction,
  query: AvailabilityQuery,
  edgesMs: readonly number[],
  keys: readonly string[] | undefined,
): Promise<void> {
  const ids = query.by === 'monitor' ? keys?.map(Number) : undefined;
  const monitors = await countMonitors(scope, tx, { workspaceId: query.workspace_id, ids });
  const { hours, mostCutDays, mostVoteBuckets } = analyticsLimits;
  if (query.bucket === 'hour' && monitors > hours.mostMonitors) {
    throw tooWide(`hours are answered of ${hours.mostMonitors} monitors at most, and these are ${monitors}`);
  }
  const buckets = edgesMs.length - 1;
  if (query.by === 'region' || query.by === 'probe') {
    if (monitors * buckets <= mostVoteBuckets) return;
    throw tooWide(`${monitors} monitors in ${buckets} buckets are too many to read the votes of`);
  }
  const cutDays = new Set(edgesMs.filter((ms) => ms % dayMs !== 0).map((ms) => Math.floor(ms / dayMs))).size;
  if (monitors * cutDays <= mostCutDays) return;
  throw tooWide(`${monitors} monitors on ${cutDays} days that begin at another hour than in UTC are too many`);
}

const dayMs = 86_400_000;
