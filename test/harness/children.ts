import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { endRecordedProcess } from '@parallax/embedded';
import { z } from 'zod';
import { eventually } from './processes.ts';
import type { Product } from './product.ts';

const identity = z.object({ pid: z.int().min(2) });

/** The children of the supervisor by the pid that it wrote down when it started them. */
export type ChildName = 'control-plane' | 'nats-server' | 'PostgreSQL';

export function pidOf(product: Product, child: ChildName): number {
  return identity.parse(JSON.parse(readFileSync(path.join(product.dataDir, 'run/processes', `${child}.json`), 'utf8')))
    .pid;
}

/** Every child that the supervisor of a data folder has written down, by name. */
export function recordedChildren(dataDir: string): ReadonlyMap<string, number> {
  const folder = path.join(dataDir, 'run/processes');
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.map((name) => [
      path.parse(name).name,
      identity.parse(JSON.parse(readFileSync(path.join(folder, name), 'utf8'))).pid,
    ]),
  );
}

/** Ends what is still written down on a data folder: a supervisor that was killed leaves its children behind. */
export async function endLeftChildren(dataDir: string): Promise<void> {
  const folder = path.join(dataDir, 'run/processes');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    await endRecordedProcess(path.join(folder, name), [{ signal: 'SIGKILL', waitMs: 2_000 }]);
  }
}

/** Sends a signal to a child; false when it was between two lives. */
export function signalChild(product: Product, child: ChildName, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pidOf(product, child), signal);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when the supervisor has started the child anew after the given life. */
export async function untilRestarted(product: Product, child: ChildName, formerPid: number): Promise<void> {
  await eventually(`${child} to be started again`, async () => {
    const pid = pidOf(product, child);
    return pid !== formerPid && process.kill(pid, 0);
  });
}

/** Copies the broker's store as a crash at this instant would leave it. */
export function copyBrokerStore(product: Product): void {
  const store = path.join(product.dataDir, 'nats/jetstream');
  const copy = path.join(product.dataDir, 'jetstream-copy');
  signalChild(product, 'nats-server', 'SIGSTOP');
  try {
    rmSync(copy, { recursive: true, force: true });
    cpSync(store, copy, { recursive: true });
  } finally {
    signalChild(product, 'nats-server', 'SIGCONT');
  }
}

/** Kills the broker and puts the copied store in the place of the present one: everything since is gone, as after a restored backup. */
export async function rollBackBrokerStore(product: Product): Promise<void> {
  const former = pidOf(product, 'nats-server');
  // Held, so that it does not start the broker before the store is exchanged.
  product.supervisor.kill('SIGSTOP');
  try {
    process.kill(former, 'SIGKILL');
    rmSync(path.join(product.dataDir, 'nats/jetstream'), { recursive: true, force: true });
    renameSync(path.join(product.dataDir, 'jetstream-copy'), path.join(product.dataDir, 'nats/jetstream'));
  } finally {
    product.supervisor.kill('SIGCONT');
  }
  await untilRestarted(product, 'nats-server', former);
}
