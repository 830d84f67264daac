import type { Environment } from '@parallax/settings';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { wantedProbe } from './container-options.ts';
import type { CreateFlags, ProvideFlags } from './join-token.run.ts';

/** Adds `join-token create` and `join-token provide`. */
export function addJoinTokenCommands(program: Command, env: Environment): void {
  const joinToken = program.command('join-token').description('one-time tokens that let a probe enrol');
  joinToken
    .command('create')
    .description('make a join token and print the command to run on the machine of the probe')
    .requiredOption('--name <name>', 'name of the probe')
    .requiredOption('--region <region>', 'region that it stands in, for example eu-north')
    .option('--minutes <number>', 'how long the token may be used, at most 1440', minutes, 10)
    .option('--json', 'print one JSON object')
    .action(async (flags: CreateFlags) => {
      const { runCreate } = await import('./join-token.run.ts');
      await runCreate(env, flags);
    });
  joinToken
    .command('provide')
    .description('keep a usable join token in a file for each probe that is not registered yet')
    .requiredOption('--dir <folder>', 'folder of the files, each with the name of its probe')
    .requiredOption('--probe <name=region>', 'a probe and its region; may be repeated', wantedProbe)
    .action(async (flags: ProvideFlags) => {
      const { runProvide } = await import('./join-token.run.ts');
      await runProvide(env, flags);
    });
}

function minutes(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1_440) {
    throw new InvalidArgumentError('a whole number of minutes from 1 to 1440 is expected');
  }
  return number;
}
