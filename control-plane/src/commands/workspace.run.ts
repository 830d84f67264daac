import { controlPlaneSettings, readNetworks, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { allowRanges, allowedRanges } from '../identity/workspaces/index.ts';
import { openDatabase } from '../platform/database/pools.ts';
import { commandLog } from './command-log.ts';
import { withDatabase } from './database-for-command.ts';
import { print } from './print.ts';
import { UsageError } from './usage-error.ts';

export type RangesFlags = { readonly json?: boolean; readonly none?: boolean };

const mostRanges = 50;

export async function runAllowRanges(
  env: Environment,
  wanted: string,
  given: readonly string[],
  flags: RangesFlags,
): Promise<void> {
  if (!/^[1-9]\d{0,8}$/.test(wanted)) throw new UsageError(`"${wanted}" is not the number of a workspace`);
  if (flags.none === true && given.length > 0) throw new UsageError('--none and ranges contradict each other');
  const workspaceId = Number(wanted);
  const ranges = flags.none === true ? [] : given.length === 0 ? undefined : readRanges(given);
  const settings = readSettings(controlPlaneSettings, env);
  await withDatabase(settings, 'existing', commandLog(settings), async (found) => {
    const { worker, close } = await openDatabase(await found.open(), { api: 1, worker: 2 });
    try {
      const present =
        ranges === undefined
          ? await allowedRanges(worker, workspaceId)
          : await allowRanges(worker, workspaceId, ranges);
      if (present === undefined) throw new UsageError(`there is no workspace ${workspaceId}`);
      if (flags.json === true) return print(JSON.stringify({ id: workspaceId, private_targets: present }));
      const list = present.length === 0 ? 'no private ranges of its own' : present.join(', ');
      print(`workspace ${workspaceId} is allowed ${list}`);
    } finally {
      await close();
    }
  });
}

/** In one spelling each: the settings of the installation are read in the same way. */
function readRanges(given: readonly string[]): readonly string[] {
  const read = readNetworks(given.join(','));
  if (typeof read === 'string') throw new UsageError(`a range ${read}`);
  const ranges = [...new Set(read)];
  if (ranges.length > mostRanges) throw new UsageError(`a workspace may have ${mostRanges} ranges at most`);
  return ranges;
}
