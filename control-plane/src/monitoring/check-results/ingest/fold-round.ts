import { setImmediate as nextTurn } from 'node:timers/promises';
import { rebuildWindows, restoreAll } from './memory.ts';
import type { ShardMemory } from './memory.ts';
import type { IngestRow } from './rows.ts';
import { readWindows } from './windows/queries.ts';
import type { Reader } from './windows/queries.ts';

/** Some milliseconds: the transaction that runs beside it is fed by this process too, a few hundred kilobytes at a time. */
const foldedAtOnce = 500;
/** A reading that asks for another reading this often is a defect. */
const mostRebuilds = 8;

/** Folds the rows of a round, and lets others work in between. */
export async function foldRows(memory: ShardMemory, rows: readonly IngestRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += foldedAtOnce) {
    if (at > 0) await nextTurn();
    memory.fold.apply(rows.slice(at, at + foldedAtOnce));
  }
}

/**
 * Reads from the database what the fold cannot go on without.
 * @param settled resolves when the transaction that is under way is committed: memory is read beside it only then
 * @throws when a monitor asks for older rows again and again
 */
export async function rebuildMonitors(
  memory: ShardMemory,
  {
    reader,
    shard,
    settled,
  }: { readonly reader: Reader; readonly shard: number; readonly settled: () => Promise<void> },
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const wishes = memory.fold.rebuilds();
    if (wishes.length === 0) return;
    if (attempt === mostRebuilds) throw new Error(`shard ${shard}: monitor ${wishes[0]?.monitorId} cannot be rebuilt`);
    await settled();
    const wanted = rebuildWindows(memory, wishes);
    restoreAll(memory, wanted, await readWindows(reader, wanted));
  }
}
