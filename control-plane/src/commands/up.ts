import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';

/** Adds `up`, which `npm start` runs. */
export function addUpCommand(program: Command, env: Environment): void {
  program
    .command('up')
    .description('run everything on this machine: PostgreSQL, nats-server, the control plane and local probes')
    .action(async () => {
      const { runUpHere } = await import('./up.run.ts');
      await runUpHere(env);
    });
}
