import type { ComponentStatus, ComponentView, PageView, SectionView } from '../view/page-view.ts';
import type { V2Component, V2ComponentStatus } from './statuspage-shape.ts';

const statuses: Readonly<Record<Exclude<ComponentStatus, 'unknown'>, V2ComponentStatus>> = {
  operational: 'operational',
  maintenance: 'under_maintenance',
  degraded: 'degraded_performance',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
};

/** The word of Statuspage; null: it has none for what nothing is known of. */
export function v2StatusOf(status: ComponentStatus): V2ComponentStatus | null {
  return status === 'unknown' ? null : statuses[status];
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Sections as groups, each before its members. What nothing is known of is left out, and a section without anything else with it. */
export function v2Components(view: PageView): V2Component[] {
  const listed: V2Component[] = [];
  let position = 0;
  for (const section of view.sections) {
    const known = section.components.filter(({ status }) => status !== 'unknown');
    if (known.length === 0) continue;
    if (section.id === null) {
      for (const component of known) listed.push(...memberOf(view, component, null, ++position));
      continue;
    }
    listed.push(groupOf(view, section, section.id, known, ++position));
    for (const [index, component] of known.entries()) listed.push(...memberOf(view, component, section.id, index + 1));
  }
  return listed;
}

function groupOf(
  view: PageView,
  section: SectionView,
  id: string,
  known: readonly ComponentView[],
  position: number,
): V2Component {
  const since = known.map(({ sinceMs }) => sinceMs ?? view.madeMs);
  return {
    id,
    name: section.name ?? '',
    status: v2StatusOf(section.status) ?? 'operational',
    created_at: isoTime(view.madeMs),
    updated_at: isoTime(Math.max(view.madeMs, ...since)),
    position,
    description: null,
    showcase: false,
    start_date: null,
    group_id: null,
    page_id: view.id,
    group: true,
    only_show_if_degraded: false,
    components: known.map((component) => component.id),
  };
}

function memberOf(view: PageView, component: ComponentView, groupId: string | null, position: number): V2Component[] {
  const status = v2StatusOf(component.status);
  if (status === null) return [];
  return [
    {
      id: component.id,
      name: component.name,
      status,
      // A page knows no earlier time of its components than its own.
      created_at: isoTime(view.madeMs),
      updated_at: isoTime(Math.max(view.madeMs, component.sinceMs ?? view.madeMs)),
      position,
      description: component.description === '' ? null : component.description,
      showcase: component.showsUptime,
      start_date: startDateOf(view, component),
      group_id: groupId,
      page_id: view.id,
      group: false,
      // Components that hide while they are well are not in a view then.
      only_show_if_degraded: false,
    },
  ];
}

const dayMs = 86_400_000;

/** The first day of the bars that was measured: uptime is counted from there. */
function startDateOf(view: PageView, { days }: ComponentView): string | null {
  const first = [...days].findIndex((letter) => letter !== 'n');
  if (first === -1) return null;
  const lastMs = Date.parse(`${view.lastDate}T00:00:00Z`);
  return isoTime(lastMs - (days.length - 1 - first) * dayMs).slice(0, 10);
}
