import type { RoomChannel, SubscriberKind } from '@parallax/api-contract';
import type {
  ComponentStatus,
  DayLetter,
  IncidentView,
  Indicator,
  MaintenanceView,
  UpdateView,
} from '../../view/page-view.ts';

/** All that a page says in one language, apart from what people wrote, numbers and times. */
export type Words = {
  /** By which numbers, dates and lists are written. */
  readonly language: string;
  /** What the language calls itself. */
  readonly name: string;
  readonly openGraph: string;
  readonly languages: string;
  readonly banner: Readonly<Record<Indicator, string>>;
  readonly affected: (count: number, of: number) => string;
  readonly asOf: string;
  readonly stale: string;
  readonly since: string;
  readonly empty: string;
  readonly status: Readonly<Record<ComponentStatus, string>>;
  readonly announcement: string;
  readonly links: string;
  readonly skip: string;
  readonly today: string;
  readonly components: string;
  readonly days: (count: number) => string;
  /** What a row of bars says, by the number of days of each kind but `u`. */
  readonly bar: (count: number, kinds: Readonly<Record<DayLetter, number>>) => string;
  readonly uptime: (percent: string) => string;
  readonly noUptime: string;
  readonly measured: (percent: string) => string;
  readonly legend: string;
  readonly howBarsRead: string;
  readonly legends: Readonly<Record<DayLetter, string>>;
  readonly troubledDays: (count: number) => string;
  readonly latestOf: (shown: number, all: number) => string;
  readonly down: (duration: string) => string;
  readonly degraded: (duration: string) => string;
  readonly maintained: (duration: string) => string;
  readonly responseTime: string;
  readonly responseRange: (least: string, most: string) => string;
  readonly responseDetail: (days: string, latest: string) => string;
  readonly openIncidents: string;
  readonly incident: string;
  readonly incidentTitle: (names: string, impact: IncidentView['impact']) => string;
  readonly incidentStatus: Readonly<Record<UpdateView['status'], string>>;
  readonly impact: Readonly<Record<IncidentView['impact'], string>>;
  readonly began: (names: string) => string;
  readonly ended: (names: string, duration: string | null) => string;
  readonly lasted: (duration: string) => string;
  readonly ongoing: string;
  readonly affects: string;
  readonly updates: string;
  readonly noUpdates: string;
  readonly postmortem: string;
  readonly resolved: string;
  readonly maintenance: string;
  readonly maintenanceStatus: Readonly<Record<MaintenanceView['status'], string>>;
  readonly maintenanceNow: string;
  readonly maintenanceUpcoming: string;
  readonly recentIncidents: string;
  readonly noIncidents: string;
  readonly history: string;
  readonly wholeHistory: string;
  readonly nothingInHistory: string;
  readonly troubles: string;
  readonly incidents: string;
  readonly back: (name: string) => string;
  readonly feeds: string;
  readonly calendar: string;
  readonly subscribe: string;
  readonly subscription: SubscriptionWords;
  /** Before the name of a zone. */
  readonly timesIn: string;
  /** On a button, before the name of the reader's zone. */
  readonly showTimesIn: string;
  readonly poweredBy: string;
};

/** What forms by which somebody subscribes, and changes that, say. */
export type SubscriptionWords = {
  readonly title: (name: string) => string;
  readonly kind: string;
  readonly kinds: Readonly<Record<Exclude<SubscriberKind, RoomChannel>, string>>;
  /** By the name of the service of a room. */
  readonly room: (title: string) => string;
  readonly target: Readonly<Record<'email' | 'url' | 'either', string>>;
  readonly components: string;
  readonly all: string;
  readonly send: string;
  /** What becomes of the address. */
  readonly promise: string;
  readonly wrongTarget: string;
  readonly tooMany: string;
  readonly asked: Said;
  readonly pending: Said;
  readonly active: Said;
  readonly saved: Said;
  readonly over: Said;
  readonly full: Said;
  readonly invalid: Said;
  readonly confirm: string;
  readonly save: string;
  readonly unsubscribe: string;
  readonly again: string;
};

/** A heading, and what stands below it. */
export type Said = readonly [head: string, text: string];
