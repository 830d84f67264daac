import type { Happenings } from '../../view/happenings.gateway.ts';
import { publicIdOf } from '../../view/public-id.ts';
import { maintenanceReachMs } from '../../view/public-maintenance.ts';
import type { StoredOccurrence } from '../../view/public-maintenance.ts';
import type { MaintenanceFacts, News } from './news-facts.ts';

/** What subscribers were told last of a maintenance, and how it stands now. */
export type ToldMaintenance = {
  /** The number of the news that was told last. */
  readonly newsId: string;
  readonly subject: string;
  readonly facts: MaintenanceFacts;
  readonly componentIds: readonly string[];
  /** It was cancelled or deleted. */
  readonly isGone: boolean;
  readonly isPublic: boolean;
  readonly isQuiet: boolean;
  readonly isRecurring: boolean;
  readonly changedMs: number;
  /** Its next occurrence, also where the page does not look so far ahead. */
  readonly next: { readonly startsMs: number; readonly endsMs: number } | null;
};

const plannedEvents: ReadonlySet<string> = new Set(['scheduled', 'moved', 'reminder']);

/**
 * Adds that a maintenance was moved or cancelled since subscribers were told of it, and leaves out that the new time is planned. The key names the
 * news before it, so that each change is told once, also one that brings an earlier time back.
 */
export function withChangedPlans(
  planned: readonly News[],
  happenings: Happenings,
  told: readonly ToldMaintenance[],
  nowMs: number,
): News[] {
  const changes = told.flatMap((one) => changeOf(one, happenings, nowMs));
  // Who was told of one time is told of another as a move.
  const known = new Set(told.flatMap(({ subject, facts }) => (plannedEvents.has(facts.event) ? [subject] : [])));
  const isKnown = ({ subject, facts }: News): boolean =>
    facts.type === 'maintenance' && facts.event === 'scheduled' && known.has(subject);
  return [...planned.filter((news) => !isKnown(news)), ...changes];
}

function changeOf(told: ToldMaintenance, happenings: Happenings, nowMs: number): News[] {
  const { subject, facts, newsId, componentIds, changedMs } = told;
  if (!told.isPublic || told.isQuiet) return [];
  const isPlanned = plannedEvents.has(facts.event);
  if (told.isGone) {
    if (!isPlanned && facts.event !== 'in_progress') return [];
    const { before: _before, ...rest } = facts;
    const cancelled = { ...rest, event: 'cancelled', text: null } as const;
    return [{ subject, key: `cancelled ${newsId}`, componentIds, knownMs: changedMs, facts: cancelled }];
  }
  const moved = isPlanned ? movedTo(told, happenings, nowMs) : undefined;
  if (moved === undefined) return [];
  const ids = [...new Set([...componentIds, ...moved.componentIds])];
  return [
    {
      subject,
      key: `moved ${newsId}`,
      componentIds: ids,
      knownMs: changedMs,
      facts: {
        ...facts,
        id: publicIdOf(subject.slice('maintenance '.length), moved.startsMs),
        event: 'moved',
        title: moved.title,
        text: moved.text,
        component_names: ids.flatMap((id) => happenings.names.get(id) ?? []),
        starts_ms: moved.startsMs,
        ends_ms: moved.endsMs,
        before: { starts_ms: facts.starts_ms, ends_ms: facts.ends_ms },
      },
    },
  ];
}

type Moved = {
  readonly startsMs: number;
  readonly endsMs: number;
  readonly componentIds: readonly string[];
  readonly title: string | null;
  readonly text: string | null;
};

/** The time to which it was moved; undefined: it was not. */
function movedTo(
  { subject, facts, componentIds, isRecurring, next }: ToldMaintenance,
  { occurrences }: Happenings,
  nowMs: number,
): Moved | undefined {
  const own = occurrences.filter(({ publicId, isPublic }) => isPublic && subject === `maintenance ${publicId}`);
  const isTold = ({ startsMs, endsMs, hasStarted }: StoredOccurrence): boolean =>
    startsMs === facts.starts_ms && (hasStarted || endsMs === facts.ends_ms);
  if (own.some(isTold)) return undefined;
  // The next occurrence of a series does not replace the one that has begun.
  if (isRecurring && facts.starts_ms <= nowMs) return undefined;
  const [first] = own
    .filter(({ hasStarted, startsMs }) => !hasStarted && startsMs > nowMs)
    .toSorted((one, other) => one.startsMs - other.startsMs);
  if (first !== undefined) {
    const { startsMs, endsMs, publicTitle: title, publicText: text } = first;
    return { startsMs, endsMs, componentIds: first.componentIds, title, text };
  }
  if (next === null || next.startsMs <= nowMs + maintenanceReachMs) return undefined;
  return { ...next, componentIds, title: facts.title, text: facts.text };
}
