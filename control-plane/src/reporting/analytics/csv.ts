import type {
  AvailabilityAnalytics,
  LatencyAnalytics,
  NoisiestMonitors,
  ResponseAnalytics,
  WorstMonitors,
} from '@parallax/api-contract';
import { writeCsv } from '../../platform/csv/write-csv.ts';
import type { CsvCell } from '../../platform/csv/write-csv.ts';

/** A record for each series and bucket. */
export function availabilityCsv({ buckets, series }: AvailabilityAnalytics): string {
  const records = series.flatMap(({ key, name, uptime_percent: uptime }) =>
    buckets.map(({ start_time: start, end_time: end }, at): CsvCell[] => [start, end, key, name, uptime[at] ?? null]),
  );
  return writeCsv([['start_time', 'end_time', 'key', 'name', 'uptime_percent'], ...records]);
}

/** A record for each series and bucket. */
export function latencyCsv({ buckets, series }: LatencyAnalytics): string {
  const records = series.flatMap(({ key, name, p50, p95, count }) =>
    buckets.map(({ start_time: start, end_time: end }, at): CsvCell[] => [
      start,
      end,
      key,
      name,
      p50[at] ?? null,
      p95[at] ?? null,
      count[at] ?? null,
    ]),
  );
  return writeCsv([['start_time', 'end_time', 'key', 'name', 'p50_ms', 'p95_ms', 'count'], ...records]);
}

/** A record for each monitor. */
export function worstCsv({ monitors }: WorstMonitors): string {
  const records = monitors.map((each): CsvCell[] => [
    each.monitor_id,
    each.workspace_id,
    each.name,
    each.uptime_percent,
    ...secondNames.map((name) => each.seconds[name]),
    each.p95_ms,
  ]);
  const seconds = secondNames.map((name) => `${name}_seconds`);
  return writeCsv([['monitor_id', 'workspace_id', 'name', 'uptime_percent', ...seconds, 'p95_ms'], ...records]);
}

const secondNames = ['up', 'degraded', 'down', 'timeout', 'unknown', 'maintenance', 'paused', 'excluded'] as const;

/** A record for each monitor. */
export function noisiestCsv({ monitors }: NoisiestMonitors): string {
  const records = monitors.map((each): CsvCell[] => [
    each.monitor_id,
    each.workspace_id,
    each.name,
    each.incidents,
    each.messages,
    each.flapping,
  ]);
  return writeCsv([['monitor_id', 'workspace_id', 'name', 'incidents', 'messages', 'flapping'], ...records]);
}

/** A record for each bucket. */
export function responseCsv(answer: ResponseAnalytics): string {
  const records = answer.buckets.map(({ start_time: start, end_time: end }, at): CsvCell[] => [
    start,
    end,
    answer.incidents[at] ?? null,
    answer.mtta_seconds[at] ?? null,
    answer.mttr_seconds[at] ?? null,
  ]);
  return writeCsv([['start_time', 'end_time', 'incidents', 'mtta_seconds', 'mttr_seconds'], ...records]);
}
