import type { Locale } from '../messages/index.ts';

export const severities = ['minor', 'major', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** Whom a step tells, as it is stored: JSON in snake_case. */
export type AlertTarget = {
  readonly channel: string;
  /** A configuration of the alert's owner; null of channels that need none. */
  readonly config_id: number | null;
  readonly target: string;
  /** Its own language; null: that of the alert's owner when a message is sent. */
  readonly locale: Locale | null;
  /** Its own IANA zone; null as above. */
  readonly timezone: string | null;
};

/** A step of the escalation. */
export type AlertStep = {
  /** 0 to 86,400, rising from step to step; counted from when it was to be told first. */
  readonly after_seconds: number;
  /** 1 to 20. */
  readonly targets: readonly AlertTarget[];
};

/** A part of the week by the clock on the wall. An end that is not after the start is on the next day; `days` name the day of the start. */
export type QuietWindow = {
  /** 1 (Monday) to 7. */
  readonly days: readonly number[];
  /** `HH:MM`, 00:00 to 23:59. */
  readonly start: string;
  readonly end: string;
};

export type QuietHours = {
  readonly windows: readonly QuietWindow[];
  /** IANA zone. */
  readonly timezone: string;
  /** What is at least as severe is told all the same; null: nothing is. */
  readonly except_severity: Severity | null;
};

/** What a scope covers. */
export type AlertScope = {
  readonly all: boolean;
  readonly tags: readonly string[];
  readonly monitorIds: ReadonlySet<number>;
  readonly groupIds: ReadonlySet<number>;
  readonly heartbeatIds: ReadonlySet<number>;
  readonly webhookCheckIds: ReadonlySet<number>;
};

/** An active alert as decisions read it. Times are milliseconds since the epoch. */
export type Alert = {
  readonly id: number;
  readonly workspaceId: number;
  readonly ownerId: number;
  readonly name: string;
  readonly scope: AlertScope;
  readonly events: ReadonlySet<string>;
  readonly steps: readonly AlertStep[];
  readonly failover: AlertTarget | null;
  readonly minDurationSeconds: number;
  readonly reminderIntervalSeconds: number | null;
  readonly quietHours: QuietHours | null;
  readonly mutedUntilMs: number | null;
  readonly notifyOnRecovery: boolean;
  /** When it was made, switched on or its scope widened. */
  readonly activeSinceMs: number;
};
