import type { IncidentView, MaintenanceView, PageView } from '../view/page-view.ts';

/** The page of an incident. */
export function incidentUrl(view: PageView, incident: IncidentView): string {
  return `${view.url}/incidents/${incident.id}`;
}

/** Maintenance has no page of its own: it stands on that of the whole. */
export function maintenanceUrl(view: PageView, maintenance: MaintenanceView): string {
  return `${view.url}#m-${maintenance.id}`;
}

export function isOpen(incident: IncidentView): boolean {
  return incident.status !== 'resolved' && incident.status !== 'postmortem';
}
