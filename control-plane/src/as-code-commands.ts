import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Environment } from '@parallax/settings';
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { UsageError } from './command-settings.ts';
import { clientOf, withConnection } from './connection-options.ts';
import type { Connection } from './connection-options.ts';
import {
  applyPlan,
  findWorkspace,
  loadWanted,
  planOf,
  readRemote,
  showPlan,
  sizeOf,
  writeAsCode,
} from './monitoring/as-code/index.ts';

type ApplyFlags = Connection & {
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly prune?: boolean;
  readonly secrets?: boolean;
};

/** Adds `export` and `apply`: monitors as code, through the REST API, so from any machine and with the rights of a token. */
export function addAsCodeCommands(program: Command, env: Environment): void {
  const common = (command: Command): Command =>
    withConnection(command, 'which workspace; the one that the file names, else your default one, when absent');
  common(program.command('export'))
    .description('print monitors and monitor groups of a workspace as YAML, without secrets')
    .option('--output <file>', 'write there instead')
    .action((flags: Connection & { output?: string }) => runExport(env, flags));
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
    .action((files: string[], flags: ApplyFlags) => runApply(env, files, flags));
}

async function runExport(env: Environment, flags: Connection & { output?: string }): Promise<void> {
  const client = clientOf(env, flags);
  const { id, name } = await findWorkspace(client, flags.workspace);
  const { state } = await readRemote(client, id);
  if (client.isKey) process.stderr.write('control-plane: monitor groups are left out: an API key may not read them\n');
  const text = writeAsCode(name ?? id, state);
  if (flags.output === undefined) process.stdout.write(text);
  else writeFileSync(flags.output, text);
}

async function runApply(env: Environment, files: readonly string[], flags: ApplyFlags): Promise<void> {
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

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
