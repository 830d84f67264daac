import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';

/** Something that is told by its identifier. */
export type MaintenanceName = { readonly id: number };

/** News of a maintenance, for webhooks and alerts: the outbox kinds are those of the events. `released` is for the product itself: subjects are not covered any more, so what was held of them is looked at. */
export function maintenanceNews(
  kind: 'maintenance.started' | 'maintenance.ended' | 'maintenance.cancelled' | 'maintenance.released',
  maintenance: { readonly id: number; readonly workspace_id: number; readonly name: string },
  occurrence: (MaintenanceName & { readonly startsMs: number; readonly endsMs: number }) | null,
  atMs: number,
): OutboxEntry {
  return {
    key: `maintenance:${maintenance.id}`,
    kind,
    payload: {
      maintenance_id: maintenance.id,
      workspace_id: maintenance.workspace_id,
      name: maintenance.name,
      at: new Date(atMs).toISOString(),
      occurrence:
        occurrence === null
          ? null
          : {
              id: occurrence.id,
              starts_at: new Date(occurrence.startsMs).toISOString(),
              ends_at: new Date(occurrence.endsMs).toISOString(),
            },
    },
  };
}
