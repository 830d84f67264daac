import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { configurationSubject } from '../../platform/bus/subjects.ts';
import { startCentralRunner } from '../central-checks/index.ts';
import { openIngestClient, startShard } from './ingest/job.ts';

export { centralFlag, fallbackFlag } from './flags.ts';
export { latestResultJoin, resultsPage } from './queries.ts';
export type { ResultItem, ResultsFilter } from './queries.ts';
export { openIngestClient, startShard } from './ingest/job.ts';
export type { RunningShard, ShardOptions } from './ingest/job.ts';

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
        const central = startCentralRunner(context, log.child({ part: 'central-checks' }));
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
            central,
          });
          const hints = context.bus.listen(configurationSubject(shard), running.hint);
          return { running, hints };
        });
        return {
          stop: async () => {
            for (const { hints } of shards) hints.stop();
            await Promise.all(shards.map(({ running }) => running.stop()));
            await central.stop();
          },
        };
      },
    },
  ],
};
