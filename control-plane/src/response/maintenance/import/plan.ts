import type { ImportedMaintenanceEvent } from '@parallax/api-contract';
import type { ReadEvent } from '../calendar/event.ts';
import type { Occurrence } from '../recurrence/occurrences.ts';
import type { StoredSchedule } from '../schedule.ts';

/** What becomes of an event. */
export type PlannedEvent = { readonly read: ReadEvent } & (
  | {
      readonly kind: 'create';
      readonly maintenance: {
        readonly name: string;
        readonly description: string;
        readonly stored: StoredSchedule;
        readonly next: Occurrence;
      };
    }
  | {
      readonly kind: 'skipped' | 'failed';
      readonly code: string;
      readonly reason: string;
      readonly maintenanceId: number | null;
    }
);

/**
 * Decides what becomes of the events of a file.
 * @param existing maintenance by UID, as before the file
 * @param room how many more the workspace may have
 */
export function planImport(
  events: readonly ReadEvent[],
  existing: ReadonlyMap<string, number>,
  room: number,
): PlannedEvent[] {
  const seen = new Set<string>();
  let left = room;
  return events.map((read): PlannedEvent => {
    if (read.kind !== 'planned')
      return { read, kind: read.kind, code: read.code, reason: read.reason, maintenanceId: null };
    const { uid, planned, title, description } = read;
    const known = uid === null ? undefined : existing.get(uid);
    if (known !== undefined) {
      const reason = 'a maintenance with its UID is there already';
      return { read, kind: 'skipped', code: 'known_uid', reason, maintenanceId: known };
    }
    if (uid !== null && seen.has(uid)) {
      const reason = 'an event before it in the file has the same UID';
      return { read, kind: 'skipped', code: 'doubled_uid', reason, maintenanceId: null };
    }
    if (left <= 0) {
      const reason = 'the workspace has as many maintenance windows as it may have; cancel or delete some';
      return { read, kind: 'failed', code: 'too_many', reason, maintenanceId: null };
    }
    if (planned.next === undefined) {
      const reason = 'nothing of it is still to come';
      return { read, kind: 'skipped', code: 'in_the_past', reason, maintenanceId: null };
    }
    if (uid !== null) seen.add(uid);
    left -= 1;
    return {
      read,
      kind: 'create',
      maintenance: { name: title, description, stored: planned.stored, next: planned.next },
    };
  });
}

/**
 * The report of an event.
 * @param index its place in the file, from 0
 * @param id of what was created; null when nothing was, or has not been yet
 */
export function reportOf(event: PlannedEvent, index: number, id: number | null): ImportedMaintenanceEvent {
  const { uid, warnings } = event.read;
  const common = { event: index + 1, uid, warnings: [...warnings] };
  if (event.kind === 'create')
    return { ...common, name: event.maintenance.name, status: 'created', maintenance_id: id };
  const { kind: status, code, reason, maintenanceId } = event;
  return { ...common, name: event.read.name, status, maintenance_id: maintenanceId, code, reason };
}
