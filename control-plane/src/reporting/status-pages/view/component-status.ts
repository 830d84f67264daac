import type { ComponentStatus } from './page-view.ts';

/** What subjects are said to be, in one set of words: those of heartbeats and webhook checks in capitals. */
export const subjectStatuses = [
  'UP',
  'WARNING',
  'LATE',
  'DEGRADED',
  'PARTIAL',
  'DOWN',
  'TIMEOUT',
  'UNKNOWN',
  'NEW',
  'PAUSED',
] as const;
export type SubjectStatus = (typeof subjectStatuses)[number];

/** A status, and since when it holds; null: nobody knows. */
type Since<Status> = { readonly status: Status; readonly sinceMs: number | null };

/** A word of the page. */
export type Word = Since<ComponentStatus>;

/** What is known of a subject now. */
export type SubjectState = Since<SubjectStatus> & {
  /** Null: no maintenance covers it. */
  readonly maintenanceSinceMs: number | null;
  /** When the outage began that lasts, whatever its status has been since; null: none lasts. */
  readonly failingSinceMs: number | null;
  /** Its last known status; null: none was ever known. */
  readonly last: Since<SubjectStatus> | null;
  /** The last one that was no outage. */
  readonly calm: Since<SubjectStatus> | null;
};

/** The words of statuses; null: they say nothing of the subject. */
const wordOfStatus: Readonly<Record<SubjectStatus, ComponentStatus | null>> = {
  UP: 'operational',
  WARNING: 'operational',
  LATE: 'operational',
  DEGRADED: 'degraded',
  PARTIAL: 'partial_outage',
  DOWN: 'major_outage',
  TIMEOUT: 'major_outage',
  UNKNOWN: null,
  NEW: null,
  PAUSED: null,
};

const unknown: Word = { status: 'unknown', sinceMs: null };

/**
 * The word of a subject. Maintenance beats all; what is unknown or paused keeps its last known word.
 * @param delayMs how long an outage lasts before the page says so
 */
export function wordOf(state: SubjectState, { nowMs, delayMs }: { nowMs: number; delayMs: number }): Word {
  if (state.maintenanceSinceMs !== null) return { status: 'maintenance', sinceMs: state.maintenanceSinceMs };
  const word = toWord(state) ?? toWord(state.last) ?? unknown;
  if (word.status !== 'major_outage') return word;
  const sinceMs = earliest([state.failingSinceMs, word.sinceMs]);
  if (sinceMs === null || nowMs - sinceMs >= delayMs) return { status: 'major_outage', sinceMs };
  return toWord(state.calm) ?? unknown;
}

function toWord(known: Since<SubjectStatus> | null): Word | null {
  const status = known === null ? null : wordOfStatus[known.status];
  return known === null || status === null ? null : { status, sinceMs: known.sinceMs };
}

/** How bad a word is; what is unknown is worse than nothing. */
const badness: Readonly<Record<ComponentStatus, number>> = {
  unknown: 0,
  operational: 1,
  maintenance: 2,
  degraded: 3,
  partial_outage: 4,
  major_outage: 5,
};

/**
 * The word of several together: all that are measured down, some down, else the worst. What is unknown has no say, and of what is under
 * maintenance nobody measures whether it is down.
 */
export function worstOf(statuses: readonly ComponentStatus[]): ComponentStatus {
  const known = statuses.filter((status) => status !== 'unknown');
  const measured = known.filter((status) => status !== 'maintenance');
  const down = measured.filter((status) => status === 'major_outage').length;
  if (down > 0) return down === measured.length ? 'major_outage' : 'partial_outage';
  return known.reduce<ComponentStatus>((worst, one) => (badness[one] > badness[worst] ? one : worst), 'unknown');
}

/** The word of a group by those of its members. */
export function wordOfGroup(members: readonly Word[]): Word {
  const status = worstOf(members.map((member) => member.status));
  if (status === 'unknown') return unknown;
  // Some are in a worse state as soon as the first is; all are in one when the last is.
  if (status === 'partial_outage' || status === 'degraded' || status === 'maintenance') {
    const bad = members.filter((member) => badness[member.status] >= badness[status]);
    return { status, sinceMs: bad.some(({ sinceMs }) => sinceMs === null) ? null : earliest(sinceOf(bad)) };
  }
  const known = members.filter((member) => member.status !== 'unknown' && member.status !== 'maintenance');
  return { status, sinceMs: known.some(({ sinceMs }) => sinceMs === null) ? null : latest(sinceOf(known)) };
}

/** A word that people have named, and when. */
export type NamedWord = { readonly componentId: string; readonly status: ComponentStatus; readonly atMs: number };

/** The word of a component after what people say of it: worse than measured, never better. Maintenance beats all. */
export function raised(word: Word, named: readonly NamedWord[]): Word {
  if (word.status === 'maintenance') return word;
  return named.reduce<Word>((worst, one) => {
    if (one.status === 'unknown' || one.status === 'maintenance' || one.status === 'operational') return worst;
    return badness[one.status] > badness[worst.status] ? { status: one.status, sinceMs: one.atMs } : worst;
  }, word);
}

type Told = {
  readonly resolvedMs: number | null;
  /** The oldest first. */
  readonly updates: readonly {
    readonly atMs: number;
    readonly impacts: readonly { readonly componentId: string; readonly status: ComponentStatus }[];
  }[];
};

/** The words that people name while their incidents last: of each incident the latest one for each component. */
export function namedWords(incidents: readonly Told[]): ReadonlyMap<string, readonly NamedWord[]> {
  const named: NamedWord[] = [];
  for (const { resolvedMs, updates } of incidents) {
    if (resolvedMs !== null) continue;
    const latestWords = new Map<string, NamedWord>();
    for (const { atMs, impacts } of updates)
      for (const { componentId, status } of impacts) latestWords.set(componentId, { componentId, status, atMs });
    named.push(...latestWords.values());
  }
  return Map.groupBy(named, ({ componentId }) => componentId);
}

const sinceOf = (words: readonly Word[]) => words.map(({ sinceMs }) => sinceMs);

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((ms) => ms !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function latest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((ms) => ms !== null);
  return known.length === 0 ? null : Math.max(...known);
}
