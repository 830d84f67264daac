import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { configurationSubject, statusesSubject } from '../../platform/bus/subjects.ts';
import { startCentralRunner } from '../central-checks/index.ts';
import { openIngestClient, startShard } from './ingest/job.ts';
import { startLiveNews } from './ingest/live.ts';
import { startBoundary, startPacking } from './packing/job.ts';
import { startRetention } from './packing/retention/job.ts';

export { centralFlag, fallbackFlag } from './flags.ts';
export { latestResultJoin } from './queries.ts';
export { encodeSummary, mergeSummaries, RunningSummary, SummaryError } from './packed/summary.ts';
export { bucketSummaries } from './reading/bucket-summaries/queries.ts';
export type { BucketSummary } from './reading/bucket-summaries/queries.ts';
export { latencySeries } from './reading/latency-series/queries.ts';
export type { LatencyStep } from './reading/latency-series/queries.ts';
export { resultsPage } from './reading/page/queries.ts';
export type { ResultsFilter } from './reading/page/queries.ts';
export type { ResultItem } from './reading/result-item.ts';
export { readResults, storedResults } from './reading/slices/queries.ts';
export { windowSummary } from './reading/window-summary/queries.ts';
export type { WindowSummary } from './reading/window-summary/queries.ts';
export type { ResultsWindow } from './reading/window.ts';
export type { Sketch, SketchBucket } from './packed/sketch.ts';
export type { CheckOrigin, CountedResults, OutcomeCounts, Summary } from './packed/summary.ts';
export { openIngestClient, startShard } from './ingest/job.ts';
export { startLiveNews } from './ingest/live.ts';
export { healMonitor } from './recompute/healing/queries.ts';
export type { Healing, Look, RecomputeOptions } from './recompute/look.ts';
export { lookAtMonitor } from './recompute/queries.ts';
export { samplePackedHours } from './recompute/sample/queries.ts';
export { tellLook } from './recompute/tell.ts';
export type { RunningShard, ShardOptions } from './ingest/job.ts';

/** Stores the results of probes and folds them into the status of monitors. */
export const checkResultsCapability: Capability<Context> = {
  name: 'check-results',
  services: [
    {
      name: 'ingest',
      role: 'ingest',
      start: async (context, log) => {
        const { raw, signals } = context.database;
        const connectionString = raw.options.connectionString;
        if (connectionString === undefined) throw new Error('the pool of the ingest has no connection string');
        const central = startCentralRunner(context, log.child({ part: 'central-checks' }));
        const live = startLiveNews(context.bus);
        const statuses = context.bus.listen(statusesSubject, (message) => central.changed(idsOf(message)));
        const shards = Array.from({ length: context.shards }, (_, shard) => {
          const running = startShard({
            shard,
            shards: context.shards,
            replica: context.replica,
            openClient: () => openIngestClient(connectionString, `parallax ingest ${shard}`),
            reader: raw,
            connection: context.bus.connection,
            bus: context.bus,
            log,
            now: context.now,
            central,
            live,
            areChangesTold: signals.isHeard,
          });
          const hints = [
            context.bus.listen(configurationSubject(shard), running.hint),
            signals.on(['monitors', 'quarantines', 'probes'], running.hint),
          ];
          return { running, hints };
        });
        return {
          stop: async () => {
            statuses.stop();
            for (const hint of shards.flatMap(({ hints }) => hints)) hint.stop();
            await Promise.all(shards.map(({ running }) => running.stop()));
            await live.stop();
            await central.stop();
          },
        };
      },
    },
    { name: 'packing', role: 'worker', start: startPacking },
    { name: 'hot-boundary', role: 'worker', start: startBoundary },
    { name: 'retention', role: 'worker', start: startRetention },
  ],
};

/** What a hint names; anything else than a list of numbers is nothing. */
function idsOf(message: unknown): readonly number[] {
  const named =
    typeof message === 'object' && message !== null && 'monitor_ids' in message ? message.monitor_ids : undefined;
  return Array.isArray(named) ? named.filter((id): id is number => Number.isInteger(id)) : [];
}
