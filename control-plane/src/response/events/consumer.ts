import type { Context } from '../../context.ts';
import { eventInboxSubject } from '../../platform/bus/subjects.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer, OutboxRow } from '../../platform/outbox/consumer.ts';

/** Kinds of the outbox that events are made of. */
export const sourceKinds = [
  'monitor.transition',
  'monitor.revised',
  'monitor.flapping',
  'monitor.paused',
  'monitor.resumed',
  'monitor.reset',
  'monitor.moved',
  'monitor.deleted',
  'incident.opened',
  'incident.updated',
  'incident.acknowledged',
  'incident.resolved',
  'incident.recovered',
  'incident.deleted',
  'heartbeat.missed',
  'heartbeat.failed',
  'heartbeat.recovered',
  'heartbeat.paused',
  'heartbeat.resumed',
  'heartbeat.deleted',
  'webhook_check.missed',
  'webhook_check.failed',
  'webhook_check.recovered',
  'webhook_check.paused',
  'webhook_check.resumed',
  'webhook_check.deleted',
  'maintenance.started',
  'maintenance.ended',
  'maintenance.cancelled',
  'maintenance.all_clear',
  'certificate.expiring',
  'domain.expiring',
  'dnsbl.listed',
  'dnsbl.delisted',
  'probe.offline',
  'probe.online',
  'probe.quarantined',
  'probe.released',
] as const;

/** Copies state changes, reading nothing of them: what consumers do together is undone together. */
export const eventConsumers: readonly OutboxConsumer<Context>[] = sourceKinds.map((kind) => ({
  kind,
  consume: (transaction, row, context) => keep(transaction, [row], context),
  consumeMany: (transaction, rows, context) => keep(transaction, rows, context),
}));

async function keep(
  transaction: Transaction,
  rows: readonly OutboxRow[],
  { bus }: Pick<Context, 'bus'>,
): Promise<void> {
  const values = rows.map(({ key, kind, payload, createdAtMs }) => [
    key,
    kind,
    JSON.stringify(payload),
    new Date(createdAtMs).toISOString(),
  ]);
  await transaction.query(sql.unsafe`
    insert into event_inbox (key, kind, payload, at)
    select g.key, g.kind, g.payload::jsonb, g.at
    from ${sql.unnest(values, ['text', 'text', 'text', 'timestamptz'])} with ordinality as g (key, kind, payload, at, position)
    order by g.position`);
  bus.hint(eventInboxSubject, {});
}
