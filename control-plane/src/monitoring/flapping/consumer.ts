import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { calm, calmAt, change, isFlapping, stateOf } from './history.ts';
import { flappingNotice } from './notice.ts';
import { forget, remember, writeMemories } from './queries.ts';

const instant = z.iso.datetime({ offset: true });
/** Payload of `monitor.transition`, as far as flapping cares. */
const transitionSchema = z.object({ monitor_id: z.number().int(), from: z.string(), to: z.string(), at: instant });
const pausedSchema = z.object({ monitor_id: z.number().int(), at: instant });

/** Remembers the states that were told, and notices when they change too often. The outbox hands out one change of a monitor at a time. */
export const flappingConsumers: readonly OutboxConsumer<Context>[] = [
  { kind: 'monitor.transition', consume: (transaction, row) => onTransition(transaction, row.payload) },
  {
    kind: 'monitor.paused',
    consume: async (transaction, row) => {
      const { monitor_id: monitorId, at } = pausedSchema.parse(row.payload);
      await forgetMonitor(transaction, monitorId, Date.parse(at));
    },
  },
];

/** @throws when the payload is none */
async function onTransition(transaction: Transaction, payload: unknown): Promise<void> {
  const { monitor_id: monitorId, from, to, at } = transitionSchema.parse(payload);
  const state = stateOf(to);
  if (state === undefined) return;
  const atMs = Date.parse(at);
  const known = await remember(transaction, monitorId, atMs);
  if (known === undefined) return;
  // Of one that is calm the state before is that which it leaves; what nothing is known of was up.
  const before = known.history ?? calm(stateOf(from) ?? 'u', atMs);
  const history = change(before, state, atMs, known.intervalMs);
  if (known.history === undefined && history.states === before.states) return;
  const flaps = isFlapping(history, known.isFlapping);
  const calmAtMs = calmAt(history, flaps, known.intervalMs);
  await writeMemories(transaction, [{ ...known, history, isFlapping: flaps, calmAtMs }], atMs);
  if (flaps !== known.isFlapping) await enqueue(transaction, flappingNotice(known, flaps, atMs));
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
