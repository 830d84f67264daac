import { readdirSync, readFileSync } from 'node:fs';
import { identityOf } from '@parallax/embedded';
import type { ProcessIdentity } from '@parallax/embedded';

/** A process and everything below it that runs now, itself first. Empty where the system has no /proc. */
export function processTree(rootPid: number): readonly ProcessIdentity[] {
  const children = new Map<number, number[]>();
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: ProcessIdentity[] = [];
  const waiting = [rootPid];
  for (let pid = waiting.shift(); pid !== undefined; pid = waiting.shift()) {
    const identity = identityOf(pid);
    if (identity !== undefined) found.push(identity);
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** The command line of a process, its arguments separated by NUL; empty when it is gone. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Looks at the command lines of a process and everything below it again and again; `stop` gives every one that was seen. */
export function watchCommandLines(rootPid: number, everyMs = 25): { readonly stop: () => readonly string[] } {
  const seen = new Set<string>();
  const look = (): void => {
    for (const { pid } of processTree(rootPid)) seen.add(commandLine(pid));
  };
  const timer = setInterval(look, everyMs);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      return [...seen];
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The name in parentheses may hold anything, so the fields are counted from the last parenthesis: state, then parent. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
