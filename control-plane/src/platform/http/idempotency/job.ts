import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { repeat } from '../../repeat.ts';
import type { RunningService } from '../../running-service.ts';
import { sweepKeys } from './queries.ts';

const everyMs = 600_000;
const keysAtOnce = 1_000;

/** Removes keys and answers that are older than a day, every ten minutes. */
export async function startKeySweep(
  { database }: { readonly database: { readonly worker: DatabasePool } },
  log: Logger,
): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      while (!isStopped() && (await sweepKeys(database.worker, keysAtOnce)) === keysAtOnce);
    },
    onError: (error) => log.warn({ err: error }, 'old idempotency keys were not removed; tried again in ten minutes'),
  });
}
