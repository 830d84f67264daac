import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { openIngestClient, startShard } from './ingest/job.ts';

export { centralFlag } from './flags.ts';
export { latestResultJoin, resultsPage } from './queries.ts';
export type { ResultItem, ResultsFilter } from './queries.ts';
export { openIngestClient, startShard } from './ingest/job.ts';
export type { RunningShard, ShardOptions } from './ingest/job.ts';

/** Subject of the hint that a shard's configuration changed. */
export const configurationSubject = (shard: number): string => `config.${shard}`;

/** Stores the results of probes and folds them into the status of monitors. */
export const checkResultsCapability: Capability<Context> = {
  name: 'check-results',
  services: [
    {
      name: 'ingest',
      role: 'ingest',
      start: async (context, log) => {
        const connectionString = context.database.raw.options.connectionString;
        if (connectionString === undefined) throw new Error('the pool of the ingest has no connection string');
        const shards = Array.from({ length: context.shards }, (_, shard) => {
          const running = startShard({
            shard,
            shards: context.shards,
            replica: context.replica,
            openClient: () => openIngestClient(connectionString, `parallax ingest ${shard}`),
            reader: context.database.raw,
            connection: context.bus.connection,
            bus: context.bus,
            log,
            now: context.now,
          });
          const hints = context.bus.listen(configurationSubject(shard), running.hint);
          return { running, hints };
        });
        return {
          stop: async () => {
            for (const { hints } of shards) hints.stop();
            await Promise.all(shards.map(({ running }) => running.stop()));
          },
        };
      },
    },
  ],
};
