import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** Names one run of one process; a number alone does not, because numbers are used again. */
export type ProcessIdentity = {
  readonly pid: number;
  /** Start time as the system tells it, with the boot it belongs to. */
  readonly startedAt: string;
  /** Working directory; null where the system does not tell it (macOS). */
  readonly cwd: string | null;
};

const identitySchema = z.object({ pid: z.int().min(2), startedAt: z.string().min(1), cwd: z.string().nullable() });

/** The identity of a process that runs now, or undefined when there is none (a zombie counts as none). */
export function identityOf(pid: number): ProcessIdentity | undefined {
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid);
}

/**
 * True while that very process runs. One that is about to end has lost its working directory already but still holds its sockets and
 * locks: a directory that cannot be told is no sign of another process.
 */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identityOf(identity.pid);
  if (now === undefined || now.startedAt !== identity.startedAt) return false;
  return now.cwd === identity.cwd || now.cwd === null;
}

function identityFromProc(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything, so the fields are counted from the last parenthesis: 3 is the state, 22 the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { pid, startedAt: `${boot}/${fields[19]}`, cwd: workingDirectory(pid) };
  } catch {
    return undefined;
  }
}

function workingDirectory(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function identityFromPs(pid: number): ProcessIdentity | undefined {
  try {
    const line = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { LC_ALL: 'C', TZ: 'UTC' },
    }).trim();
    const [state, ...started] = line.split(/\s+/);
    return line === '' || state?.startsWith('Z') ? undefined : { pid, startedAt: started.join(' '), cwd: null };
  } catch {
    return undefined;
  }
}

export type SignalStep = { readonly signal: NodeJS.Signals; readonly waitMs: number };

/**
 * Ends a process that is no child of this one: each signal in turn, with a wait after it, and the identity looked at anew before
 * each. Resolves with true when it is gone.
 */
export async function endProcess(identity: ProcessIdentity, steps: readonly SignalStep[]): Promise<boolean> {
  for (const { signal, waitMs } of steps) {
    if (!isRunning(identity)) return true;
    try {
      process.kill(identity.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    for (let waitedMs = 0; waitedMs < waitMs && isRunning(identity); waitedMs += 20) await sleep(20);
  }
  return !isRunning(identity);
}

/** Writes down who runs, so that a later run can end it. The file appears whole or not at all. */
export function recordProcess(file: string, identity: ProcessIdentity): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const scratch = `${file}.${process.pid}`;
  writeFileSync(scratch, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
  renameSync(scratch, file);
}

/** Forgets a record that this run wrote. */
export function forgetProcess(file: string): void {
  rmSync(file, { force: true });
}

/** Who is written down in the file, or undefined when there is no such file or it makes no sense. */
export function recordedProcess(file: string): ProcessIdentity | undefined {
  try {
    const parsed = identitySchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Ends what an earlier run left running and wrote down in the file. Resolves with the process that was ended, or undefined when
 * nothing of it ran. Throws when it cannot be ended.
 */
export async function endRecordedProcess(
  file: string,
  steps: readonly SignalStep[],
): Promise<ProcessIdentity | undefined> {
  const identity = recordedProcess(file);
  if (identity === undefined || !isRunning(identity)) return undefined;
  if (await endProcess(identity, steps)) return identity;
  throw new Error(`process ${identity.pid} of an earlier run (recorded in ${file}) does not end`);
}
