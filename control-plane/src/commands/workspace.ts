import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';
import type { RangesFlags } from './workspace.run.ts';

const run = () => import('./workspace.run.ts');

/** Adds `workspace`, by which the operator allows private addresses to the checks of single workspaces. */
export function addWorkspaceCommands(program: Command, env: Environment): void {
  const workspace = program.command('workspace').description('workspaces: what their checks may reach');
  workspace.addHelpText(
    'after',
    `
Examples:
  control-plane workspace allow-ranges 7 10.20.0.0/16 fd00:20::/32
  control-plane workspace allow-ranges 7 --none
  control-plane workspace allow-ranges 7

Probes have lists of their own, which cap what is allowed here (docs/publishing.md).`,
  );
  workspace
    .command('allow-ranges')
    .description('replace the private ranges that the checks of a workspace may reach; without ranges, print them')
    .argument('<workspace>', 'number of the workspace')
    .argument('[ranges...]', 'CIDRs, such as 10.20.0.0/16; at most 50')
    .option('--none', 'allow none any more')
    .option('--json', 'print JSON')
    .action(async (wanted: string, ranges: string[], flags: RangesFlags) =>
      (await run()).runAllowRanges(env, wanted, ranges, flags),
    );
}
