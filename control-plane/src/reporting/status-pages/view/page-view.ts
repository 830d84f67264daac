import type { SubscriberKind } from '@parallax/api-contract';
import type { Locale } from './locale.ts';

/** How a component is, in the words that the public API answers. `unknown`: nothing is known of it yet. */
export const componentStatuses = [
  'operational',
  'maintenance',
  'degraded',
  'partial_outage',
  'major_outage',
  'unknown',
] as const;
export type ComponentStatus = (typeof componentStatuses)[number];

/** How bad it is altogether. `unknown`: nothing is known of any component. */
export const indicators = ['none', 'maintenance', 'minor', 'major', 'critical', 'unknown'] as const;
export type Indicator = (typeof indicators)[number];

/**
 * What a day was, by one letter: `u` up, `d` degraded, `p` down for less than 1 % of what was measured, `x` for more, `m` maintenance for more
 * than half of it, `n` unmeasured for more than a tenth.
 */
export type DayLetter = 'u' | 'd' | 'p' | 'x' | 'm' | 'n';

/** A day on which something was wrong. */
export type TroubledDay = {
  /** In the page's zone, `2026-11-23`. */
  readonly date: string;
  readonly downSeconds: number;
  readonly degradedSeconds: number;
  readonly maintenanceSeconds: number;
  /** Titles of the page's public incidents that touched it. */
  readonly incidents: readonly string[];
};

export type ComponentView = {
  /** Twelve characters. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: ComponentStatus;
  /** Since when it is so; null: not known. Milliseconds since the epoch, as all times here. */
  readonly sinceMs: number | null;
  readonly showsUptime: boolean;
  /** The share of what was measured in the days of the page, cut at two decimals and never rounded up; null: nothing was measured. */
  readonly uptimePercent: number | null;
  /** How much of the time of its days was measured; null: of no time. */
  readonly measuredPercent: number | null;
  /** One letter a day, the oldest first; as long as the days of the page, or empty where uptime is not shown. */
  readonly days: readonly DayLetter[];
  /** The newest first. */
  readonly troubles: readonly TroubledDay[];
  /** The median of the response times of each day in milliseconds, the oldest first; null for a day without any; absent: they are not shown. */
  readonly responseTimesMs?: readonly (number | null)[] | undefined;
};

/** Components under one heading. */
export type SectionView = {
  /** Twelve characters, the same as long as the heading is; null where there is no heading. */
  readonly id: string | null;
  readonly name: string | null;
  readonly status: ComponentStatus;
  readonly components: readonly ComponentView[];
};

export const publicUpdateStatuses = [
  'investigating',
  'identified',
  'monitoring',
  'resolved',
  'note',
  'postmortem',
] as const;

export type UpdateView = {
  /** Twelve characters. */
  readonly id: string;
  readonly status: (typeof publicUpdateStatuses)[number];
  /** Markdown, as it was written; null: the product tells the beginning or the end of an automatic incident, in the reader's language. */
  readonly body: string | null;
  readonly createdMs: number;
  /** The time that is shown. */
  readonly displayMs: number;
  readonly impacts: readonly { readonly componentId: string; readonly status: ComponentStatus }[];
  /** Subscribers are not told of it; absent: they are. */
  readonly isQuiet?: boolean;
};

export type IncidentView = {
  /** Twelve characters. */
  readonly id: string;
  /** What somebody has called it for the public; null: the names of its components, in the reader's language. */
  readonly title: string | null;
  readonly status: 'investigating' | 'identified' | 'monitoring' | 'resolved' | 'postmortem';
  readonly impact: 'none' | 'minor' | 'major' | 'critical';
  readonly isAutomatic: boolean;
  readonly startedMs: number;
  readonly resolvedMs: number | null;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly componentIds: readonly string[];
  readonly componentNames: readonly string[];
  /** The newest first. */
  readonly updates: readonly UpdateView[];
  /** Markdown; null: none is public. */
  readonly postmortem: string | null;
  /** Since when the postmortem is public, where subscribers are to be told of it. */
  readonly postmortemNewsMs?: number;
};

export type MaintenanceView = {
  /** Twelve characters, of this occurrence. */
  readonly id: string;
  /** Null: its word alone is public. */
  readonly title: string | null;
  /** Markdown. */
  readonly text: string | null;
  readonly status: 'scheduled' | 'in_progress' | 'completed';
  readonly startsMs: number;
  readonly endsMs: number;
  readonly updatedMs: number;
  readonly componentIds: readonly string[];
  readonly componentNames: readonly string[];
};

/** Colours of a page in one scheme, `#rrggbb`. */
export type PageColours = {
  readonly background?: string | undefined;
  readonly surface?: string | undefined;
  readonly text?: string | undefined;
  readonly accent?: string | undefined;
};

export type PageTheme = {
  /** Which scheme a reader sees: that of their system, or always the one. */
  readonly scheme: 'system' | 'light' | 'dark';
  readonly light: PageColours;
  readonly dark: PageColours;
  readonly font: 'system' | 'serif' | 'mono';
  /** The radius of corners, in pixels, 0 to 24. */
  readonly radius: number;
};

/** A picture of a page, without its bytes. */
export type PageFile = {
  /** Thirty-two hexadecimal digits that are those of its bytes: part of its address. */
  readonly hash: string;
  readonly type: 'png' | 'webp' | 'svg';
  /** In pixels; null: an SVG that names no size. */
  readonly width: number | null;
  readonly height: number | null;
};

export type PageFiles = {
  readonly logoLight: PageFile | null;
  readonly logoDark: PageFile | null;
  readonly favicon: PageFile | null;
};

/** All that a page tells, as plain data: every form of it (HTML, JSON, feeds, calendar) is made of this alone. It holds nothing that is not public. */
export type PageView = {
  /** Twelve characters. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly slug: string;
  /** Where the page is, without a slash at its end: at its own domain once that is verified. */
  readonly url: string;
  /** Its path at the installation, where `url` names a domain of its own. */
  readonly installationPath?: string | undefined;
  /** Its pictures. */
  readonly files?: PageFiles | undefined;
  readonly noindex: boolean;
  readonly locale: Locale;
  readonly locales: readonly Locale[];
  readonly timezone: string;
  /** How many days its bars have. */
  readonly dayCount: 30 | 60 | 90;
  /** The date of the last day of the bars, in the page's zone: `2026-11-27`. */
  readonly lastDate: string;
  readonly theme: PageTheme;
  readonly links: readonly { readonly label: string; readonly url: string }[];
  /** Markdown. */
  readonly announcement: string | null;
  /** Origins whose pages may frame the card: `https://shop.example`. */
  readonly embedOrigins: readonly string[];
  /** By which ways it can be subscribed to; empty: it cannot. */
  readonly subscribe: readonly SubscriberKind[];
  /** When the page was created. */
  readonly createdMs: number;
  /** When this view was read. */
  readonly madeMs: number;
  /** When the last thing that it tells has changed. */
  readonly updatedMs: number;
  readonly indicator: Indicator;
  readonly sections: readonly SectionView[];
  /** Public incidents, the newest first: all that are open, and at most fifty. */
  readonly incidents: readonly IncidentView[];
  /** Under way and upcoming, the earliest first, then what was completed in the last 30 days, the newest first; at most fifty. */
  readonly maintenance: readonly MaintenanceView[];
};
