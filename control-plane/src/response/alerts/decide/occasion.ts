import type { AlertTarget, Severity } from '../alert.ts';

export const changeKinds = ['opened', 'updated', 'acknowledged', 'resolved', 'recovered'] as const;

/** A change of an occasion that nobody has decided on. */
export type Change = {
  readonly seq: number;
  readonly kind: (typeof changeKinds)[number];
  readonly reason: string | null;
};

/** A subject of an occasion, with what scopes and events are matched by. */
export type OccasionSubject = {
  readonly type: string;
  readonly id: number;
  /** What alerts want it by: `monitor.down`, `heartbeat.missed` … */
  readonly event: string;
  /** Its own and those of its groups. */
  readonly tags: readonly string[];
  readonly groupIds: readonly number[];
};

/** What there is to tell, as decisions see it. Times are milliseconds since the epoch. */
export type Occasion = {
  readonly event: string;
  readonly severity: Severity;
  /** It has an end. */
  readonly isLasting: boolean;
  /** Its onset, and when it became known that it is a problem; the latter again when it reopens. */
  readonly startedMs: number;
  readonly openedMs: number;
  readonly endedMs: number | null;
  readonly resolution: string | null;
  readonly isAcknowledged: boolean;
  /** By which change it last became a problem. */
  readonly problemSeq: number;
  readonly seq: number;
  readonly pending: readonly Change[];
  readonly subjects: readonly OccasionSubject[];
  /** A maintenance covers all that lasts of it. */
  readonly isUnderMaintenance: boolean;
  /** Its subject changes too often to be told of each time. */
  readonly isFlapping: boolean;
  /** What was to be told once is no longer so, as an end that was moved: what is held of it is not told. */
  readonly isObsolete: boolean;
};

/** What a target was told of an occasion. */
export type Told = {
  readonly alertId: number;
  readonly ownerId: number;
  readonly target: AlertTarget;
  /** `none`: nothing yet, or what was queued was withdrawn. */
  readonly state: 'none' | 'problem' | 'over';
  readonly problemSeq: number;
  /** The highest step that told it. */
  readonly step: number;
  readonly reminders: number;
  /** Changes up to this number were told, or need not be. */
  readonly toldSeq: number;
  readonly lastMs: number | null;
  /** The first message of this problem: queued, delivered, given up. */
  readonly queuedMs: number | null;
  readonly sentMs: number | null;
  readonly lostMs: number | null;
  readonly heldMs: number | null;
  readonly heldBy: string | null;
  readonly snoozedUntilMs: number | null;
};

/** What is told of an occasion itself; digests are made later. */
export const notificationKinds = [
  'opened',
  'updated',
  'reminder',
  'escalated',
  'acknowledged',
  'resolved',
  'recovered',
  'was_down',
  'all_clear',
  'information',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** That a target is told one thing of an occasion, or why it is not. `(kind, seq)` is told to it once. */
export type Decided = {
  readonly targetKey: string;
  readonly target: AlertTarget;
  readonly ownerId: number;
  readonly alertId: number;
  readonly kind: NotificationKind;
  readonly seq: number;
  readonly status: 'held' | 'queued' | 'suppressed' | 'deduplicated';
  readonly reason: string | null;
  /** Held: until when, where that is known. */
  readonly untilMs: number | null;
  /** It was held in quiet hours. */
  readonly afterQuiet: boolean;
};
