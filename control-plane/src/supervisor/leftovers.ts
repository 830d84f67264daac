import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { endRecordedProcess, forgetProcess, type SignalStep } from '@parallax/embedded';
import type { Logger } from '@parallax/telemetry';

/** Where the identities of the running children are written down. */
export function recordsFolder(dataDir: string): string {
  return path.join(dataDir, 'run', 'processes');
}

/**
 * Ends the processes of an earlier run that was killed, each known by number, start time and working directory. Nothing is adopted:
 * all of them are started anew. The caller holds the lock of the data folder.
 */
export async function endLeftovers(dataDir: string, log: Pick<Logger, 'info'>): Promise<void> {
  const folder = recordsFolder(dataDir);
  if (!existsSync(folder)) return;
  const records = readdirSync(folder).filter((name) => name.endsWith('.json'));
  await Promise.all(
    records.map(async (name) => {
      const record = path.join(folder, name);
      const ended = await endRecordedProcess(record, stepsFor(path.parse(name).name));
      forgetProcess(record);
      if (ended !== undefined)
        log.info({ pid: ended.pid, child: path.parse(name).name }, 'ended a process of an earlier run');
    }),
  );
}

/** For PostgreSQL SIGTERM would mean to wait for its clients. */
function stepsFor(name: string): readonly SignalStep[] {
  const gentle: readonly SignalStep[] =
    name === 'PostgreSQL'
      ? [
          { signal: 'SIGINT', waitMs: 4_000 },
          { signal: 'SIGQUIT', waitMs: 2_000 },
        ]
      : [{ signal: 'SIGTERM', waitMs: 3_000 }];
  return [...gentle, { signal: 'SIGKILL', waitMs: 2_000 }];
}
