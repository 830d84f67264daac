import type { Locale } from './locale.ts';

/** What a message is about to its reader. */
export const messageKinds = [
  'opened',
  'updated',
  'reminder',
  'escalated',
  'acknowledged',
  'resolved',
  'all_clear',
  'information',
  'digest',
  'test',
] as const;
export type MessageKind = (typeof messageKinds)[number];

/** How the thing that a message is about stands: services that keep open alarms open one, close it, or do neither. */
export type MessageState = 'problem' | 'recovered' | 'information';

/** A line of facts: "Since — 14:03 (12 minutes)". Both are plain text. */
export type Fact = { readonly label: string; readonly value: string };

/** A page that a reader may open; nothing happens by opening it. */
export type MessageLink = {
  readonly purpose: 'open' | 'acknowledge' | 'snooze' | 'unsubscribe';
  readonly label: string;
  /** Absolute, http or https. */
  readonly url: string;
};

/**
 * One message to one target, in the reader's language and zone. Every text in it is plain: no markup, no control characters but line breaks in
 * `sections`, bidirectional marks isolated. Channels lay it out and escape it for what they send; none of them says anything of its own.
 */
export type Message = {
  /** The same however often this message is sent: what receivers tell repetitions by. At most 100 characters of [A-Za-z0-9._:-]. */
  readonly id: string;
  /** The same for all messages about one thing, from its first to its end: the dedup key of services that have one. The same alphabet. */
  readonly subjectKey: string;
  readonly kind: MessageKind;
  readonly state: MessageState;
  readonly severity: 'minor' | 'major' | 'critical';
  readonly locale: Locale;
  /** IANA zone in which times are written. */
  readonly timezone: string;
  /** When it was decided that this is told; ISO 8601. */
  readonly at: string;
  /** When what it is about began, where that is one thing; ISO 8601. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** What happened, in one line of at most 200 characters: "Shop is down". */
  readonly title: string;
  /** The one or two sentences that matter at three in the morning, at most 600 characters. */
  readonly summary: string;
  /** In the order of their weight, at most 12. */
  readonly facts: readonly Fact[];
  /** Longer parts: who saw what, the lines of a digest. At most 8, each of at most 25 lines. */
  readonly sections: readonly { readonly heading: string; readonly lines: readonly string[] }[];
  readonly links: readonly MessageLink[];
  readonly workspace: { readonly id: number; readonly name: string };
  /** What it is about, the first 20; empty of a test. `type`: monitor, heartbeat, webhook_check, probe, incident, maintenance. */
  readonly subjects: readonly { readonly type: string; readonly id: number; readonly name: string }[];
  readonly subjectCount: number;
  /** The same facts for machines: the body of a webhook. Plain JSON, snake_case, at most 16 KiB. */
  readonly data: Readonly<Record<string, unknown>>;
};
