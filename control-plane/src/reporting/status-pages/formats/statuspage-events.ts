import { createHash } from 'node:crypto';
import type { IncidentView, MaintenanceView, PageView, UpdateView } from '../view/page-view.ts';
import { incidentUrl, maintenanceUrl } from './places.ts';
import { isoTime, v2StatusOf } from './statuspage-components.ts';
import type {
  V2Component,
  V2ComponentStatus,
  V2Incident,
  V2IncidentStatus,
  V2Maintenance,
  V2MaintenanceStatus,
  V2Update,
} from './statuspage-shape.ts';
import { incidentTitle, maintenanceTitle, updateBody } from './words.ts';
import type { FormatWords } from './words.ts';

/** What the forms of events need beside the event. `components`: those that the API lists. */
export type V2Scene = {
  readonly view: PageView;
  readonly words: FormatWords;
  readonly components: readonly V2Component[];
};

// Pages of Statuspage tell these of every update, and some readers require them.
const announced = { deliver_notifications: true, custom_tweet: null, tweet_id: null } as const;

export function v2Incident(incident: IncidentView, { view, words, components }: V2Scene): V2Incident {
  const firstMonitoring = incident.updates.findLast(({ status }) => status === 'monitoring');
  return {
    id: incident.id,
    name: incidentTitle(incident, words),
    status: incident.status,
    created_at: isoTime(incident.createdMs),
    updated_at: isoTime(incident.updatedMs),
    monitoring_at: firstMonitoring === undefined ? null : isoTime(firstMonitoring.displayMs),
    resolved_at: incident.resolvedMs === null ? null : isoTime(incident.resolvedMs),
    impact: incident.impact,
    shortlink: incidentUrl(view, incident),
    started_at: isoTime(incident.startedMs),
    page_id: view.id,
    incident_updates: incidentUpdates(incident, components, words),
    components: components.filter(({ id }) => incident.componentIds.includes(id)),
    reminder_intervals: null,
  };
}

/** The newest first, as they are given; what changes from one to the next is found from the oldest on. */
function incidentUpdates(
  incident: IncidentView,
  components: readonly V2Component[],
  words: FormatWords,
): V2Update<V2IncidentStatus>[] {
  const names = new Map(incident.componentIds.map((id, index) => [id, incident.componentNames[index]]));
  for (const { id, name } of components) names.set(id, name);
  const told = new Map<string, V2ComponentStatus>();
  let status: V2IncidentStatus = 'investigating';
  const oldestFirst = incident.updates.toReversed().map((update): V2Update<V2IncidentStatus> => {
    // A note changes nothing, and Statuspage has no word for it.
    if (update.status !== 'note') status = update.status;
    return {
      id: update.id,
      status,
      body: updateBody(update, words),
      incident_id: incident.id,
      created_at: isoTime(update.createdMs),
      updated_at: isoTime(update.createdMs),
      display_at: isoTime(update.displayMs),
      affected_components: affectedBy(update, names, told),
      ...announced,
    };
  });
  return oldestFirst.reverse();
}

/** @param told what earlier updates have said of components; this one is noted there */
function affectedBy(
  update: UpdateView,
  names: ReadonlyMap<string, string | undefined>,
  told: Map<string, V2ComponentStatus>,
): V2Update<V2IncidentStatus>['affected_components'] {
  return update.impacts.flatMap(({ componentId, status }) => {
    const name = names.get(componentId);
    const newStatus = v2StatusOf(status);
    if (name === undefined || newStatus === null) return [];
    const oldStatus = told.get(componentId) ?? 'operational';
    told.set(componentId, newStatus);
    return [{ code: componentId, name, old_status: oldStatus, new_status: newStatus }];
  });
}

export function v2Maintenance(maintenance: MaintenanceView, { view, words, components }: V2Scene): V2Maintenance {
  const affected = components.filter(({ id }) => maintenance.componentIds.includes(id));
  return {
    id: maintenance.id,
    name: maintenanceTitle(maintenance, words),
    status: maintenance.status,
    // When it was planned is not told to the public: the last change is all that is known.
    created_at: isoTime(maintenance.updatedMs),
    updated_at: isoTime(maintenance.updatedMs),
    monitoring_at: null,
    resolved_at: maintenance.status === 'completed' ? isoTime(maintenance.endsMs) : null,
    impact: 'maintenance',
    shortlink: maintenanceUrl(view, maintenance),
    started_at: isoTime(maintenance.startsMs),
    page_id: view.id,
    incident_updates: maintenanceUpdates(maintenance, affected, words),
    components: affected,
    reminder_intervals: null,
    scheduled_for: isoTime(maintenance.startsMs),
    scheduled_until: isoTime(maintenance.endsMs),
  };
}

/** Maintenance has no updates of its own: its announcement, beginning and end are told as such, the newest first. */
function maintenanceUpdates(
  maintenance: MaintenanceView,
  affected: readonly V2Component[],
  { maintenanceBodies }: FormatWords,
): V2Update<V2MaintenanceStatus>[] {
  const { status, startsMs, endsMs, updatedMs } = maintenance;
  const reached: [V2MaintenanceStatus, number][] = [['scheduled', Math.min(updatedMs, startsMs)]];
  if (status !== 'scheduled') reached.push(['in_progress', startsMs]);
  if (status === 'completed') reached.push(['completed', endsMs]);
  return reached.reverse().map(([word, ms]) => ({
    id: updateId(maintenance.id, word),
    status: word,
    body: word === 'scheduled' ? (maintenance.text ?? maintenanceBodies.scheduled) : maintenanceBodies[word],
    incident_id: maintenance.id,
    created_at: isoTime(ms),
    updated_at: isoTime(ms),
    display_at: isoTime(ms),
    affected_components: affected.map(({ id, name }) => ({
      code: id,
      name,
      old_status: word === 'completed' ? 'under_maintenance' : 'operational',
      new_status: word === 'in_progress' ? 'under_maintenance' : 'operational',
    })),
    ...announced,
  }));
}

/** Twelve characters, the same whenever they are made. */
function updateId(maintenanceId: string, status: string): string {
  return createHash('sha256').update(`${maintenanceId} ${status}`).digest('hex').slice(0, 12);
}
