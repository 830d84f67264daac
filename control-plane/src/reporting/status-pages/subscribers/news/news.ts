import { cut } from '../../../../response/messages/index.ts';
import type { IncidentView, UpdateView } from '../../view/page-view.ts';
import { publicIdOf } from '../../view/public-id.ts';
import { maintenanceReachMs } from '../../view/public-maintenance.ts';
import type { StoredOccurrence } from '../../view/public-maintenance.ts';
import type { Happenings } from '../../view/happenings.gateway.ts';
import { withChangedPlans } from './changed-plans.ts';
import type { ToldMaintenance } from './changed-plans.ts';
import type { MaintenanceFacts, News } from './news-facts.ts';

const dayMs = 86_400_000;
/** What is older is no news: a page that is published anew, or an installation that was away, floods nobody. */
export const staleMs = dayMs;
/** The key of the end of an incident that nobody wrote about. */
export const endKey = 'end';

const subjectOf = ({ id }: Pick<IncidentView, 'id'>): string => `incident ${id}`;

/** All that a page could tell now; what was told is left out by whoever stores it. The oldest first. */
export function newsOf(happenings: Happenings, nowMs: number, told: readonly ToldMaintenance[] = []): News[] {
  const planned = happenings.occurrences.flatMap((occurrence) => newsOfOccurrence(occurrence, happenings, nowMs));
  const all = [
    ...happenings.incidents.flatMap((incident) => [
      ...newsOfIncident(incident, happenings),
      ...newsOfPostmortem(incident),
    ]),
    ...withChangedPlans(planned, happenings, told, nowMs),
  ];
  return all.filter(({ knownMs }) => knownMs > nowMs - staleMs).toSorted((one, other) => one.knownMs - other.knownMs);
}

/** Incidents that are open: their end, if it was told, was not the last. */
export function openSubjects({ incidents }: Happenings): string[] {
  return incidents.flatMap((incident) => (incident.resolvedMs === null ? [subjectOf(incident)] : []));
}

/** What a page tells something of at present: whatever waits of another thing has been hidden since. */
export function shownSubjects({ incidents, occurrences }: Happenings): string[] {
  const maintenance = occurrences.flatMap(({ isPublic, publicId }) => (isPublic ? [`maintenance ${publicId}`] : []));
  return [...new Set([...incidents.map(subjectOf), ...maintenance])];
}

function newsOfIncident(incident: IncidentView, { notifiesAutomatic }: Happenings): News[] {
  const told = incident.updates.filter(
    ({ body, isQuiet }) => isQuiet !== true && (body !== null || !incident.isAutomatic || notifiesAutomatic),
  );
  return told.toReversed().map((update) => ({
    subject: subjectOf(incident),
    key: keyOf(update),
    componentIds: incident.componentIds,
    // The product knows of a beginning or an end when it is there, or later where somebody files it afterwards.
    knownMs: update.body === null ? Math.min(update.createdMs, Math.max(update.displayMs, 0)) : update.createdMs,
    facts: {
      type: 'incident',
      id: incident.id,
      title: incident.title,
      component_names: [...incident.componentNames],
      impact: incident.impact,
      status: update.status,
      body: update.body,
      at_ms: update.displayMs,
      started_ms: incident.startedMs,
      resolved_ms: update.status === 'resolved' ? incident.resolvedMs : null,
    },
  }));
}

/** A text of many pages is read on the page. */
const longestPostmortem = 5_000;

/** A postmortem is told once, when it becomes public, however often it is written anew. */
function newsOfPostmortem(incident: IncidentView): News[] {
  const { postmortem, postmortemNewsMs: knownMs } = incident;
  if (postmortem === null || knownMs === undefined) return [];
  return [
    {
      subject: subjectOf(incident),
      key: 'postmortem',
      componentIds: incident.componentIds,
      knownMs,
      facts: {
        type: 'incident',
        id: incident.id,
        title: incident.title,
        component_names: [...incident.componentNames],
        impact: incident.impact,
        status: 'postmortem',
        body: cut(postmortem, longestPostmortem),
        at_ms: knownMs,
        started_ms: incident.startedMs,
        resolved_ms: null,
      },
    },
  ];
}

function keyOf({ id, body, status }: UpdateView): string {
  if (body !== null) return `update ${id}`;
  return status === 'resolved' ? endKey : 'begin';
}

/** Maintenance that is not public shows as a word on the page alone: nobody is told of it. */
function newsOfOccurrence(occurrence: StoredOccurrence, { names }: Happenings, nowMs: number): News[] {
  const { publicId, startsMs, endedMs, hasStarted, componentIds } = occurrence;
  if (!occurrence.isPublic || occurrence.isQuiet === true || componentIds.length === 0) return [];
  const id = publicIdOf(publicId, startsMs);
  const news = (event: MaintenanceFacts['event'], key: string, knownMs: number): News => ({
    subject: `maintenance ${publicId}`,
    key,
    componentIds,
    knownMs,
    facts: {
      type: 'maintenance',
      id,
      title: occurrence.publicTitle,
      component_names: componentIds.map((each) => names.get(each) ?? ''),
      event,
      text: occurrence.publicText,
      starts_ms: startsMs,
      ends_ms: endedMs ?? occurrence.endsMs,
    },
  });
  if (endedMs !== null) return occurrence.isCancelled === true ? [] : [news('completed', `completed ${id}`, endedMs)];
  if (hasStarted) return [news('in_progress', `in_progress ${id}`, startsMs)];
  return plannedNews(occurrence, nowMs, (event, key, knownMs) => news(event, `${key} ${id}`, knownMs)).map((each) =>
    // A series is announced once, and each of its occurrences by the reminder.
    each.facts.type === 'maintenance' && each.facts.event === 'scheduled' && occurrence.isRecurring === true
      ? { ...each, key: 'scheduled' }
      : each,
  );
}

function plannedNews(
  { startsMs, changedMs, remindMs = null }: StoredOccurrence,
  nowMs: number,
  news: (event: MaintenanceFacts['event'], key: string, knownMs: number) => News,
): News[] {
  if (startsMs <= nowMs) return [];
  // It comes into sight so long before.
  const scheduledMs = Math.max(changedMs, startsMs - maintenanceReachMs);
  const scheduled = news('scheduled', 'scheduled', scheduledMs);
  const remindAtMs = startsMs - (remindMs ?? 0);
  const isReminded = remindMs !== null && nowMs >= remindAtMs && scheduledMs < remindAtMs;
  return isReminded ? [scheduled, news('reminder', 'reminder', remindAtMs)] : [scheduled];
}
