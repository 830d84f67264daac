import type { DocumentRequest, PageDocument } from '../view/page-document.ts';
import type { PageView } from '../view/page-view.ts';
import { isOpen } from './places.ts';
import { isoTime, v2Components } from './statuspage-components.ts';
import { v2Incident, v2Maintenance } from './statuspage-events.ts';
import type { V2Incident, V2Maintenance, V2Page, V2Status } from './statuspage-shape.ts';
import { wordsOf } from './words.ts';

/** The parts of which every document of this API is made. */
type Parts = {
  readonly page: V2Page;
  readonly status: V2Status;
  readonly components: ReturnType<typeof v2Components>;
  readonly incidents: V2Incident[];
  readonly unresolved: V2Incident[];
  /** The latest first. */
  readonly maintenance: V2Maintenance[];
};

const maxListed = 50;

function partsOf(view: PageView, { locale }: DocumentRequest): Parts {
  const words = wordsOf(locale);
  const components = v2Components(view);
  const scene = { view, words, components };
  const { indicator } = view;
  return {
    page: {
      id: view.id,
      name: view.name,
      url: view.url,
      time_zone: view.timezone,
      updated_at: isoTime(view.updatedMs),
    },
    // Statuspage has no indicator for what nothing is known of; its description says so.
    status: { indicator: indicator === 'unknown' ? 'none' : indicator, description: words.indicators[indicator] },
    components,
    incidents: view.incidents.slice(0, maxListed).map((incident) => v2Incident(incident, scene)),
    unresolved: view.incidents.filter(isOpen).map((incident) => v2Incident(incident, scene)),
    maintenance: view.maintenance
      .toSorted((a, b) => b.startsMs - a.startsMs)
      .slice(0, maxListed)
      .map((maintenance) => v2Maintenance(maintenance, scene)),
  };
}

const activeOf = ({ maintenance }: Parts) => maintenance.filter(({ status }) => status === 'in_progress');
/** The soonest first. */
const upcomingOf = ({ maintenance }: Parts) => maintenance.filter(({ status }) => status === 'scheduled').toReversed();

function document(path: string, answer: (parts: Parts) => object): PageDocument {
  return {
    path: `/api/v2/${path}.json`,
    contentType: 'application/json; charset=utf-8',
    isTranslated: false,
    isShared: true,
    render: (view, asked) => JSON.stringify(answer(partsOf(view, asked))),
  };
}

/** Version 2 of the public API of Statuspage, so that its readers can read pages of ours. https://metastatuspage.com/api describes it. */
export const statuspageDocuments: readonly PageDocument[] = [
  document('summary', (parts) => ({
    page: parts.page,
    components: parts.components,
    incidents: parts.unresolved,
    scheduled_maintenances: [...activeOf(parts), ...upcomingOf(parts)],
    status: parts.status,
  })),
  document('status', ({ page, status }) => ({ page, status })),
  document('components', ({ page, components }) => ({ page, components })),
  document('incidents', ({ page, incidents }) => ({ page, incidents })),
  document('incidents/unresolved', ({ page, unresolved }) => ({ page, incidents: unresolved })),
  document('scheduled-maintenances', ({ page, maintenance }) => ({ page, scheduled_maintenances: maintenance })),
  document('scheduled-maintenances/upcoming', (parts) => ({
    page: parts.page,
    scheduled_maintenances: upcomingOf(parts),
  })),
  document('scheduled-maintenances/active', (parts) => ({
    page: parts.page,
    scheduled_maintenances: activeOf(parts),
  })),
];
