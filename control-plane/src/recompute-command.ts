import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { createLogger } from '@parallax/telemetry';
import { CommanderError, InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import pg from 'pg';
import { UsageError } from './command-settings.ts';
import { withDatabase } from './database-for-command.ts';
import { healMonitor, lookAtMonitor, RecomputeError, tellLook } from './monitoring/check-results/index.ts';
import type { Look } from './monitoring/check-results/index.ts';

type RecomputeFlags = {
  readonly monitor: number;
  readonly from?: number;
  readonly to?: number;
  readonly write?: boolean;
};

/** Adds `recompute`, which ends with 0 when nothing is wrong, or is not any more, and with 1 else. */
export function addRecomputeCommand(program: Command, env: Environment): void {
  program
    .command('recompute')
    .description("derive a monitor's timeline and summaries again from its stored results, and print every difference")
    .requiredOption('--monitor <id>', 'number of the monitor', monitorId)
    .option(
      '--from <time>',
      'as 2026-03-01 or 2026-03-01T12:00:00Z; as far back as results are kept when absent',
      instant,
    )
    .option('--to <time>', 'until now when absent', instant)
    .option('--write', 'put right what is wrong')
    .addHelpText(
      'after',
      `
Ranges of a monitor and of its probes are derived by the batch form of the consensus, and the hours and days that are packed are compared with
the results that they hold. It may run beside the product. What --write changes of the past is marked as revised; ranges are put right by
the ingest, so one must be running.

It ends with 0 when nothing was wrong, or when --write has put everything right, and with 1 otherwise.

Examples:
  control-plane recompute --monitor 17
  control-plane recompute --monitor 17 --from 2026-03-01 --to 2026-03-08 --write`,
    )
    .action((flags: RecomputeFlags) => runRecompute(env, flags));
}

async function runRecompute(env: Environment, { monitor, from, to, write }: RecomputeFlags): Promise<void> {
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError('--from must be before --to');
  const settings = readSettings(controlPlaneSettings, env);
  const log = createLogger({
    name: 'control-plane',
    level: settings.logLevel === 'info' ? 'warn' : settings.logLevel,
    destination: process.stderr,
  });
  const options = { monitorId: monitor, fromMs: from, toMs: to };
  const isSound = await withDatabase(settings, 'existing', log, async (database) => {
    const { worker } = await database.open();
    const pool = new pg.Pool({ connectionString: worker, max: 2, application_name: 'parallax recompute' });
    pool.on('error', () => undefined);
    try {
      const look = await explained(lookAtMonitor(pool, options));
      print(tellLook(look));
      if (isEmpty(look) || write !== true) return isEmpty(look);
      const healing = await healMonitor(pool, look, options, log);
      if (healing.ranges === 'waiting') {
        print(['the ranges are put right when the ingest of their shard runs: look again then']);
        return false;
      }
      const after = await lookAtMonitor(pool, options);
      print(isEmpty(after) ? ['everything was put right'] : ['this could not be put right:', ...tellLook(after)]);
      return isEmpty(after);
    } finally {
      await pool.end();
    }
  });
  if (!isSound) throw new CommanderError(1, 'parallax.recompute', '');
}

const isEmpty = ({ ranges, status, packed }: Look): boolean =>
  ranges.length === 0 && status === undefined && packed.length === 0;

/** A mistake of whoever asks is told without a stack. */
async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RecomputeError) throw new UsageError(error.message);
    throw error;
  }
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function monitorId(text: string): number {
  const number = Number(text);
  if (!/^[1-9]\d{0,9}$/.test(text) || number > 2_147_483_647) {
    throw new InvalidArgumentError('the number of a monitor is expected');
  }
  return number;
}

function instant(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError('a time in UTC is expected, as 2026-03-01 or 2026-03-01T12:00:00Z');
  return ms;
}
