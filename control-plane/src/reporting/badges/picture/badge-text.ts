import type { BadgeKind } from '@parallax/api-contract';
import type { ComponentStatus, Indicator } from '../../status-pages/index.ts';

/** What a badge tells, as it was read. */
export type BadgeFacts =
  | { readonly kind: 'status'; readonly status: ComponentStatus }
  | { readonly kind: 'page'; readonly indicator: Indicator }
  /** `percent`: cut, never rounded up; null: nothing was measured. */
  | { readonly kind: 'uptime'; readonly percent: number | null; readonly hours: number }
  /** The median; null: nothing was measured. */
  | { readonly kind: 'latency'; readonly ms: number | null; readonly hours: number }
  /** Milliseconds since the epoch; null: no certificate was seen. */
  | { readonly kind: 'certificate'; readonly endsMs: number | null };

/** What a badge says. `isError`: it tells of itself, and not of its subject. */
export type BadgeText = {
  readonly label: string;
  readonly message: string;
  readonly colour: string;
  readonly isError: boolean;
};

/** White text can be read on each of them (contrast of 4.5 at least). */
export const colours = {
  green: '#15803d',
  yellow: '#946200',
  orange: '#c2410c',
  red: '#b91c1c',
  blue: '#1d5fc4',
  grey: '#667080',
} as const;
type Said = readonly [message: string, colour: (typeof colours)[keyof typeof colours]];

const noData: Said = ['no data', colours.grey];

const ofStatus: Readonly<Record<ComponentStatus, Said>> = {
  operational: ['operational', colours.green],
  maintenance: ['maintenance', colours.blue],
  degraded: ['degraded', colours.yellow],
  partial_outage: ['partial outage', colours.orange],
  major_outage: ['major outage', colours.red],
  unknown: noData,
};

const ofIndicator: Readonly<Record<Indicator, Said>> = {
  none: ['all systems operational', colours.green],
  maintenance: ['maintenance', colours.blue],
  minor: ['degraded', colours.yellow],
  major: ['partial outage', colours.orange],
  critical: ['major outage', colours.red],
  unknown: noData,
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** What a badge says of its subject. @param label what its reader calls it; undefined: what it says */
export function textOf(facts: BadgeFacts, label: string | undefined, nowMs: number): BadgeText {
  const [message, colour] = saidOf(facts, nowMs);
  return { label: label ?? labelOf(facts), message, colour, isError: false };
}

const usualLabels: Readonly<Record<BadgeKind, string>> = {
  status: 'status',
  uptime: 'uptime',
  latency: 'response time',
  certificate: 'certificate',
};

/** What a badge without a subject says. @param kind absent: there is no such kind */
export function errorText(kind: BadgeKind | undefined, message: string, label: string | undefined): BadgeText {
  return {
    label: label ?? (kind === undefined ? 'badge' : usualLabels[kind]),
    message,
    colour: colours.grey,
    isError: true,
  };
}

function labelOf(facts: BadgeFacts): string {
  switch (facts.kind) {
    case 'status':
    case 'page':
      return usualLabels.status;
    case 'certificate':
      return usualLabels.certificate;
    case 'uptime':
    case 'latency': {
      const { hours } = facts;
      const time = hours % 24 === 0 && hours > 24 ? `${hours / 24}d` : `${hours}h`;
      return `${usualLabels[facts.kind]} ${time}`;
    }
  }
}

function saidOf(facts: BadgeFacts, nowMs: number): Said {
  switch (facts.kind) {
    case 'status':
      return ofStatus[facts.status];
    case 'page':
      return ofIndicator[facts.indicator];
    case 'uptime':
      return facts.percent === null ? noData : [`${percentText(facts.percent)}%`, colourOfUptime(facts.percent)];
    case 'latency':
      return facts.ms === null ? noData : [timeText(facts.ms), colours.blue];
    case 'certificate':
      return facts.endsMs === null ? noData : certificateText(facts.endsMs - nowMs);
  }
}

/** Cut after two decimals: what lost a second in a year does not read 100. @param percent with four decimals at most */
function percentText(percent: number): string {
  const text = percent.toFixed(4);
  return text.slice(0, text.length - 2).replace(/\.?0+$/, '');
}

function colourOfUptime(percent: number): Said[1] {
  if (percent >= 99.9) return colours.green;
  if (percent >= 99) return colours.yellow;
  return percent >= 95 ? colours.orange : colours.red;
}

function timeText(ms: number): string {
  if (ms < 9.95) return `${Math.round(ms * 10) / 10} ms`;
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

function certificateText(leftMs: number): Said {
  if (leftMs <= 0) return ['expired', colours.red];
  const days = Math.floor(leftMs / dayMs);
  if (days === 0) return ['expires within a day', colours.red];
  const colour = days < 7 ? colours.red : days < 21 ? colours.yellow : colours.green;
  return [`expires in ${days} day${days === 1 ? '' : 's'}`, colour];
}
