import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';
import type { ApplyFlags, ExportFlags } from './as-code.run.ts';
import { withConnection } from './connection-options.ts';

/** Adds `export` and `apply`: monitors as code, through the REST API, so from any machine and with the rights of a token. */
export function addAsCodeCommands(program: Command, env: Environment): void {
  const common = (command: Command): Command =>
    withConnection(command, 'which workspace; the one that the file names, else your default one, when absent');
  common(program.command('export'))
    .description('print monitors and monitor groups of a workspace as YAML, without secrets')
    .option('--output <file>', 'write there instead')
    .action(async (flags: ExportFlags) => {
      const { runExport } = await import('./as-code.run.ts');
      await runExport(env, flags);
    });
  common(program.command('apply'))
    .description('make monitors and monitor groups of a workspace as YAML files say')
    .argument('<files...>', 'files as control-plane export writes them')
    .option('--plan', 'only print what would be done; ends with 2 when that is something, with 0 when it is nothing')
    .option('--yes', 'do not ask')
    .option('--prune', 'also remove monitors, and groups, that no file names')
    .option('--secrets', 'send secrets anew that are set already')
    .addHelpText(
      'after',
      `
docs/as-code.md describes the files.

Examples:
  control-plane export --workspace shop --output shop.yaml
  control-plane apply shop.yaml --plan
  PARALLAX_TOKEN=plx_… control-plane apply shop.yaml --yes --url https://parallax.example.com`,
    )
    .action(async (files: string[], flags: ApplyFlags) => {
      const { runApply } = await import('./as-code.run.ts');
      await runApply(env, files, flags);
    });
}
