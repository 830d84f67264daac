import { readDistributionRoute, readLatencyRoute, readStatsRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { availabilityAnswer, iso, latencyAnswer, probeAnswer, windowAnswer } from './answer.ts';
import { checkCounts } from './check-counts.ts';
import { readProbeFigures, readSummary, readWindow } from './gateway.ts';
import { readSeries } from './latency-series.gateway.ts';
import { histogram, latencyFigures } from './latency.ts';
import { lastCheckedMs } from './queries.ts';
import { readAvailability } from './timeline/queries.ts';

const mostBars = 40;

/** Statistics of one monitor. */
export function statisticsRoutes(context: Context): Route[] {
  return [
    handle(readStatsRoute, ({ params, query, caller }) =>
      readWindow(context, caller, params.monitor_id, query, async (tx, subject, window) => {
        const report = await readAvailability(tx, subject.id, window, { listedOutages: 0 });
        const summary = await readSummary(tx, subject.id, window);
        const probes = await readProbeFigures(tx, subject.id, window, summary, report.measured.pausedMs);
        const checkedMs = await lastCheckedMs(tx, subject.id);
        return {
          monitor_id: subject.id,
          ...windowAnswer(window),
          status: subject.is_paused ? 'UNKNOWN' : subject.status,
          last_checked_at: checkedMs === null ? null : iso(checkedMs),
          ...availabilityAnswer(report),
          checks: checkCounts(summary.all.counts),
          response_time: latencyAnswer(latencyFigures(summary.all.latency)),
          probes: probes.map(probeAnswer),
        };
      }),
    ),

    handle(readDistributionRoute, ({ params, query, caller }) =>
      readWindow(context, caller, params.monitor_id, query, async (tx, subject, window) => {
        const { latency } = (await readSummary(tx, subject.id, window, query.probe_id)).all;
        return {
          monitor_id: subject.id,
          probe_id: query.probe_id ?? null,
          ...windowAnswer(window),
          ...latencyAnswer(latencyFigures(latency)),
          histogram: histogram(latency.timed().buckets(), mostBars).map((bar) => ({
            from_ms: bar.fromMs,
            to_ms: bar.toMs,
            count: bar.count,
          })),
        };
      }),
    ),

    handle(readLatencyRoute, ({ params, query, caller }) =>
      readWindow(context, caller, params.monitor_id, query, async (tx, subject, window) => ({
        monitor_id: subject.id,
        ...windowAnswer(window),
        by: query.by,
        ...(await readSeries(tx, subject.id, window, query)),
      })),
    ),
  ];
}
