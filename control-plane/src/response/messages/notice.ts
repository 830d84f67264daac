import type { Locale } from './locale.ts';

/** What is told. `was_down`: of a problem that was over before anybody could be told. `after_quiet`: what came together in quiet hours. */
export const noticeKinds = [
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
  'digest',
  'after_quiet',
  'test',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/**
 * What one message is to say, before words are made of it: plain data, with names and texts of others as they are. Times are milliseconds since
 * the epoch. Links are absolute.
 */
export type Notice = {
  /** The same however often it is sent. */
  readonly id: string;
  /** The same for all that is said of one thing; of a digest its own. */
  readonly subjectKey: string;
  readonly kind: NoticeKind;
  /** When it was decided that this is told. */
  readonly atMs: number;
  readonly locale: Locale;
  /** IANA zone. */
  readonly timezone: string;
  readonly workspace: { readonly id: number; readonly name: string };
  /** What it is about; null of a digest, an end of quiet hours and a test. */
  readonly occasion: NoticeOccasion | null;
  /** The how many-th reminder, from 1; null of others. */
  readonly reminder: number | null;
  /** Which step of the escalation, from 1 for the second; null of others. */
  readonly step: number | null;
  /** Why an update is told: members joined, it opened again, somebody wrote or changed something; null of others. */
  readonly update: {
    readonly reason: 'members' | 'reopened' | 'update' | 'changed';
    readonly text: string | null;
  } | null;
  /** Of a digest and an end of quiet hours; null of others. */
  readonly digest: NoticeDigest | null;
  /** Name of the alert that wants it; null of a digest. */
  readonly alertName: string | null;
  /** Pages; null where there is none. */
  readonly links: {
    readonly open: string | null;
    readonly acknowledge: string | null;
    readonly snooze: string | null;
    readonly unsubscribe: string | null;
  };
};

/** What there is to tell, as it is when the message is made. */
export type NoticeOccasion = {
  /** A name of `alertEvents`: `monitor.down`, `certificate.expiring` … */
  readonly event: string;
  readonly incidentId: number | null;
  readonly severity: 'minor' | 'major' | 'critical';
  /** English, as the incident is called or the subject is named; messages make their own title where they know the event. */
  readonly title: string;
  /** The title that somebody gave an incident that the checks opened; null where nobody did. */
  readonly ownTitle: string | null;
  readonly startedMs: number;
  readonly endedMs: number | null;
  /**
   * How it ended: auto, manual, paused, corrected, deleted, folded, reset; null while it lasts. `removed`: a person removed the incident, and what it is
   * about may last.
   */
  readonly resolution: string | null;
  readonly isAcknowledged: boolean;
  /** Opened by a person. */
  readonly isManual: boolean;
  /** Who acknowledged, resolved or removed it, where that is known. */
  readonly by: string | null;
  /** What whoever resolved it by hand wrote at that; null where nobody did. */
  readonly closing: string | null;
  /** The first 20, in the order of their onsets. */
  readonly subjects: readonly NoticeSubject[];
  readonly subjectCount: number;
  /** Who looked at the first subject, and what each of them got; empty where nobody votes. */
  readonly votes: readonly NoticeVote[];
  /** Probes that were asked and did not say anything. */
  readonly missing: readonly string[];
  /** What a subject told of itself: text of a failed job, its exit code; null where nothing was told. */
  readonly said: string | null;
  /** When it is looked at next; null: not known. */
  readonly nextCheckMs: number | null;
  /** What belongs to the event. */
  readonly details: NoticeDetails;
};

export type NoticeSubject = {
  /** monitor, heartbeat, webhook_check, probe, maintenance. */
  readonly type: string;
  readonly id: number;
  readonly name: string;
  /** DOWN, TIMEOUT, missed, failed …; null where it is not known. */
  readonly status: string | null;
  readonly startedMs: number;
  readonly endedMs: number | null;
};

export type NoticeVote = {
  /** Its name; empty for the control plane, which checks while there is no probe. */
  readonly probe: string;
  readonly region: string | null;
  /** UP, DOWN, TIMEOUT, DEGRADED. */
  readonly vote: string;
  /** Stable code of the check's error: `connect_refused`; null where there is none. */
  readonly code: string | null;
  /** The check's own English sentence; null where none was kept. */
  readonly text: string | null;
};

export type NoticeDetails = {
  /** certificate.expiring, domain.expiring. */
  readonly notAfterMs?: number;
  readonly thresholdDays?: number;
  /** dnsbl.listed: the list. */
  readonly provider?: string;
  /** probe.*: where it stands, and why it is in quarantine. */
  readonly region?: string;
  readonly reason?: string;
  /** maintenance.all_clear: titles of the first 20 incidents inside, and how many there were. */
  readonly incidents?: readonly string[];
  readonly incidentCount?: number;
};

/** Many things in one message. */
export type NoticeDigest = {
  readonly count: number;
  /** How many of them last, and how many are over. */
  readonly lasting: number;
  readonly over: number;
  /** The first 20: those that last first. */
  readonly lines: readonly NoticeLine[];
};

export type NoticeLine = {
  readonly event: string;
  readonly severity: 'minor' | 'major' | 'critical';
  /** English title of the occasion. */
  readonly title: string;
  /** Name of its first subject, and how many it has; null and 0 where it has none. */
  readonly name: string | null;
  readonly subjectCount: number;
  readonly startedMs: number;
  /** null: it lasts, or has no end. */
  readonly endedMs: number | null;
  readonly url: string | null;
};
