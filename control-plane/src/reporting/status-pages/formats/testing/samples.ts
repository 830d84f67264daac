import type { ComponentView, IncidentView, MaintenanceView, PageView, SectionView } from '../../view/page-view.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** When the samples are read. */
export const nowMs = Date.parse('2026-11-27T12:00:00.000Z');

export function componentOf(changes: Partial<ComponentView> & { readonly id: string }): ComponentView {
  return {
    name: 'Checkout',
    description: '',
    status: 'operational',
    sinceMs: nowMs - dayMs,
    showsUptime: true,
    uptimePercent: 99.98,
    measuredPercent: 100,
    days: Array.from({ length: 30 }, (_, index) => (index < 10 ? 'n' : 'u')),
    troubles: [],
    ...changes,
  };
}

export function sectionOf(components: readonly ComponentView[], changes: Partial<SectionView> = {}): SectionView {
  return { id: null, name: null, status: 'operational', components, ...changes };
}

export function incidentOf(changes: Partial<IncidentView> = {}): IncidentView {
  return {
    id: 'inc000000001',
    title: null,
    status: 'investigating',
    impact: 'major',
    isAutomatic: true,
    startedMs: nowMs - hourMs,
    resolvedMs: null,
    createdMs: nowMs - hourMs + minuteMs,
    updatedMs: nowMs - 10 * minuteMs,
    componentIds: ['cmp000000001'],
    componentNames: ['Checkout'],
    updates: [
      {
        id: 'upd000000003',
        status: 'note',
        body: 'Some customers recover.',
        createdMs: nowMs - 10 * minuteMs,
        displayMs: nowMs - 10 * minuteMs,
        impacts: [{ componentId: 'cmp000000001', status: 'degraded' }],
      },
      {
        id: 'upd000000002',
        status: 'identified',
        body: 'A network provider fails.\n\nWe route around it.',
        createdMs: nowMs - 30 * minuteMs,
        displayMs: nowMs - 40 * minuteMs,
        impacts: [{ componentId: 'cmp000000001', status: 'partial_outage' }],
      },
      {
        id: 'upd000000001',
        status: 'investigating',
        body: null,
        createdMs: nowMs - hourMs + minuteMs,
        displayMs: nowMs - hourMs,
        impacts: [],
      },
    ],
    postmortem: null,
    ...changes,
  };
}

export function maintenanceOf(changes: Partial<MaintenanceView> = {}): MaintenanceView {
  return {
    id: 'mnt000000001',
    title: 'Database upgrade',
    text: 'Orders are read-only.',
    status: 'scheduled',
    startsMs: nowMs + dayMs,
    endsMs: nowMs + dayMs + 2 * hourMs,
    updatedMs: nowMs - 3 * dayMs,
    componentIds: ['cmp000000001'],
    componentNames: ['Checkout'],
    ...changes,
  };
}

/** A page with two sections, an incident in progress, one that is over, and maintenance in each of its states. */
export function pageOf(changes: Partial<PageView> = {}): PageView {
  return {
    id: 'page00000001',
    name: 'Shop',
    description: 'What our shop is doing',
    slug: 'shop',
    url: 'https://parallax.example/status/shop',
    createdMs: 1,
    noindex: false,
    locale: 'en',
    locales: ['en', 'ru'],
    timezone: 'Europe/Berlin',
    dayCount: 30,
    lastDate: '2026-11-27',
    theme: { scheme: 'system', light: {}, dark: {}, font: 'system', radius: 8 },
    links: [],
    announcement: null,
    embedOrigins: ['https://shop.example'],
    subscribe: ['email'],
    madeMs: nowMs - 400 * dayMs,
    updatedMs: nowMs - 10 * minuteMs,
    indicator: 'major',
    sections: [
      sectionOf(
        [
          componentOf({ id: 'cmp000000001', status: 'partial_outage', description: 'Carts and payment' }),
          componentOf({ id: 'cmp000000002', name: 'Search', status: 'unknown', sinceMs: null }),
        ],
        { id: 'sec000000001', name: 'Shop', status: 'partial_outage' },
      ),
      sectionOf([componentOf({ id: 'cmp000000003', name: 'API', status: 'maintenance', days: [] })]),
    ],
    incidents: [
      incidentOf(),
      incidentOf({
        id: 'inc000000002',
        title: 'Slow search',
        status: 'resolved',
        impact: 'minor',
        isAutomatic: false,
        startedMs: nowMs - 3 * dayMs,
        resolvedMs: nowMs - 3 * dayMs + hourMs,
        createdMs: nowMs - 3 * dayMs,
        updatedMs: nowMs - 2 * dayMs,
        componentIds: ['cmp000000002'],
        componentNames: ['Search'],
        updates: [
          {
            id: 'upd000000011',
            status: 'resolved',
            body: null,
            createdMs: nowMs - 3 * dayMs + hourMs,
            displayMs: nowMs - 3 * dayMs + hourMs,
            impacts: [],
          },
          {
            id: 'upd000000010',
            status: 'monitoring',
            body: 'We watch.',
            createdMs: nowMs - 3 * dayMs,
            displayMs: nowMs - 3 * dayMs,
            impacts: [],
          },
        ],
        postmortem: 'An index was missing.',
      }),
    ],
    maintenance: [
      maintenanceOf({
        id: 'mnt000000002',
        title: null,
        text: null,
        status: 'in_progress',
        startsMs: nowMs - hourMs,
        endsMs: nowMs + hourMs,
        componentIds: ['cmp000000003'],
        componentNames: ['API'],
      }),
      maintenanceOf(),
      maintenanceOf({
        id: 'mnt000000003',
        title: 'Move to another hall',
        status: 'completed',
        startsMs: nowMs - 5 * dayMs,
        endsMs: nowMs - 5 * dayMs + hourMs,
        updatedMs: nowMs - 5 * dayMs + hourMs,
      }),
    ],
    ...changes,
  };
}

/** A page without anything. */
export function emptyPageOf(changes: Partial<PageView> = {}): PageView {
  return pageOf({ description: '', indicator: 'unknown', sections: [], incidents: [], maintenance: [], ...changes });
}
