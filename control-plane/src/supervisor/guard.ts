import { spawn } from 'node:child_process';
import type { SignalStep } from '@parallax/embedded';

/** A process that must end with the supervisor. */
export type Guarded = {
  readonly pid: number;
  /** Stages end one after the other, the lowest first; the processes of one end side by side. */
  readonly stage: number;
  readonly steps: readonly SignalStep[];
};

/** Ends the children of a supervisor that was killed. */
export type Guard = {
  /** Tells which process runs under a name now; undefined: none. */
  readonly set: (name: string, guarded: Guarded | undefined) => void;
};

/** After the last step a process is killed, and its end is waited for so long. */
const killedWithinTenths = 2;

/**
 * Reads lines until whoever writes them is gone, and then does what the last one says: stages, each `pid,pid:SIGNAL=tenths:…`. In POSIX shell, since it waits for
 * as long as the product runs: it takes one megabyte, another Node forty. A process number cannot come to mean another process in the few seconds that
 * this takes. A zombie has ended.
 */
const script = `
trap '' INT TERM HUP
last=
while IFS= read -r line; do last=$line; done
runs() {
  for pid in $1; do
    kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$pid/status" 2>/dev/null && return 0
  done
  return 1
}
for stage in $last; do
  pids=$(echo "\${stage%%:*}" | tr , ' ')
  for step in $(echo "\${stage#*:}" | tr : ' ') KILL=${killedWithinTenths}; do
    runs "$pids" || break
    kill -s "\${step%%=*}" $pids 2>/dev/null
    left=\${step#*=}
    while [ "$left" -gt 0 ] && runs "$pids"; do sleep 0.1; left=$((left - 1)); done
  done
done
`;

/**
 * Starts the guard. It holds the reading end of a pipe whose writing end only this process has, so that it learns of an end of any kind. After an ordered stop
 * there is nothing left for it to do.
 */
export function startGuard(onLost: (reason: string) => void): Guard {
  const guarded = new Map<string, Guarded>();
  // In a session of its own, so that Ctrl-C and a signal to the supervisor's group do not reach it.
  const child = spawn('/bin/sh', ['-c', script], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  child.stdin.on('error', () => undefined);
  child.once('error', (error) => onLost(error.message));
  child.once('exit', (code, signal) => onLost(signal ?? `code ${code}`));
  return {
    set: (name, process) => {
      if (process === undefined) guarded.delete(name);
      else guarded.set(name, process);
      if (child.stdin.writable) child.stdin.write(`${lineOf([...guarded.values()])}\n`);
    },
  };
}

/** What the script is told: nothing of it comes from outside. */
export function lineOf(guarded: readonly Guarded[]): string {
  const stages = new Map<number, Guarded[]>();
  for (const each of guarded) stages.set(each.stage, [...(stages.get(each.stage) ?? []), each]);
  return [...stages]
    .sort(([a], [b]) => a - b)
    .map(([, together]) => {
      const steps = (together[0]?.steps ?? []).map(
        ({ signal, waitMs }) => `${signal.replace(/^SIG/, '')}=${Math.ceil(waitMs / 100)}`,
      );
      return [together.map(({ pid }) => pid).join(','), ...steps].join(':');
    })
    .join(' ');
}
