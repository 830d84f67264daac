import type { Environment } from '@parallax/settings';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { RecomputeFlags } from './recompute.run.ts';

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
    .action(async (flags: RecomputeFlags) => {
      const { runRecompute } = await import('./recompute.run.ts');
      await runRecompute(env, flags);
    });
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
