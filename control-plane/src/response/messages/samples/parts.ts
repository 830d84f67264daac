import type { Locale } from '../locale.ts';
import type { Notice, NoticeKind, NoticeLine, NoticeOccasion, NoticeSubject, NoticeVote } from '../notice.ts';

export type Sample = { readonly name: string; readonly notice: Notice };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const nowMs = Date.UTC(2026, 10, 23, 2, 15);
const startedMs = nowMs - 12 * minuteMs;

const names = {
  en: {
    shop: 'Shop',
    api: 'API',
    backup: 'Nightly backup',
    orders: 'Orders',
    work: 'Move to the new rack',
    who: 'Ann Lee',
  },
  ru: { shop: 'Магазин', api: 'API', backup: 'Ночная копия', orders: 'Заказы', work: 'Переезд стойки', who: 'Анна Ли' },
} as const;

export function subject(name: string, more: Partial<NoticeSubject> = {}): NoticeSubject {
  return { type: 'monitor', id: 17, name, status: 'DOWN', startedMs, endedMs: null, ...more };
}

export function vote(probe: string, region: string, more: Partial<NoticeVote> = {}): NoticeVote {
  return {
    probe,
    region,
    vote: 'DOWN',
    code: 'connect_refused',
    text: 'The address 192.0.2.17:443 refused the connection.',
    ...more,
  };
}

/** Two of three probes say that it is down. */
export const votes: readonly NoticeVote[] = [
  vote('Frankfurt', 'eu-central'),
  vote('Helsinki', 'eu-north'),
  vote('New York', 'us-east', { vote: 'UP', code: null, text: null }),
];

/** It has ended by itself. */
export const over = { endedMs: nowMs - 8000, resolution: 'auto', nextCheckMs: null } as const;
/** It is no incident. */
export const alone = { incidentId: null, severity: 'minor' } as const;

/** What samples are made from in one language. */
export type SampleParts = {
  readonly locale: Locale;
  readonly names: (typeof names)[Locale];
  /** An outage that lasts, unless more is said. */
  readonly occasion: (more?: Partial<NoticeOccasion>) => NoticeOccasion;
  /** A message about that outage, unless more is said. */
  readonly notice: (kind: NoticeKind, more?: Partial<Notice>) => Notice;
  /** A message about something that no probe votes on, unless more is said. */
  readonly about: (kind: NoticeKind, more: Partial<NoticeOccasion>, rest?: Partial<Notice>) => Notice;
  /** More subjects than are named. */
  readonly several: Pick<NoticeOccasion, 'subjects' | 'subjectCount'>;
  /** What a digest lists. */
  readonly lines: readonly NoticeLine[];
};

/** @param locale in which they are told; names are in the same language */
export function sampleParts(locale: Locale): SampleParts {
  const { shop, api, backup, orders } = names[locale];
  const occasion = (more: Partial<NoticeOccasion> = {}): NoticeOccasion => ({ ...outage(shop), ...more });
  const notice = (kind: NoticeKind, more: Partial<Notice> = {}): Notice => ({
    ...message(locale, kind, occasion()),
    ...more,
  });
  return {
    locale,
    names: names[locale],
    occasion,
    notice,
    about: (kind, more, rest = {}) =>
      notice(kind, { occasion: occasion({ nextCheckMs: null, votes: [], ...more }), ...rest }),
    several: {
      subjects: [
        subject(shop),
        subject(api, { id: 18, status: 'TIMEOUT' }),
        subject(orders, { id: 19, startedMs: startedMs + 4000 }),
      ],
      subjectCount: 23,
    },
    lines: [
      line(shop, 'monitor.down', 12),
      line(api, 'monitor.down', 12, { subjectCount: 4 }),
      line(backup, 'heartbeat.missed', 95),
      line(orders, 'monitor.degraded', 30, { endedMs: nowMs - 3 * minuteMs }),
    ],
  };
}

function outage(name: string): NoticeOccasion {
  return {
    event: 'monitor.down',
    incidentId: 231,
    severity: 'major',
    title: `${name} is down`,
    ownTitle: null,
    startedMs,
    endedMs: null,
    resolution: null,
    isAcknowledged: false,
    isManual: false,
    by: null,
    closing: null,
    subjects: [subject(name)],
    subjectCount: 1,
    votes,
    missing: [],
    said: null,
    nextCheckMs: nowMs + minuteMs,
    details: {},
  };
}

function message(locale: Locale, kind: NoticeKind, occasion: NoticeOccasion): Notice {
  return {
    id: `sample-${kind}`,
    subjectKey: 'incident:231',
    kind,
    atMs: nowMs,
    locale,
    timezone: locale === 'ru' ? 'Europe/Moscow' : 'Europe/Berlin',
    workspace: { id: 1, name: 'Example' },
    occasion,
    reminder: null,
    step: null,
    update: null,
    digest: null,
    alertName: locale === 'ru' ? 'Дежурные' : 'On call',
    links: {
      open: 'https://status.example/incidents/231',
      acknowledge: 'https://status.example/acknowledge/4f1c',
      snooze: 'https://status.example/snooze/4f1c',
      unsubscribe: null,
    },
  };
}

function line(name: string, event: string, minutes: number, more: Partial<NoticeLine> = {}): NoticeLine {
  return {
    event,
    severity: 'major',
    title: `${name} is down`,
    name,
    subjectCount: 1,
    startedMs: nowMs - minutes * minuteMs,
    endedMs: null,
    url: null,
    ...more,
  };
}
