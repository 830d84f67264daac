import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { CommanderError } from 'commander';
import pg from 'pg';
import { healMonitor, lookAtMonitor, tellLook } from '../monitoring/check-results/index.ts';
import type { Look } from '../monitoring/check-results/index.ts';
import { commandLog } from './command-log.ts';
import { withDatabase } from './database-for-command.ts';
import { print } from './print.ts';
import { UsageError } from './usage-error.ts';

export type RecomputeFlags = {
  readonly monitor: number;
  readonly from?: number;
  readonly to?: number;
  readonly write?: boolean;
};

export async function runRecompute(env: Environment, { monitor, from, to, write }: RecomputeFlags): Promise<void> {
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError('--from must be before --to');
  const settings = readSettings(controlPlaneSettings, env);
  const log = commandLog(settings);
  const options = { monitorId: monitor, fromMs: from, toMs: to };
  const isSound = await withDatabase(settings, 'existing', log, async (database) => {
    const { worker } = await database.open();
    const pool = new pg.Pool({ connectionString: worker, max: 2, application_name: 'parallax recompute' });
    pool.on('error', () => undefined);
    try {
      const look = await lookAtMonitor(pool, options);
      printAll(tellLook(look));
      if (isEmpty(look) || write !== true) return isEmpty(look);
      const healing = await healMonitor(pool, look, options, log);
      if (healing.ranges === 'waiting') {
        print('the ranges are put right when the ingest of their shard runs: look again then');
        return false;
      }
      const after = await lookAtMonitor(pool, options);
      printAll(isEmpty(after) ? ['everything was put right'] : ['this could not be put right:', ...tellLook(after)]);
      return isEmpty(after);
    } finally {
      await pool.end();
    }
  });
  if (!isSound) throw new CommanderError(1, 'parallax.recompute', '');
}

const isEmpty = ({ ranges, status, packed }: Look): boolean =>
  ranges.length === 0 && status === undefined && packed.length === 0;

function printAll(lines: readonly string[]): void {
  for (const line of lines) print(line);
}
