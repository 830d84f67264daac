import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';
import { listenPlace } from './container-options.ts';
import type { NatsFileFlags } from './prepare.run.ts';

/** Adds `prepare`, which may run again at every start. */
export function addPrepareCommand(program: Command, env: Environment): void {
  program
    .command('prepare')
    .description('migrate the database and make the keys that are missing')
    .option('--nats-dir <folder>', 'also write there what a nats-server needs that is started by others')
    .option('--nats-listen <host:port>', 'where that nats-server listens', listenPlace, { host: '0.0.0.0', port: 4222 })
    .option('--nats-monitor <host:port>', 'where it answers about its health; not at all when absent', listenPlace)
    .action(async (flags: NatsFileFlags) => {
      const { runPrepare } = await import('./prepare.run.ts');
      await runPrepare(env, flags);
    });
}
