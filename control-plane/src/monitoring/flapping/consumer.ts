import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer, OutboxRow } from '../../platform/outbox/consumer.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { calm, calmAt, change, isFlapping, stateOf } from './history.ts';
import type { State } from './history.ts';
import { flappingNotice } from './notice.ts';
import { forget, remember, writeMemories } from './queries.ts';
import type { Memory, Remembered } from './queries.ts';

const instant = z.iso.datetime({ offset: true });
/** Payload of `monitor.transition`, as far as flapping cares. */
const transitionSchema = z.object({ monitor_id: z.number().int(), from: z.string(), to: z.string(), at: instant });
const pausedSchema = z.object({ monitor_id: z.number().int(), at: instant });

/** Remembers the states that were told, and notices when they change too often. The outbox hands out one change of a monitor at a time. */
export const flappingConsumers: readonly OutboxConsumer<Context>[] = [
  {
    kind: 'monitor.transition',
    consume: (transaction, row) => onTransitions(transaction, [row]),
    consumeMany: onTransitions,
  },
  {
    kind: 'monitor.paused',
    consume: async (transaction, row) => {
      const { monitor_id: monitorId, at } = pausedSchema.parse(row.payload);
      await forgetMonitor(transaction, monitorId, Date.parse(at));
    },
  },
];

/** @throws when a payload is none */
async function onTransitions(transaction: Transaction, rows: readonly OutboxRow[]): Promise<void> {
  const changes = rows.flatMap(({ payload }) => {
    const { monitor_id: monitorId, from, to, at } = transitionSchema.parse(payload);
    const state = stateOf(to);
    return state === undefined ? [] : { monitorId, from: stateOf(from) ?? 'u', state, atMs: Date.parse(at) };
  });
  if (changes.length === 0) return;
  const known = await remember(transaction, new Map(changes.map(({ monitorId, atMs }) => [monitorId, atMs])));
  const memories = changes.flatMap((each) => remembering(known.get(each.monitorId), each) ?? []);
  await writeMemories(transaction, memories);
  const turned = memories.filter((each) => each.isFlapping !== known.get(each.monitorId)?.isFlapping);
  await enqueue(transaction, ...turned.map((each) => flappingNotice(each, each.isFlapping, each.sinceMs)));
}

/** What is remembered from now on; undefined: nothing that is worth it. */
function remembering(
  known: Remembered | undefined,
  { from, state, atMs }: { readonly from: State; readonly state: State; readonly atMs: number },
): Memory | undefined {
  if (known === undefined) return undefined;
  // Of one that is calm the state before is that which it leaves; what nothing is known of was up.
  const before = known.history ?? calm(from, atMs);
  const history = change(before, state, atMs, known.intervalMs);
  if (known.history === undefined && history.states === before.states) return undefined;
  const flaps = isFlapping(history, known.isFlapping);
  return { ...known, history, isFlapping: flaps, sinceMs: atMs, calmAtMs: calmAt(history, flaps, known.intervalMs) };
}

/** Nobody looks any more, or what was seen is void: what flapped ceases to. */
async function forgetMonitor(transaction: Transaction, monitorId: number, atMs: number): Promise<void> {
  const flapped = await forget(transaction, [monitorId]);
  await enqueue(transaction, ...flapped.map((monitor) => flappingNotice(monitor, false, atMs)));
}

/** Hook of the deletion of a monitor. */
export async function forgetFlappingOfDeleted(transaction: Transaction, monitorId: number): Promise<void> {
  await forget(transaction, [monitorId]);
}

/** Hook of the reset of a monitor's statistics. */
export function forgetFlappingOfReset(transaction: Transaction, monitorId: number, atMs: number): Promise<void> {
  return forgetMonitor(transaction, monitorId, atMs);
}
