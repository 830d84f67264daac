import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
  if (identity === undefined) {
    await forgetUnreaped(file, data, record.pid, log);
    return;
  }
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

const orphansEndWithinMs = 10_000;

/**
 * A server that was killed and that nobody has waited for yet still counts as running for PostgreSQL, for ever where process 1 does
 * not reap. Its file is put aside, though not before the last of its backends is gone: the file is also what keeps a new server from
 * the data that they still write to.
 */
async function forgetUnreaped(file: string, data: string, pid: number, log: ProcessLog): Promise<void> {
  if (!hasEntry(pid)) return;
  const deadline = performance.now() + orphansEndWithinMs;
  for (let left = processesIn(data); left.length > 0; left = processesIn(data)) {
    if (performance.now() > deadline)
      throw new Error(`processes ${left.join(', ')} of a PostgreSQL that was killed still work on ${data}`);
    await sleep(20);
  }
  log.info({ pid, file }, 'the PostgreSQL of an earlier run was killed and is not reaped yet; its file is put aside');
  renameSync(file, `${file}.stale`);
}

/** True while the system has the number, be it of a process that has ended. */
function hasEntry(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Processes that work in a folder, as every backend does; none where the system has no /proc. */
function processesIn(folder: string): readonly number[] {
  const real = realpathSync(folder);
  const numbers = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return numbers.map(Number).filter((pid) => identityOf(pid)?.cwd === real);
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
