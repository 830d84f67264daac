import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { alertsSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { OutboxConsumer, OutboxRow } from '../../../platform/outbox/consumer.ts';
import { beginning, incidentChange, incidentKinds, occasionTitle, statusEvent, statusEvents } from './change.ts';
import type { OccasionChange } from './change.ts';
import { onDelisted, onExpiring, onListed } from './notices/consumer.ts';
import { onProbe, onProbeEnd } from './probes/consumer.ts';
import { endOccasions, lookAtHeld, monitorsOf, writeChanges } from './queries.ts';
import { forgetReset } from '../hooks/reset.queries.ts';
import type { Ending } from './queries.ts';
import { instant, monitorSubject, ofMonitor, ofWorkspace } from './work.ts';
import type { Work } from './work.ts';

const transition = ofMonitor.extend({ to: z.string(), at: instant });

const clearing = ofWorkspace.extend({
  maintenance_id: z.number().int(),
  name: z.string(),
  incident_count: z.number(),
  incidents: z.array(z.object({ incident_id: z.number(), title: z.string() })),
});

/** Notes what there is to tell. Who is told is decided after the commit, by the planner. */
export const occasionConsumers: readonly OutboxConsumer<Context>[] = [
  ...incidentKinds.map((kind) =>
    consumer(kind, async (transaction, rows, nowMs) => {
      const changes = rows.map((row) => incidentChange(kind, row.payload, nowMs));
      await writeChanges(transaction, changes, nowMs);
      if (kind === 'incident.deleted') await forgetReset(transaction, changes);
    }),
  ),
  consumer('monitor.transition', onTransitions),
  consumer('monitor.paused', onPaused),
  consumer('monitor.flapping', onFlapping),
  consumer('certificate.expiring', onExpiring('certificate')),
  consumer('domain.expiring', onExpiring('domain')),
  consumer('dnsbl.listed', onListed),
  consumer('dnsbl.delisted', onDelisted),
  consumer('probe.offline', onProbe('offline')),
  consumer('probe.quarantined', onProbe('quarantined')),
  consumer('probe.online', onProbeEnd('offline')),
  consumer('probe.released', onProbeEnd('quarantined')),
  consumer('maintenance.all_clear', onAllClear),
  consumer('maintenance.released', async (transaction, rows, nowMs) => {
    const workspaceIds = rows.map(({ payload }) => ofWorkspace.parse(payload).workspace_id);
    await lookAtHeld(transaction, workspaceIds, 'maintenance', nowMs);
  }),
];

function consumer(kind: string, work: Work): OutboxConsumer<Context> {
  const consumeMany = async (transaction: Transaction, rows: readonly OutboxRow[], context: Context): Promise<void> => {
    await work(transaction, rows, context.now());
    // It comes before the commit, so whoever hears it looks a little later.
    context.bus.hint(alertsSubject, {});
  };
  return { kind, consume: (transaction, row, context) => consumeMany(transaction, [row], context), consumeMany };
}

/** Statuses that are no incident are an occasion of their own, from one change to the next. */
async function onTransitions(transaction: Transaction, rows: readonly OutboxRow[], nowMs: number): Promise<void> {
  const told = rows.map((row) => transition.parse(row.payload));
  const monitors = await monitorsOf(
    transaction,
    told.map(({ monitor_id: id }) => id),
  );
  const endings: Ending[] = [];
  const begun: OccasionChange[] = [];
  for (const { monitor_id: id, to, at } of told) {
    const monitor = monitors.get(id);
    if (monitor === undefined) continue;
    // That nothing is known right after a reset of the statistics is what whoever reset them wanted.
    const isOfReset = to === 'UNKNOWN' && monitor.reset_at !== null && at <= monitor.reset_at;
    const status = statusEvent(to);
    const others = statusEvents.filter((event) => event !== status?.event && monitor.open_events.includes(event));
    if (others.length > 0) {
      endings.push({ subject: monitorSubject(id), events: others, atMs: at, resolution: 'auto' });
    }
    // An outage stays one while some see it, or nobody can say.
    const isPartOfOutage = status?.isBelowOutage === true && monitor.has_incident;
    if (status === null || isPartOfOutage || isOfReset || !monitor.is_watched) continue;
    if (monitor.open_events.includes(status.event)) continue;
    begun.push(
      beginning({
        workspaceId: monitor.workspace_id,
        key: `${to.toLowerCase()}:${id}:${new Date(at).toISOString()}`,
        event: status.event,
        subject: monitorSubject(id),
        title: occasionTitle(monitor.name, status.says),
        facts: { name: monitor.name, status: to },
        severity: status.severity,
        startedMs: at,
      }),
    );
  }
  await endOccasions(transaction, endings, nowMs);
  await writeChanges(transaction, begun, nowMs);
}

/** Nobody looks any more. */
async function onPaused(transaction: Transaction, rows: readonly OutboxRow[], nowMs: number): Promise<void> {
  const endings = rows.map(({ payload }): Ending => {
    const { monitor_id: id, at } = ofMonitor.extend({ at: instant }).parse(payload);
    return { subject: monitorSubject(id), atMs: at, resolution: 'paused' };
  });
  await endOccasions(transaction, endings, nowMs);
}

async function onFlapping(transaction: Transaction, rows: readonly OutboxRow[], nowMs: number): Promise<void> {
  const told = rows.map((row) => ofMonitor.extend({ is_flapping: z.boolean(), at: instant }).parse(row.payload));
  const monitors = await monitorsOf(
    transaction,
    told.map(({ monitor_id: id }) => id),
  );
  const calm = told.filter((one) => !one.is_flapping);
  await endOccasions(
    transaction,
    calm.map(
      ({ monitor_id: id, at }): Ending => ({
        subject: monitorSubject(id),
        events: ['monitor.flapping'],
        atMs: at,
        resolution: 'auto',
      }),
    ),
    nowMs,
  );
  await writeChanges(
    transaction,
    told.flatMap(({ monitor_id: id, is_flapping: flaps, at }) => {
      const monitor = monitors.get(id);
      if (!flaps || monitor === undefined || monitor.open_events.includes('monitor.flapping')) return [];
      return beginning({
        workspaceId: monitor.workspace_id,
        key: `flapping:${id}:${new Date(at).toISOString()}`,
        event: 'monitor.flapping',
        subject: monitorSubject(id),
        title: occasionTitle(monitor.name, 'is flapping'),
        facts: { name: monitor.name },
        severity: 'major',
        startedMs: at,
      });
    }),
    nowMs,
  );
  const workspaceIds = calm.flatMap(({ monitor_id: id }) => monitors.get(id)?.workspace_id ?? []);
  if (workspaceIds.length > 0) await lookAtHeld(transaction, workspaceIds, 'flapping', nowMs);
}

async function onAllClear(transaction: Transaction, rows: readonly OutboxRow[], nowMs: number): Promise<void> {
  const begun = rows.map((row) => {
    const told = clearing.parse(row.payload);
    return beginning({
      workspaceId: told.workspace_id,
      key: `all_clear:${told.maintenance_id}:${row.id}`,
      event: 'maintenance.all_clear',
      subject: { type: 'maintenance', id: told.maintenance_id },
      title: occasionTitle(told.name, 'is over, and all is well'),
      facts: { name: told.name, incident_count: told.incident_count, incidents: told.incidents },
      severity: 'minor',
      startedMs: row.createdAtMs,
      isLasting: false,
    });
  });
  await writeChanges(transaction, begun, nowMs);
}
