import type { MonitorLatency, seriesKinds } from '@parallax/api-contract';
import { bucketSummaries, mergeSummaries } from '../../monitoring/check-results/index.ts';
import type { BucketSummary, RunningSummary } from '../../monitoring/check-results/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { iso, latencyAnswer } from './answer.ts';
import { bucketEdges, bucketLength } from './buckets.ts';
import type { BucketRequest } from './buckets.ts';
import { checkCounts } from './check-counts.ts';
import { latencyFigures } from './latency.ts';
import { namedProbes } from './probes.ts';
import type { NamedProbe } from './probes.ts';
import { probesOf } from './queries.ts';
import type { ReportWindow } from './window.ts';

type SeriesRequest = BucketRequest & {
  readonly by: (typeof seriesKinds)[number];
  readonly probe_id?: number | undefined;
  readonly timezone: string;
  readonly week_starts: number;
};
type Series = MonitorLatency['series'][number];

/** Response times of a monitor in buckets, in one series or in several. */
export async function readSeries(
  transaction: Transaction,
  monitorId: number,
  window: ReportWindow,
  request: SeriesRequest,
): Promise<Pick<MonitorLatency, 'bucket' | 'series'>> {
  const bucket = bucketLength(request, window);
  const calendar = { timezone: request.timezone, weekStarts: request.week_starts };
  const edgesMs = bucketEdges(bucket, window, calendar);
  const { probe_id: probeId } = request;
  const found = edgesMs.length === 0 ? [] : await bucketSummaries(transaction, monitorId, { edgesMs, probeId });
  if (request.by === 'monitor' && probeId === undefined) {
    const ofAll = { probe_id: null, name: null, region: null };
    const parts = found.map(({ all }) => all);
    return { bucket, series: [seriesOf(ofAll, edgesMs, parts)] };
  }
  // Only of probes that measured the monitor a name is looked up: another one may belong to others.
  const seen = found.flatMap(({ perProbe }) => [...perProbe.keys()]);
  const known = namedProbes(await probesOf(transaction, monitorId, window, seen));
  const groups = groupsOf(
    request.by,
    known.filter(({ id }) => probeId === undefined || id === probeId),
  );
  if (groups.length === 0 && probeId !== undefined) {
    groups.push({ who: { probe_id: probeId, name: null, region: null }, ids: [] });
  }
  return { bucket, series: groups.map(({ who, ids }) => seriesOf(who, edgesMs, resultsOf(found, ids))) };
}

type Group = { readonly who: Pick<Series, 'probe_id' | 'name' | 'region'>; readonly ids: readonly number[] };

/** Whose results make a series. */
function groupsOf(by: SeriesRequest['by'], probes: readonly NamedProbe[]): Group[] {
  if (by !== 'region') {
    return probes.map(({ id, probeId, name, region }) => ({ who: { probe_id: probeId, name, region }, ids: [id] }));
  }
  return [...Map.groupBy(probes, ({ region }) => region)].map(([region, members]) => ({
    who: { probe_id: null, name: null, region },
    ids: members.map(({ id }) => id),
  }));
}

/** What some probes measured in each bucket. */
function resultsOf(buckets: readonly BucketSummary[], ids: readonly number[]): RunningSummary[] {
  return buckets.map(({ perProbe }) => mergeSummaries(ids.flatMap((id) => perProbe.get(id) ?? [])));
}

function seriesOf(who: Group['who'], edgesMs: readonly number[], parts: readonly RunningSummary[]): Series {
  return {
    ...who,
    ...figuresOf(mergeSummaries(parts)),
    buckets: parts.map((part, index) => ({
      start_time: iso(edgesMs[index] ?? 0),
      end_time: iso(edgesMs[index + 1] ?? 0),
      ...figuresOf(part),
    })),
  };
}

function figuresOf(summary: RunningSummary) {
  const { total, fail, timeout } = checkCounts(summary.counts);
  return { checks: total, failed: fail + timeout, ...latencyAnswer(latencyFigures(summary.latency)) };
}
