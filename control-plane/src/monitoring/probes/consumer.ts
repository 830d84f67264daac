import type { Context } from '../../context.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';

/** Notices about probes, for the log of the installation. */
export const probeConsumers: readonly OutboxConsumer<Context>[] = [
  {
    kind: 'probe.offline',
    consume: async (_transaction, row, context) => context.log.warn({ notice: row.payload }, 'a probe is offline'),
  },
  {
    kind: 'probe.online',
    consume: async (_transaction, row, context) => context.log.info({ notice: row.payload }, 'a probe is online again'),
  },
  {
    kind: 'probe.quarantined',
    consume: async (_transaction, row, context) =>
      context.log.warn({ notice: row.payload }, 'a probe is in quarantine'),
  },
  {
    kind: 'probe.released',
    consume: async (_transaction, row, context) =>
      context.log.info({ notice: row.payload }, 'a probe is out of quarantine'),
  },
];
