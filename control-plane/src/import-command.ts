import type { Environment } from '@parallax/settings';
import { CommanderError, Option } from 'commander';
import type { Command } from 'commander';
import { clientOf, withConnection } from './connection-options.ts';
import type { Connection } from './connection-options.ts';
import { findWorkspace } from './monitoring/as-code/index.ts';
import { importFile, readImportFile } from './monitoring/file-import/index.ts';

type ImportFlags = Connection & { readonly dryRun?: boolean; readonly onDuplicate: 'skip' | 'create' };

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
    .action((file: string, flags: ImportFlags) => runImport(env, file, flags));
}

async function runImport(env: Environment, file: string, flags: ImportFlags): Promise<void> {
  const read = readImportFile(file);
  const client = clientOf(env, flags);
  const place = flags.workspace === undefined ? undefined : await findWorkspace(client, flags.workspace);
  const hasFailed = await importFile(read, {
    client,
    workspaceId: place?.id,
    isDryRun: flags.dryRun === true,
    onDuplicate: flags.onDuplicate,
    print: (line) => process.stdout.write(`${line}\n`),
  });
  if (hasFailed) throw new CommanderError(1, 'parallax.import', 'some rows have failed');
}
