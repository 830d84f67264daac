import type { Locale } from './locale.ts';
import type { Message } from './message.ts';

/** A notice is what the engine decided to tell one target, in plain data; `compose.ts` makes the message of it. All times are ISO 8601. */
export type Notice = {
  /** As `Message.id` and `Message.subjectKey`. */
  readonly id: string;
  readonly subjectKey: string;
  readonly severity: Message['severity'];
  readonly locale: Locale;
  readonly timezone: string;
  /** When it was decided that this is told. */
  readonly at: string;
  readonly workspace: { readonly id: number; readonly name: string };
  /** The alert that wanted it first; null of a notice that no alert wanted. */
  readonly alert: { readonly id: number; readonly name: string } | null;
  readonly links: NoticeLinks;
  readonly about: NoticeAbout;
};

/** Absolute addresses of pages; null where there is none. */
export type NoticeLinks = {
  /** The page of what it is about. */
  readonly open: string | null;
  readonly acknowledge: string | null;
  readonly snooze: string | null;
  readonly unsubscribe: string | null;
};

export type NoticeAbout =
  | IncidentNotice
  | StatusNotice
  | ExpiryNotice
  | DnsblNotice
  | ProbeNotice
  | FlappingNotice
  | AllClearNotice
  | DigestNotice
  | QuietEndNotice
  | TestNotice;

export type SubjectType = 'monitor' | 'heartbeat' | 'webhook_check';
export type NoticeSubject = { readonly type: SubjectType; readonly id: number; readonly name: string };

/** What one probe got. `code` is one of the error codes of checks; `text` is the check's own sentence, which may hold anything. */
export type NoticeVote = {
  readonly probe: string;
  /** Null of the control plane itself. */
  readonly region: string | null;
  readonly vote: 'UP' | 'DEGRADED' | 'WARNING' | 'DOWN' | 'TIMEOUT';
  readonly code: string | null;
  readonly text: string | null;
  readonly since: string | null;
  readonly responseTimeMs: number | null;
};

/** An outage within an incident. What a kind of subject does not have is null or empty. */
export type NoticeMember = NoticeSubject & {
  /** What is checked, as people know it: a URL, a host. */
  readonly target: string | null;
  /** Null of what a person says. */
  readonly status: 'DOWN' | 'TIMEOUT' | 'missed' | 'failed' | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly votes: readonly NoticeVote[];
  readonly nextCheckAt: string | null;
  /** Of a heartbeat or a webhook check: when it was heard of last, and when the next signal was due. */
  readonly lastSignalAt: string | null;
  readonly expectedAt: string | null;
  readonly exitCode: number | null;
  /** What it said of itself: the body of a ping, the rule that spoke. */
  readonly text: string | null;
};

export type IncidentNotice = {
  readonly about: 'incident';
  /**
   * Why it is told. `members`: more joined; `reopened`: it was not over; `changed`: title, severity or status; `update`: somebody wrote one;
   * `reminder`: it still lasts; `escalated`: nobody has acknowledged; `recovered`: what a person resolved is well; `was_down`: it began and ended
   * before it could be told.
   */
  readonly step:
    | 'opened'
    | 'members'
    | 'reopened'
    | 'changed'
    | 'update'
    | 'reminder'
    | 'escalated'
    | 'acknowledged'
    | 'resolved'
    | 'recovered'
    | 'was_down';
  readonly incidentId: number;
  /** As the incident stands; shown of those that a person opened, others are named by their members. */
  readonly title: string;
  readonly isManual: boolean;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** The first 20. */
  readonly members: readonly NoticeMember[];
  readonly memberCount: number;
  /** Who acknowledged or resolved it, as the workspace may see them; null: nobody, or by itself. */
  readonly by: string | null;
  readonly acknowledgedAt: string | null;
  /** Of an update: what was written. */
  readonly text: string | null;
  /** Of a reminder and of an escalation: which one it is, from 1; else 0. */
  readonly count: number;
  /** Why it was resolved. `corrected`: later results show that there was no outage. */
  readonly resolution: 'auto' | 'manual' | 'corrected' | null;
};

/** A status that is no incident begins, is reminded of, or ends. */
export type StatusNotice = {
  readonly about: 'status';
  readonly step: 'began' | 'reminder' | 'ended';
  readonly status: 'DEGRADED' | 'PARTIAL' | 'WARNING' | 'UNKNOWN';
  readonly subject: NoticeSubject;
  readonly target: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly votes: readonly NoticeVote[];
  readonly nextCheckAt: string | null;
  readonly count: number;
};

export type ExpiryNotice = {
  readonly about: 'expiry';
  readonly what: 'certificate' | 'domain';
  readonly subject: NoticeSubject;
  readonly target: string | null;
  /** When it ends or has ended. */
  readonly notAfter: string;
  readonly thresholdDays: number;
};

export type DnsblNotice = {
  readonly about: 'dnsbl';
  readonly step: 'listed' | 'delisted';
  readonly subject: NoticeSubject;
  readonly target: string | null;
  /** The name of the list: `zen.spamhaus.org`. */
  readonly provider: string;
  readonly startedAt: string;
};

export type ProbeNotice = {
  readonly about: 'probe';
  readonly step: 'offline' | 'online' | 'quarantined' | 'released';
  readonly probe: { readonly id: number; readonly name: string; readonly region: string | null };
  readonly startedAt: string;
  readonly endedAt: string | null;
};

export type FlappingNotice = {
  readonly about: 'flapping';
  readonly step: 'began' | 'ended';
  readonly subject: NoticeSubject;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** As it stands at the end; null: not known. */
  readonly status: string | null;
};

/** Outages that began and ended inside a maintenance. */
export type AllClearNotice = {
  readonly about: 'all_clear';
  readonly maintenance: { readonly id: number; readonly name: string };
  readonly endedAt: string;
  /** The first 20 titles. */
  readonly incidents: readonly { readonly id: number; readonly title: string }[];
  readonly incidentCount: number;
};

/** A line of a digest: what is so, and since when; `endedAt` of what is over. */
export type DigestLine = {
  readonly subject:
    | NoticeSubject
    | { readonly type: 'probe' | 'incident' | 'maintenance'; readonly id: number; readonly name: string };
  /** What is or was the matter, in the engine's words for it. */
  readonly matter:
    | 'down'
    | 'timeout'
    | 'missed'
    | 'failed'
    | 'degraded'
    | 'partial'
    | 'warning'
    | 'unknown'
    | 'certificate'
    | 'domain'
    | 'listed'
    | 'offline'
    | 'flapping'
    | 'incident';
  readonly startedAt: string;
  readonly endedAt: string | null;
};

/** In place of more messages than a person reads. Counts are of all, lines the first 20. */
export type DigestNotice = {
  readonly about: 'digest';
  readonly problems: readonly DigestLine[];
  readonly problemCount: number;
  readonly recoveries: readonly DigestLine[];
  readonly recoveryCount: number;
};

/** At the end of quiet hours: what still holds, and what is over. Counts are of all, lines the first 20. */
export type QuietEndNotice = {
  readonly about: 'quiet_end';
  readonly still: readonly DigestLine[];
  readonly stillCount: number;
  readonly over: readonly DigestLine[];
  readonly overCount: number;
};

export type TestNotice = {
  readonly about: 'test' /** Who asked for it, as the workspace may see them. */;
  readonly by: string | null;
};
