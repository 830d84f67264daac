import type { DatabasePool } from 'slonik';
import type { Channels } from '../channels-gateway.ts';
import { bundle } from '../decide/bundle.ts';
import { claimTargets, isAnyWaiting, sentLately, waitingFor, writeDeliveries } from './queries.ts';
import type { NewDelivery, WaitingRow } from './queries.ts';

const targetsAtOnce = 100;

/**
 * Makes messages of what waits for some targets: one for each thing, or a digest of many. What is sent together is of one workspace.
 * @returns how many targets it looked at
 */
export async function bundleOnce(
  pool: DatabasePool,
  { keepsOpen }: Pick<Channels, 'keepsOpen'>,
  nowMs: number,
): Promise<number> {
  if (!(await isAnyWaiting(pool, nowMs))) return 0;
  return pool.transaction(async (transaction) => {
    const keys = await claimTargets(transaction, nowMs, targetsAtOnce);
    if (keys.length === 0) return 0;
    const waiting = await waitingFor(transaction, keys, nowMs);
    const lately = await sentLately(transaction, keys, nowMs);
    // The room of a minute is the reader's; a digest is of one workspace.
    const own = new Map<string, number>();
    for (const each of lately) own.set(each.targetKey, (own.get(each.targetKey) ?? 0) + each.own);
    const deliveries: NewDelivery[] = [];
    const waits: { readonly ids: readonly number[]; readonly untilMs: number }[] = [];
    for (const rows of Map.groupBy(waiting, (row) => `${row.workspace_id} ${row.target_key}`).values()) {
      const [first] = rows;
      if (first === undefined) continue;
      const byId = new Map(rows.map((row) => [row.id, row]));
      const made = bundle(
        rows.map((row) => ({ id: row.id, dueMs: row.created_at, afterQuiet: row.after_quiet })),
        {
          own: own.get(first.target_key) ?? 0,
          digestMs:
            lately.find((each) => each.targetKey === first.target_key && each.workspaceId === first.workspace_id)
              ?.digestMs ?? null,
        },
        !keepsOpen(first.target),
        nowMs,
      );
      const alone = made.bundles.filter(({ kind }) => kind === 'own').length;
      own.set(first.target_key, (own.get(first.target_key) ?? 0) + alone);
      for (const { kind, ids } of made.bundles) {
        const of = byId.get(ids[0] ?? 0);
        if (of !== undefined) deliveries.push({ of, kind: kind === 'own' ? of.kind : kind, notificationIds: ids });
      }
      if (made.waitUntilMs !== null) waits.push({ ids: leftOver(rows, deliveries), untilMs: made.waitUntilMs });
    }
    await writeDeliveries(transaction, deliveries, waits, nowMs);
    return keys.length;
  });
}

function leftOver(rows: readonly WaitingRow[], deliveries: readonly NewDelivery[]): readonly number[] {
  const taken = new Set(deliveries.flatMap(({ notificationIds }) => notificationIds));
  return rows.map(({ id }) => id).filter((id) => !taken.has(id));
}
