import type { Environment } from '@parallax/settings';
import { CommanderError } from 'commander';
import { findWorkspace } from '../monitoring/as-code/index.ts';
import { importFile, readImportFile } from '../monitoring/file-import/index.ts';
import { clientOf } from './api-client.ts';
import type { Connection } from './connection-options.ts';
import { print } from './print.ts';

export type ImportFlags = Connection & { readonly dryRun?: boolean; readonly onDuplicate: 'skip' | 'create' };

export async function runImport(env: Environment, file: string, flags: ImportFlags): Promise<void> {
  const read = readImportFile(file);
  const client = clientOf(env, flags);
  const place = flags.workspace === undefined ? undefined : await findWorkspace(client, flags.workspace);
  const hasFailed = await importFile(read, {
    client,
    workspaceId: place?.id,
    isDryRun: flags.dryRun === true,
    onDuplicate: flags.onDuplicate,
    print,
  });
  if (hasFailed) throw new CommanderError(1, 'parallax.import', 'some rows have failed');
}
