import type { MaintenanceView } from './page-view.ts';
import { publicIdOf } from './public-id.ts';

/** An occurrence of a maintenance as it is stored or planned. Milliseconds since the epoch. */
export type StoredOccurrence = {
  /** The public name of the maintenance. */
  readonly publicId: string;
  readonly isPublic: boolean;
  readonly publicTitle: string | null;
  readonly publicText: string | null;
  readonly startsMs: number;
  /** The planned end. */
  readonly endsMs: number;
  /** When it was over; null: it is not. */
  readonly endedMs: number | null;
  readonly hasStarted: boolean;
  /** When the maintenance was changed. */
  readonly changedMs: number;
  /** Components of the page that it covers, in the order of the page. */
  readonly componentIds: readonly string[];
  /** It comes again. */
  readonly isRecurring?: boolean;
  /** How long before it starts subscribers are told; null or absent: they are not. */
  readonly remindMs?: number | null;
  /** It was broken off, or never is: nobody says that it is completed. */
  readonly isCancelled?: boolean;
  /** Subscribers are not told of it. */
  readonly isQuiet?: boolean;
};

const dayMs = 86_400_000;
/** How far a page looks ahead and back. */
export const maintenanceReachMs = 30 * dayMs;
export const mostMaintenance = 50;

/**
 * What a page tells of maintenance: under way, then upcoming, the earliest first; then what is over, the newest first. Of one that is not public the
 * word alone is told, and that only while it lasts.
 */
export function publicMaintenance(
  stored: readonly StoredOccurrence[],
  { nowMs, names }: { readonly nowMs: number; readonly names: ReadonlyMap<string, string> },
): MaintenanceView[] {
  const views = stored
    .filter(
      (one) => one.componentIds.length > 0 && isNear(one, nowMs) && (one.isPublic || statusOf(one) === 'in_progress'),
    )
    .map((one) => maintenanceView(one, names));
  return views
    .toSorted((one, other) => {
      const [place, otherPlace] = [places[one.status], places[other.status]];
      if (place !== otherPlace) return place - otherPlace;
      const later = one.startsMs - other.startsMs || one.endsMs - other.endsMs;
      return (one.status === 'completed' ? -later : later) || (one.id < other.id ? -1 : 1);
    })
    .slice(0, mostMaintenance);
}

const places = { in_progress: 0, scheduled: 1, completed: 2 } as const satisfies Record<
  MaintenanceView['status'],
  number
>;

function isNear({ startsMs, endedMs, hasStarted }: StoredOccurrence, nowMs: number): boolean {
  if (endedMs !== null) return endedMs > nowMs - maintenanceReachMs;
  return hasStarted || startsMs <= nowMs + maintenanceReachMs;
}

function statusOf({ endedMs, hasStarted }: StoredOccurrence): MaintenanceView['status'] {
  if (endedMs !== null) return 'completed';
  return hasStarted ? 'in_progress' : 'scheduled';
}

function maintenanceView(one: StoredOccurrence, names: ReadonlyMap<string, string>): MaintenanceView {
  const status = statusOf(one);
  const componentIds = one.isPublic ? one.componentIds : [];
  return {
    id: publicIdOf(one.publicId, one.startsMs),
    title: one.isPublic ? one.publicTitle : null,
    text: one.isPublic ? one.publicText : null,
    status,
    startsMs: one.startsMs,
    endsMs: one.endedMs ?? one.endsMs,
    updatedMs: one.endedMs ?? Math.max(one.changedMs, status === 'in_progress' ? one.startsMs : 0),
    componentIds,
    componentNames: componentIds.map((id) => names.get(id) ?? ''),
  };
}
