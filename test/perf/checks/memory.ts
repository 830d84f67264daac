import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../agent/lateness.ts';
import { compile, startTarget } from '../agent/target.ts';
import { startWorld } from '../agent/world.ts';

/** Bytes of resident memory of an agent with its session, its log and its broker. */
export type Memory = {
  /** With nothing to check. */
  readonly idleBytes: number;
  /** While the monitors are checked. */
  readonly busyBytes: number;
  /** What each monitor adds to an idle agent. */
  readonly bytesPerMonitor: number;
};

export type MemoryPlan = {
  readonly monitors: number;
  readonly intervalS: number;
  /** What an agent is given to come to rest before it counts as idle. */
  readonly idleMs: number;
  /** What passes, with the monitors, before it is looked at: each should have been checked twice. */
  readonly settleMs: number;
  /** How long it is looked at; the middle of what is seen counts. */
  readonly watchMs: number;
  /** The agent from its sources, which is no measure of what people get, but need not be built. */
  readonly fromSources?: boolean;
  /** Settings of the agent beside those that it needs. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** The plan of the goal: 10,000 HTTP monitors of ten seconds. About 45 s. */
export const wholeMemoryPlan: MemoryPlan = {
  monitors: 10_000,
  intervalS: 10,
  idleMs: 4_000,
  settleMs: 25_000,
  watchMs: 10_000,
};

const sampleEveryMs = 250;

/**
 * What the monitors of an agent cost in memory, over its executable as a process of its own with a real session, broker and target. The
 * resident memory is taken as Linux counts it, with what the collector has not yet given back. Linux only.
 */
export async function measureMemory(
  say: (line: string) => void = () => {},
  plan: MemoryPlan = wholeMemoryPlan,
): Promise<Memory> {
  const undo: (() => unknown)[] = [];
  const teardown = (step: () => unknown): void => void undo.unshift(step);
  try {
    const folder = mkdtempSync(path.join(tmpdir(), 'parallax-memory-'));
    teardown(() => rmSync(folder, { recursive: true, force: true }));
    const program = compile('target', folder);
    const target = await startTarget('binary' in program ? program.binary : undefined, teardown);
    const world = await startWorld(
      {
        folder,
        targetPort: target.port,
        executable: plan.fromSources === true ? undefined : buildExecutable(folder),
        first: { monitors: 0, intervalS: plan.intervalS },
        onResult: () => {},
        ...(plan.environment !== undefined && { environment: plan.environment }),
      },
      say,
      teardown,
    );
    await sleep(plan.idleMs);
    const idleBytes = residentBytes(world.pid);
    world.check(plan.monitors, plan.intervalS);
    await sleep(plan.settleMs);
    const seen: number[] = [];
    for (const until = performance.now() + plan.watchMs; performance.now() < until; await sleep(sampleEveryMs))
      seen.push(residentBytes(world.pid));
    const busyBytes = median(seen);
    return { idleBytes, busyBytes, bytesPerMonitor: (busyBytes - idleBytes) / plan.monitors };
  } finally {
    for (let step = undo.shift(); step !== undefined; step = undo.shift()) await step();
  }
}

/** The agent as people get it: one file, for this machine. About five seconds. */
function buildExecutable(folder: string): string {
  const script = path.resolve(import.meta.dirname, '../../../scripts/build-agent.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--arch', process.arch, '--out', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the executable was not built: ${stderr.slice(-1_000)}`);
  return path.join(folder, `probe-agent-linux-${process.arch}`);
}

/** Memory of a process that is in use now. */
function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;
}
