import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Environment } from '@parallax/settings';
import { CommanderError } from 'commander';
import {
  applyPlan,
  findWorkspace,
  loadWanted,
  planOf,
  readRemote,
  showPlan,
  sizeOf,
  writeAsCode,
} from '../monitoring/as-code/index.ts';
import { clientOf } from './api-client.ts';
import type { Connection } from './connection-options.ts';
import { print } from './print.ts';
import { UsageError } from './usage-error.ts';

export type ExportFlags = Connection & { readonly output?: string };

export type ApplyFlags = Connection & {
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly prune?: boolean;
  readonly secrets?: boolean;
};

export async function runExport(env: Environment, flags: ExportFlags): Promise<void> {
  const client = clientOf(env, flags);
  const { id, name } = await findWorkspace(client, flags.workspace);
  const { state } = await readRemote(client, id);
  if (client.isKey) process.stderr.write('control-plane: monitor groups are left out: an API key may not read them\n');
  const text = writeAsCode(name ?? id, state);
  if (flags.output === undefined) process.stdout.write(text);
  else writeFileSync(flags.output, text);
}

export async function runApply(env: Environment, files: readonly string[], flags: ApplyFlags): Promise<void> {
  const wanted = loadWanted(files, env);
  const client = clientOf(env, flags);
  if (client.isKey && (wanted.groups ?? []).length > 0) {
    throw new UsageError('an API key may not write monitor groups: use a personal access token');
  }
  const workspace = await findWorkspace(client, flags.workspace ?? wanted.workspace);
  const remote = await readRemote(client, workspace.id);
  const plan = planOf(wanted, remote.state, {
    prune: flags.prune === true,
    sendSecrets: flags.secrets === true,
    probes: new Set(remote.probeIds.keys()),
  });
  print(`workspace ${JSON.stringify(workspace.name ?? workspace.id)}\n${showPlan(plan)}`);
  if (sizeOf(plan) === 0) return;
  if (flags.plan === true) throw new CommanderError(2, 'parallax.plan', 'something is to be done');
  if (flags.yes !== true) await ask();
  await applyPlan(plan, { client, workspaceId: workspace.id, remote, done: print });
}

async function ask(): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError('nobody can be asked here: say --yes to do it, or --plan to see it only');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question('Do this? Only "yes" is taken: ').finally(() => lines.close());
  if (answer.trim() !== 'yes') throw new UsageError('nothing was changed');
}
