import type {
  ComponentStatus,
  ComponentView,
  DayLetter,
  IncidentView,
  MaintenanceView,
  PageView,
  SectionView,
} from '../../view/page-view.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** 27 November 2026, 15:03 in Berlin. */
export const madeMs = Date.UTC(2026, 10, 27, 14, 3);

/** Twelve characters from a number. */
export const idOf = (number: number): string => number.toString(16).padStart(12, '0');

/** `uuux` is three days and one with an outage; what is left before them is up. */
export function daysOf(letters: string, count = 90): readonly DayLetter[] {
  const parsed = Array.from(letters, (each): DayLetter => {
    if (each === 'u' || each === 'd' || each === 'p' || each === 'x' || each === 'm' || each === 'n') return each;
    throw new Error(`"${each}" is no letter of a day.`);
  });
  return [...Array.from({ length: count - parsed.length }, (): DayLetter => 'u'), ...parsed];
}

let lastId = 0;

export function componentOf(name: string, parts: Partial<ComponentView> = {}): ComponentView {
  lastId += 1;
  return {
    id: idOf(lastId),
    name,
    description: '',
    status: 'operational',
    sinceMs: madeMs - 3 * dayMs,
    showsUptime: true,
    uptimePercent: 100,
    measuredPercent: 100,
    days: daysOf(''),
    troubles: [],
    ...parts,
  };
}

export function sectionOf(
  name: string | null,
  status: ComponentStatus,
  components: readonly ComponentView[],
): SectionView {
  lastId += 1;
  return { id: name === null ? null : idOf(lastId), name, status, components };
}

export function viewOf(parts: Partial<PageView> = {}): PageView {
  return {
    id: 'k3v9x0q2m7ra',
    name: 'Shop',
    description: 'The state of our shop, its payments and its interfaces.',
    slug: 'shop',
    url: 'https://status.example/status/shop',
    noindex: false,
    locale: 'en',
    locales: ['en', 'ru'],
    timezone: 'Europe/Berlin',
    dayCount: 90,
    lastDate: '2026-11-27',
    theme: { scheme: 'system', light: {}, dark: {}, font: 'system', radius: 10 },
    links: [
      { label: 'Shop', url: 'https://shop.example' },
      { label: 'Support', url: 'mailto:help@shop.example' },
    ],
    announcement: null,
    embedOrigins: [],
    subscribe: ['email'],
    createdMs: 1,
    madeMs,
    updatedMs: madeMs - hourMs,
    indicator: 'none',
    sections: [],
    incidents: [],
    maintenance: [],
    ...parts,
  };
}

const times = Array.from({ length: 90 }, (_, day) =>
  day < 6 ? null : Math.round(180 + 60 * Math.sin(day / 5) + ((day * 37) % 23)),
);

const shortOutage: ComponentView = componentOf('API', {
  description: 'REST and GraphQL for partners',
  uptimePercent: 99.98,
  days: daysOf('puuuuuuuuuduuuuuuuuuuuu'),
  troubles: [
    { date: '2026-11-15', downSeconds: 0, degradedSeconds: 1560, maintenanceSeconds: 0, incidents: [] },
    {
      date: '2026-11-05',
      downSeconds: 720,
      degradedSeconds: 0,
      maintenanceSeconds: 0,
      incidents: ['Slow answers of the API'],
    },
    { date: '2026-09-12', downSeconds: 40, degradedSeconds: 0, maintenanceSeconds: 0, incidents: [] },
  ],
  responseTimesMs: times,
});

const allUp = viewOf({
  sections: [
    sectionOf('Shop', 'operational', [
      componentOf('Web site'),
      componentOf('Checkout', { uptimePercent: 99.999, days: daysOf('n', 90), measuredPercent: 99.4 }),
      shortOutage,
    ]),
    sectionOf(null, 'operational', [
      componentOf('Mail', { showsUptime: false }),
      componentOf('Search', {
        uptimePercent: 100,
        measuredPercent: 33.9,
        days: daysOf('n'.repeat(60) + 'u'.repeat(30)),
      }),
    ]),
  ],
  incidents: [pastIncident()],
});

function pastIncident(): IncidentView {
  const startedMs = madeMs - 4 * dayMs;
  return {
    id: idOf(901),
    title: 'Slow answers of the API',
    status: 'postmortem',
    impact: 'minor',
    isAutomatic: false,
    startedMs,
    resolvedMs: startedMs + 72 * minuteMs,
    createdMs: startedMs,
    updatedMs: startedMs + dayMs,
    componentIds: [shortOutage.id],
    componentNames: ['API'],
    updates: [
      {
        id: idOf(911),
        status: 'resolved',
        body: 'Answers are as quick as before. We keep watching.',
        createdMs: startedMs + 72 * minuteMs,
        displayMs: startedMs + 72 * minuteMs,
        impacts: [],
      },
      {
        id: idOf(912),
        status: 'identified',
        body: 'An index was missing after the release. We are **building it anew**.',
        createdMs: startedMs + 20 * minuteMs,
        displayMs: startedMs + 20 * minuteMs,
        impacts: [{ componentId: shortOutage.id, status: 'degraded' }],
      },
    ],
    postmortem: `## What happened\n\nA release dropped an index, so that reading an order took 3 s.\n\n1. The release began at 09:40.\n2. Answers slowed at 09:52.\n\n- We have put the index back.\n- Our tests now compare the plans of queries: see [the runbook](https://shop.example/runbook).\n\n\`\`\`\nCREATE INDEX orders_customer ON orders (customer_id);\n\`\`\``,
  };
}

function openIncident(component: ComponentView): IncidentView {
  const startedMs = madeMs - 31 * minuteMs;
  return {
    id: idOf(902),
    title: null,
    status: 'identified',
    impact: 'critical',
    isAutomatic: true,
    startedMs,
    resolvedMs: null,
    createdMs: startedMs,
    updatedMs: madeMs - 5 * minuteMs,
    componentIds: [component.id],
    componentNames: [component.name],
    updates: [
      {
        id: idOf(921),
        status: 'identified',
        body: 'Our payment provider does not answer. Orders are **kept** and will be paid later.\n\nFollow [their page](https://pay.example/status) too.',
        createdMs: madeMs - 5 * minuteMs,
        displayMs: madeMs - 5 * minuteMs,
        impacts: [{ componentId: component.id, status: 'major_outage' }],
      },
      { id: idOf(922), status: 'investigating', body: null, createdMs: startedMs, displayMs: startedMs, impacts: [] },
    ],
    postmortem: null,
  };
}

function endedIncident(component: ComponentView): IncidentView {
  const startedMs = madeMs - 9 * dayMs;
  const resolvedMs = startedMs + 12 * minuteMs;
  return {
    ...openIncident(component),
    id: idOf(903),
    status: 'resolved',
    impact: 'major',
    startedMs,
    resolvedMs,
    updates: [
      { id: idOf(931), status: 'resolved', body: null, createdMs: resolvedMs, displayMs: resolvedMs, impacts: [] },
      { id: idOf(932), status: 'investigating', body: null, createdMs: startedMs, displayMs: startedMs, impacts: [] },
    ],
  };
}

const checkout = componentOf('Checkout', {
  status: 'major_outage',
  sinceMs: madeMs - 31 * minuteMs,
  uptimePercent: 99.31,
  days: daysOf('xuuuuuuuuux'),
  troubles: [
    {
      date: '2026-11-27',
      downSeconds: 1860,
      degradedSeconds: 0,
      maintenanceSeconds: 0,
      incidents: ['Checkout: outage'],
    },
    { date: '2026-11-17', downSeconds: 7260, degradedSeconds: 300, maintenanceSeconds: 3600, incidents: [] },
  ],
  responseTimesMs: times.map((each, day) => (day > 88 ? null : each)),
});

const upcoming: MaintenanceView = {
  id: idOf(951),
  title: 'New database servers',
  text: 'The shop is **read only** for a quarter of an hour.',
  status: 'scheduled',
  startsMs: madeMs + 2 * dayMs,
  endsMs: madeMs + 2 * dayMs + 2 * hourMs,
  updatedMs: madeMs - dayMs,
  componentIds: [checkout.id],
  componentNames: ['Checkout', 'Web site'],
};

const outage = viewOf({
  announcement: 'We move to **new servers** in December: [what changes](https://shop.example/move).',
  indicator: 'major',
  sections: [
    sectionOf('Shop', 'partial_outage', [
      componentOf('Web site', { description: 'Pages, pictures, accounts' }),
      checkout,
      componentOf('Search', {
        status: 'degraded',
        sinceMs: madeMs - 2 * hourMs,
        uptimePercent: 99.9,
        days: daysOf('ddud'),
      }),
    ]),
    sectionOf('Partners', 'operational', [shortOutage, componentOf('Webhooks')]),
    sectionOf('Warehouses', 'partial_outage', [
      componentOf('Berlin', { status: 'partial_outage', uptimePercent: 98.2, days: daysOf('pupupx') }),
      componentOf('Hamburg', {
        status: 'unknown',
        sinceMs: null,
        uptimePercent: null,
        measuredPercent: 0,
        days: daysOf('n'.repeat(90)),
      }),
    ]),
  ],
  incidents: [openIncident(checkout), pastIncident(), endedIncident(checkout)],
  maintenance: [upcoming],
});

const maintenance = viewOf({
  indicator: 'maintenance',
  sections: [
    sectionOf(null, 'maintenance', [
      componentOf('Web site', { status: 'maintenance', sinceMs: madeMs - 20 * minuteMs, days: daysOf('muuuuuum') }),
      componentOf('Mail'),
    ]),
  ],
  maintenance: [
    {
      ...upcoming,
      id: idOf(952),
      status: 'in_progress',
      startsMs: madeMs - 20 * minuteMs,
      endsMs: madeMs + 10 * hourMs,
    },
    { ...upcoming, id: idOf(953), title: null, text: null, componentNames: [] },
    {
      ...upcoming,
      id: idOf(954),
      status: 'completed',
      startsMs: madeMs - 20 * dayMs,
      endsMs: madeMs - 20 * dayMs + hourMs,
    },
  ],
});

const nothingKnown = viewOf({
  indicator: 'unknown',
  description: '',
  links: [],
  sections: [
    sectionOf(null, 'unknown', [
      componentOf('Web site', {
        status: 'unknown',
        sinceMs: null,
        uptimePercent: null,
        measuredPercent: null,
        days: daysOf('n'.repeat(90)),
      }),
    ]),
  ],
});

const attack = `</style></title><script>alert(1)</script>"onload=alert(1) '\u202egnp.exe\u0000`;
const hostileComponent = componentOf(`Pay${attack}`, {
  status: 'major_outage',
  description: attack,
  troubles: [{ date: '2026-11-27', downSeconds: 60, degradedSeconds: 0, maintenanceSeconds: 0, incidents: [attack] }],
});
const hostileText = `${attack}\n\n[x](javascript:alert(1)) ![x](https://evil.example/x.png) <img src=x onerror=alert(1)> [ok](https://good.example/"onclick="x)`;

const hostile = viewOf({
  name: attack,
  description: attack,
  links: [
    { label: attack, url: 'javascript:alert(1)' },
    { label: attack, url: 'https://good.example/"><script>alert(1)</script>' },
  ],
  announcement: hostileText,
  indicator: 'critical',
  theme: {
    scheme: 'system',
    light: {
      background: '#fff;}</style><script>alert(1)</script>',
      surface: 'url(https://evil.example)',
      text: '#fffffe',
    },
    dark: { background: '#000000', text: '#010101', accent: 'expression(alert(1))' },
    font: 'system',
    radius: Number.NaN,
  },
  sections: [sectionOf(attack, 'major_outage', [hostileComponent])],
  incidents: [
    {
      ...openIncident(hostileComponent),
      title: attack,
      updates: [
        { id: idOf(941), status: 'note', body: hostileText, createdMs: madeMs, displayMs: madeMs, impacts: [] },
      ],
      postmortem: hostileText,
    },
  ],
  maintenance: [{ ...upcoming, title: attack, text: hostileText, componentNames: [attack] }],
});

const longRussian = viewOf({
  name: 'Государственное автономное учреждение «Центр информационных технологий»',
  description: 'Состояние всех информационных систем, сервисов межведомственного взаимодействия и личных кабинетов',
  locale: 'ru',
  timezone: 'Asia/Yekaterinburg',
  indicator: 'minor',
  sections: [
    sectionOf('Межведомственное электронное взаимодействие и документооборот', 'partial_outage', [
      componentOf('Единаясистемаидентификациииаутентификации-без-единого-пробела-в-названии', {
        status: 'partial_outage',
        sinceMs: madeMs - 26 * hourMs,
        uptimePercent: 97.31,
        measuredPercent: 71.2,
        days: daysOf('xdpmnxdpmnnnuup'),
        troubles: [
          {
            date: '2026-11-27',
            downSeconds: 86_399,
            degradedSeconds: 3600,
            maintenanceSeconds: 0,
            incidents: ['Портал: сбой'],
          },
          { date: '2026-11-26', downSeconds: 61, degradedSeconds: 0, maintenanceSeconds: 0, incidents: [] },
          { date: '2026-10-02', downSeconds: 0, degradedSeconds: 0, maintenanceSeconds: 7200, incidents: [] },
        ],
        responseTimesMs: times,
      }),
      componentOf('Портал государственных услуг и личный кабинет гражданина с расширенным набором возможностей'),
    ]),
  ],
  incidents: [
    {
      ...endedIncident(componentOf('Портал государственных услуг и личный кабинет гражданина')),
      startedMs: madeMs - 9 * dayMs - 3 * hourMs,
    },
  ],
  maintenance: [upcoming],
});

/** As many as a page of many has, every day another letter: nothing makes a page larger. */
export function largeView(options: {
  readonly days: readonly DayLetter[];
  readonly responseTimes?: boolean;
}): PageView {
  const sections = Array.from({ length: 8 }, (_, section) =>
    sectionOf(
      `Region ${section + 1}`,
      section === 0 ? 'partial_outage' : 'operational',
      Array.from({ length: 5 }, (_, at) =>
        componentOf(`Service ${section + 1}.${at + 1} of the shop`, {
          status: section === 0 && at === 0 ? 'partial_outage' : 'operational',
          uptimePercent: 99.87,
          days: options.days,
          troubles: [
            {
              date: '2026-11-23',
              downSeconds: 720,
              degradedSeconds: 300,
              maintenanceSeconds: 0,
              incidents: ['Slow answers of the API'],
            },
            { date: '2026-11-05', downSeconds: 90, degradedSeconds: 0, maintenanceSeconds: 0, incidents: [] },
            { date: '2026-10-05', downSeconds: 90, degradedSeconds: 0, maintenanceSeconds: 0, incidents: [] },
          ],
          ...(options.responseTimes === true && { responseTimesMs: times }),
        }),
      ),
    ),
  );
  return viewOf({
    indicator: 'major',
    sections,
    incidents: [openIncident(checkout), pastIncident(), endedIncident(checkout)],
    maintenance: [upcoming],
  });
}

/** A view of every kind, by name. */
export const samples: Readonly<Record<string, PageView>> = {
  'all up': allUp,
  'nothing known': nothingKnown,
  outage,
  maintenance,
  hostile,
  large: largeView({ days: daysOf('xuuuuuuuuuuuuuuuuuduuuuuuuuuuuuup'), responseTimes: true }),
  empty: viewOf({ indicator: 'unknown', locales: ['en'], noindex: true }),
  'long russian': longRussian,
};
