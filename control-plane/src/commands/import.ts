import type { Environment } from '@parallax/settings';
import { Option } from 'commander';
import type { Command } from 'commander';
import { withConnection } from './connection-options.ts';
import type { ImportFlags } from './import.run.ts';

/** Adds `import`: monitors from files of other tools, through the REST API. */
export function addImportCommand(program: Command, env: Environment): void {
  withConnection(
    program.command('import'),
    'where every monitor goes; else where its row says, else your default workspace',
  )
    .description('create monitors from a file of another tool, from a CSV file, or from the database of Uptime Kuma')
    .argument('<file>', 'what docs/import.md lists, or a kuma.db')
    .option('--dry-run', 'create nothing, and print what would be created')
    .addOption(
      new Option('--on-duplicate <what>', 'what becomes of a row whose URL and protocol the workspace has already')
        .choices(['skip', 'create'])
        .default('skip'),
    )
    .addHelpText(
      'after',
      `
Ends with 1 when a row has failed. docs/import.md describes the files.

Examples:
  control-plane import monitors.csv --dry-run
  PARALLAX_TOKEN=plx_… control-plane import kuma.db --workspace home --url https://parallax.example.com`,
    )
    .action(async (file: string, flags: ImportFlags) => {
      const { runImport } = await import('./import.run.ts');
      await runImport(env, file, flags);
    });
}
