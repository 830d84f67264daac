import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';

/** Adds `serve`. */
export function addServeCommand(program: Command, env: Environment): void {
  program
    .command('serve')
    .description('run the control plane alone, with the roles of PARALLAX_ROLES')
    .action(async () => {
      const { runServe } = await import('./serve.run.ts');
      await runServe(env);
    });
}
