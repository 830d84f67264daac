import type { PublicStatus } from '@parallax/api-contract';
import { iso } from '../../statistics/index.ts';
import type { ComponentView, IncidentView, Indicator, MaintenanceView, PageView } from './page-view.ts';

/** What programs read of a page. */
export function publicStatusOf(view: PageView): PublicStatus {
  return {
    page: { id: view.id, name: view.name, url: view.url, timezone: view.timezone },
    status: { indicator: view.indicator, text: texts[view.indicator] },
    components: view.sections.flatMap(({ name, components }) => components.map((one) => componentOf(one, name))),
    incidents: view.incidents.map(incidentOf),
    maintenance: view.maintenance.map(maintenanceOf),
  };
}

const texts: Readonly<Record<Indicator, string>> = {
  none: 'All systems operational',
  maintenance: 'Maintenance in progress',
  minor: 'Partially degraded service',
  major: 'Partial system outage',
  critical: 'Major system outage',
  unknown: 'No data',
};

function componentOf(component: ComponentView, group: string | null): PublicStatus['components'][number] {
  return {
    id: component.id,
    name: component.name,
    group,
    status: component.status,
    uptime_percent: component.uptimePercent,
    measured_percent: component.measuredPercent,
    days: component.days.join(''),
    troubles: component.troubles.map(({ date, downSeconds }) => ({ date, down_seconds: downSeconds })),
  };
}

function incidentOf(incident: IncidentView): PublicStatus['incidents'][number] {
  return {
    id: incident.id,
    title: incident.title ?? titleOf(incident.componentNames),
    status: incident.status,
    impact: incident.impact,
    started_at: iso(incident.startedMs),
    component_ids: [...incident.componentIds],
    updates: incident.updates.map(({ id, status, body, createdMs, displayMs }) => ({
      id,
      status,
      body,
      created_at: iso(createdMs),
      display_at: iso(displayMs),
    })),
  };
}

/** An incident that nobody has named is named by what it concerns. */
function titleOf([first, second, ...others]: readonly string[]): string {
  if (first === undefined) return 'Incident';
  if (second === undefined) return `${first} is down`;
  return others.length === 0 ? `${first} and ${second} are down` : `${first} and ${others.length + 1} more are down`;
}

function maintenanceOf(maintenance: MaintenanceView): PublicStatus['maintenance'][number] {
  return {
    id: maintenance.id,
    title: maintenance.title,
    text: maintenance.text,
    status: maintenance.status,
    starts_at: iso(maintenance.startsMs),
    ends_at: iso(maintenance.endsMs),
    component_ids: [...maintenance.componentIds],
  };
}
