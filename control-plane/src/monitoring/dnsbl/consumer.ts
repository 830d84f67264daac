import { listingStates } from '@parallax/api-contract';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { changesOf } from './agree.ts';
import { changeRuns, endRuns, latestRuns, noteView, viewsOf, watched } from './queries.ts';
import type { Watched } from './queries.ts';

const at = z.iso.datetime({ offset: true });
const seenSchema = z.object({
  monitor_id: z.number().int(),
  probe_id: z.number().int(),
  probe_revision: z.number().int(),
  at,
  listings: z.record(z.string(), z.enum(listingStates)),
});
const changedSchema = z.object({ monitor_id: z.number().int(), at });

/** Puts together what probes hear from blocklists. The outbox hands out one monitor's news in order, one at a time. */
export const dnsblConsumers: readonly OutboxConsumer<Context>[] = [
  { kind: 'dnsbl.seen', consume: (transaction, row) => onSeen(transaction, row.payload) },
  {
    kind: 'monitor.paused',
    consume: async (transaction, row) => {
      const paused = changedSchema.parse(row.payload);
      await endRuns(transaction, paused.monitor_id, Date.parse(paused.at));
    },
  },
  {
    // A probe that did not come to hear of a short pause has nothing new to tell: what it said stands.
    kind: 'monitor.resumed',
    consume: async (transaction, row) => {
      const { monitor_id: monitorId, at: resumedAt } = changedSchema.parse(row.payload);
      const atMs = Date.parse(resumedAt);
      const monitor = await watched(transaction, monitorId, atMs);
      if (monitor !== undefined) await follow(transaction, monitorId, monitor, atMs);
    },
  },
];

/** @throws when the payload is none */
async function onSeen(transaction: Transaction, payload: unknown): Promise<void> {
  const {
    monitor_id: monitorId,
    probe_id: probeId,
    probe_revision: probeRevision,
    ...seen
  } = seenSchema.parse(payload);
  const atMs = Date.parse(seen.at);
  const monitor = await watched(transaction, monitorId, atMs);
  if (monitor?.probeRevision !== probeRevision) return;
  if (!(await noteView(transaction, { monitorId, probeId, probeRevision, atMs, listings: seen.listings }))) return;
  await follow(transaction, monitorId, monitor, atMs);
}

/** Changes the runs to what the probes say together, and tells what is new of it. */
async function follow(transaction: Transaction, monitorId: number, monitor: Watched, atMs: number): Promise<void> {
  const views = await viewsOf(transaction, monitorId, monitor.probeRevision);
  const providers = [...new Set(views.flatMap((view) => Object.keys(view.listings)))];
  const changes = changesOf(views, await latestRuns(transaction, monitorId, providers));
  await changeRuns(transaction, monitorId, changes, atMs);
  const at = new Date(atMs).toISOString();
  const news = changes.flatMap(({ provider, news: kind }) => {
    const payload = { workspace_id: monitor.workspaceId, monitor_id: monitorId, provider, at };
    return kind === undefined ? [] : [{ key: `monitor:${monitorId}`, kind, payload }];
  });
  await enqueue(transaction, ...news);
}
