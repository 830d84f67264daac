import { readFileSync, realpathSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { endProcess, identityOf } from './process-identity.ts';
import type { ProcessLog } from './run-process.ts';

/**
 * Ends a PostgreSQL that an earlier run left behind on this data, known by its own `postmaster.pid`: number, start time and working
 * directory must fit. A `postmaster.pid` whose number belongs to some other process by now is put aside, since PostgreSQL would
 * refuse to start because of it. The caller holds the lock of the data folder.
 */
export async function endLeftoverPostgres(data: string, log: ProcessLog): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const record = readRecord(file);
  if (record === undefined) return;
  const identity = identityOf(record.pid);
  if (identity === undefined) return;
  const isOurs =
    identity.cwd === null ? startedNear(identity.startedAt, record.startedAtS) : identity.cwd === realpathSync(data);
  if (!isOurs) {
    log.info(
      { pid: record.pid, file },
      'the number in postmaster.pid belongs to another process by now; the file is put aside',
    );
    renameSync(file, `${file}.stale`);
    return;
  }
  log.info({ pid: record.pid }, 'ending the PostgreSQL of an earlier run');
  const isGone = await endProcess(identity, [
    { signal: 'SIGINT', waitMs: 5_000 },
    { signal: 'SIGQUIT', waitMs: 2_000 },
    { signal: 'SIGKILL', waitMs: 2_000 },
  ]);
  if (!isGone) throw new Error(`PostgreSQL of an earlier run (process ${record.pid}) on ${data} does not end`);
}

/** Its lines: process number, data folder, start time in seconds since the epoch, … */
function readRecord(file: string): { readonly pid: number; readonly startedAtS: number } | undefined {
  try {
    if (!statSync(file).isFile()) return undefined;
    const [pid, , startedAtS] = readFileSync(file, 'utf8').split('\n').map(Number);
    return pid !== undefined && Number.isInteger(pid) && pid > 1 ? { pid, startedAtS: startedAtS ?? 0 } : undefined;
  } catch {
    return undefined;
  }
}

/** Where the working directory is not known, the start time alone decides; PostgreSQL writes it down a moment after it starts. */
function startedNear(startedAt: string, recordedS: number): boolean {
  return Math.abs(Date.parse(`${startedAt} UTC`) / 1_000 - recordedS) <= 2;
}
