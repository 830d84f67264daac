import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { noteEveryMs } from './credit.ts';
import { noteTaken } from './queries.ts';
import type { MoveDeadlines } from './queries.ts';

/** Says, while this process takes signals and deliveries, that it does; once before anything else that is told of them. */
export async function startIntakeWatch(
  context: Pick<Context, 'database'>,
  log: Logger,
  movers: readonly MoveDeadlines[],
): Promise<RunningService> {
  const repeated = repeat({
    everyMs: noteEveryMs,
    work: async () => {
      const creditMs = await noteTaken(context.database.worker, movers);
      if (creditMs !== null)
        log.warn({ credit_ms: creditMs }, 'no signals were taken for a while; deadlines were moved');
    },
    onError: (error) => log.warn({ err: error }, 'it could not be noted that signals are taken'),
  });
  await repeated.soon();
  return repeated;
}
