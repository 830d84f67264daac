import type { ComponentStatus, IncidentView, UpdateView } from './page-view.ts';
import { publicIdOf } from './public-id.ts';

/** What is stored of an incident, as far as its being public depends on it. Milliseconds since the epoch. */
export type StoredIncident = {
  readonly publicId: string;
  readonly visibility: 'auto' | 'public' | 'hidden';
  readonly publicTitle: string | null;
  readonly severity: 'minor' | 'major' | 'critical';
  readonly resolution: 'auto' | 'manual' | 'paused' | 'corrected' | 'deleted' | 'folded' | null;
  readonly isManual: boolean;
  readonly isHeld: boolean;
  readonly isFolded: boolean;
  readonly isDetectedLate: boolean;
  readonly startedMs: number;
  readonly resolvedMs: number | null;
  readonly createdMs: number;
  /** Null unless it may be shown. */
  readonly postmortem: string | null;
  /** Since when it may be shown, where subscribers are told of it. */
  readonly postmortemNewsMs?: number | null;
  /** Whether it has members at all, on the page or not. */
  readonly hasMembers: boolean;
  /** Components of the page that its members belong to, in the order of the page. */
  readonly componentIds: readonly string[];
  /** The public ones, in the order in which they were written. */
  readonly updates: readonly StoredUpdate[];
};

export type StoredUpdate = {
  readonly kind: 'investigating' | 'identified' | 'monitoring' | 'resolved' | 'note';
  readonly body: string;
  readonly createdMs: number;
  readonly displayMs: number | null;
  readonly impacts: readonly { readonly componentId: string; readonly status: ComponentStatus }[];
  /** Subscribers are not told of it. */
  readonly isQuiet?: boolean;
};

/** What the page decides about incidents. */
export type IncidentRules = {
  readonly nowMs: number;
  readonly automaticIncidents: boolean;
  readonly delayMs: number;
  /** Components of the page with the names that it shows, in its order. */
  readonly names: ReadonlyMap<string, string>;
};

/** Incidents of a page. */
export const mostIncidents = 50;

/** Whether a page tells an incident. */
export function isTold(incident: StoredIncident, rules: IncidentRules): boolean {
  return (
    incident.visibility !== 'hidden' && !incident.isFolded && isOfPage(incident, rules) && isPublic(incident, rules)
  );
}

/** One by hand that names nothing is of every page of its workspace. */
function isOfPage({ componentIds, updates, isManual, hasMembers }: StoredIncident, { names }: IncidentRules): boolean {
  const impacts = updates.flatMap((update) => update.impacts);
  if (componentIds.length > 0 || impacts.some(({ componentId }) => names.has(componentId))) return true;
  return isManual && !hasMembers && impacts.length === 0;
}

function isPublic(incident: StoredIncident, { nowMs, automaticIncidents, delayMs }: IncidentRules): boolean {
  if (incident.visibility === 'public' || incident.updates.length > 0) return true;
  if (incident.isManual || !automaticIncidents) return false;
  if (incident.isHeld || incident.isDetectedLate || incident.resolution === 'corrected') return false;
  return (incident.resolvedMs ?? nowMs) - incident.startedMs >= delayMs;
}

/** The incidents that a page tells: those that last, then the newest, as many as it shows; the newest first. */
export function publicIncidents(stored: readonly StoredIncident[], rules: IncidentRules): IncidentView[] {
  const newestFirst = (one: StoredIncident, other: StoredIncident): number =>
    other.startedMs - one.startedMs || (one.publicId < other.publicId ? -1 : 1);
  const told = stored.filter((incident) => isTold(incident, rules)).toSorted(newestFirst);
  const lasting = told.filter(({ resolvedMs }) => resolvedMs === null);
  const over = told.filter(({ resolvedMs }) => resolvedMs !== null);
  return [...lasting, ...over.slice(0, Math.max(0, mostIncidents - lasting.length))]
    .toSorted(newestFirst)
    .map((incident) => incidentView(incident, rules));
}

/** An incident as a page tells it. */
export function incidentView(incident: StoredIncident, { names }: IncidentRules): IncidentView {
  const { publicId: id, resolvedMs, postmortem } = incident;
  const updates = updatesOf(incident, names);
  const concerned = new Set([
    ...incident.componentIds,
    ...updates.flatMap(({ impacts }) => impacts.map(({ componentId }) => componentId)),
  ]);
  const componentIds = [...names.keys()].filter((componentId) => concerned.has(componentId));
  const shownMs = updates.map(({ displayMs }) => displayMs);
  const createdMs = Math.min(incident.createdMs, ...shownMs);
  return {
    id,
    title: incident.publicTitle,
    status: statusOf(incident),
    impact: incident.severity,
    isAutomatic: !incident.isManual,
    startedMs: incident.startedMs,
    resolvedMs,
    createdMs,
    updatedMs: Math.max(createdMs, resolvedMs ?? createdMs, ...shownMs),
    componentIds,
    componentNames: componentIds.map((componentId) => names.get(componentId) ?? ''),
    updates,
    postmortem: resolvedMs === null ? null : postmortem,
    ...(resolvedMs === null || postmortem === null || incident.postmortemNewsMs == null
      ? {}
      : { postmortemNewsMs: Math.max(incident.postmortemNewsMs, resolvedMs) }),
  };
}

function statusOf({ resolvedMs, postmortem, updates }: StoredIncident): IncidentView['status'] {
  if (resolvedMs !== null) return postmortem === null ? 'resolved' : 'postmortem';
  const said = updates.findLast(({ kind }) => kind !== 'note')?.kind;
  return said === 'identified' || said === 'monitoring' ? said : 'investigating';
}

/** What was said of it, the newest first. The onset and the end of automatic incidents have no words of people. */
function updatesOf(incident: StoredIncident, names: ReadonlyMap<string, string>): UpdateView[] {
  const { publicId, startedMs, resolvedMs, createdMs, isManual } = incident;
  const seen = new Map<number, number>();
  const written = incident.updates.map((update): UpdateView => {
    const twin = seen.get(update.createdMs) ?? 0;
    seen.set(update.createdMs, twin + 1);
    return {
      id: publicIdOf(publicId, update.createdMs, twin),
      status: update.kind,
      body: update.body,
      createdMs: Math.floor(update.createdMs),
      displayMs: Math.floor(update.displayMs ?? update.createdMs),
      impacts: update.impacts.filter(({ componentId }) => names.has(componentId)),
      ...(update.isQuiet === true ? { isQuiet: true } : {}),
    };
  });
  const own = (status: 'investigating' | 'resolved', displayMs: number, knownMs: number): UpdateView => ({
    id: publicIdOf(publicId, status),
    status,
    body: null,
    createdMs: knownMs,
    displayMs,
    impacts: [],
  });
  const onset = !isManual || written.length === 0 ? [own('investigating', startedMs, createdMs)] : [];
  const isEndSaid = written.some(({ status }) => status === 'resolved');
  const end = resolvedMs === null || isEndSaid ? [] : [own('resolved', resolvedMs, Math.max(resolvedMs, createdMs))];
  return [...onset, ...written, ...end]
    .map((update, place) => ({ update, place }))
    .toSorted((one, other) => other.update.displayMs - one.update.displayMs || other.place - one.place)
    .map(({ update }) => update);
}
