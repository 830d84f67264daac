import type { DownReason } from '@parallax/api-contract';
import type { Locale } from '../locale.ts';

/** What can be the matter with something. `not_received`: a webhook check got nothing in time; `incident`: what a person opened. */
export type Matter =
  | 'down'
  | 'timeout'
  | 'missed'
  | 'not_received'
  | 'failed'
  | 'degraded'
  | 'partial'
  | 'warning'
  | 'unknown'
  | 'flapping'
  | 'certificate'
  | 'domain'
  | 'listed'
  | 'offline'
  | 'quarantined'
  | 'incident';

/** `again`: after it was said to be over; `still`: a reminder. */
export type Manner = 'now' | 'again' | 'still';

/** Things that are counted. `check`: of several kinds. */
export type Counted = 'monitor' | 'heartbeat' | 'webhook_check' | 'check';

/** A duration as parts that are not 0, at most two: `['d', 3], ['h', 4]`. */
export type DurationParts = readonly (readonly ['d' | 'h' | 'min' | 's', number])[];

/** Several of one thing: all of them are counted, the first are named. */
export type Many = { readonly count: number; readonly counted: Counted; readonly names: readonly string[] };

/** Who saw a problem: names are ready to be shown, numbers are of all probes; nobody else was asked where the control plane checks alone. */
export type Seen = { readonly probes: readonly string[]; readonly failing: number; readonly asked: number };

/**
 * Every sentence of messages in one language. Names that are passed are plain and isolated already; what is returned is one line. Sentences end in a full
 * stop, titles and labels do not.
 */
export type Words = {
  readonly locale: Locale;
  /** By which dates are written: BCP 47. */
  readonly dates: string;
  readonly unnamed: string;
  readonly controlPlane: string;
  readonly reasons: Readonly<Record<string, string>>;

  readonly list: (names: readonly string[], more: number) => string;
  readonly more: (count: number) => string;
  /** By itself: "12 minutes". */
  readonly duration: (parts: DurationParts) => string;
  /** "14:03 (12 minutes)". */
  readonly withDuration: (time: string, parts: DurationParts) => string;

  readonly problem: (name: string, matter: Matter, manner: Manner) => string;
  readonly problems: (many: Many, manner: Manner) => string;
  readonly ended: (name: string, matter: Matter) => string;
  readonly endedMany: (many: Many) => string;
  /** What was so, without how long. */
  readonly past: (name: string, matter: Matter) => string;
  readonly was: (name: string, matter: Matter, parts: DurationParts) => string;
  readonly wasMany: (many: Many) => string;
  /** "in 7 days"; without parts: it has ended. */
  readonly expiry: (name: string, what: 'certificate' | 'domain', parts: DurationParts | null) => string;
  readonly listed: (name: string, provider: string, isListed: boolean) => string;
  readonly probe: (name: string, what: 'offline' | 'online' | 'quarantined' | 'released') => string;
  readonly flapping: (name: string, isFlapping: boolean) => string;

  readonly titles: {
    readonly reminder: (title: string, parts: DurationParts) => string;
    readonly escalated: (title: string) => string;
    readonly acknowledged: (title: string) => string;
    readonly updated: (title: string) => string;
    readonly joined: (title: string) => string;
    readonly closed: (title: string) => string;
    readonly removed: (title: string) => string;
    readonly corrected: (title: string) => string;
    readonly allClear: (maintenance: string) => string;
    readonly digest: (lasting: number, over: number) => string;
    readonly afterQuiet: (lasting: number, over: number) => string;
    readonly test: string;
  };
  readonly sentences: {
    readonly seenFrom: (seen: Seen) => string;
    readonly silent: (probes: string) => string;
    readonly reason: (reason: string) => string;
    readonly exited: (code: string) => string;
    readonly joined: string;
    readonly reopened: string;
    readonly changed: string;
    readonly update: (text: string) => string;
    readonly reminder: (count: number, isAcknowledged: boolean) => string;
    readonly escalated: (step: number) => string;
    readonly acknowledged: (by: string | null) => string;
    readonly lasted: (parts: DurationParts) => string;
    readonly closedBy: (by: string | null) => string;
    /** The words with which it was resolved, isolated and cut. */
    readonly closing: (text: string) => string;
    readonly paused: string;
    readonly deleted: string;
    readonly reset: string;
    /** A person removed the incident; `still` says that what it is about lasts, null where nobody measures that. */
    readonly removedBy: (by: string | null, still: string | null) => string;
    readonly folded: string;
    readonly corrected: string;
    readonly recovered: string;
    readonly recoveredRemoved: string;
    readonly wasDown: string;
    readonly allClear: (count: number) => string;
    readonly certificate: (date: string) => string;
    readonly certificateEnded: (date: string) => string;
    readonly domain: (date: string) => string;
    readonly domainEnded: (date: string) => string;
    readonly listed: (provider: string) => string;
    readonly delisted: (provider: string) => string;
    readonly offline: string;
    readonly online: string;
    readonly quarantined: string;
    readonly released: string;
    readonly flapping: string;
    readonly stable: string;
    readonly digest: (count: number) => string;
    readonly afterQuiet: string;
    readonly test: string;
  };
  /** Why a heartbeat is down, where no signal tells more. */
  readonly downReasons: Readonly<Record<DownReason, string>>;
  /** What is known of a matter where no probe gives a reason. */
  readonly explanations: Readonly<Partial<Record<Matter, string>>>;
  readonly labels: {
    readonly since: string;
    readonly began: string;
    readonly ended: string;
    readonly lasted: string;
    readonly reason: string;
    readonly said: string;
    readonly nextCheck: string;
    readonly severity: string;
    readonly acknowledgedBy: string;
    readonly resolvedBy: string;
    readonly expires: string;
    readonly expired: string;
    readonly blocklist: string;
    readonly region: string;
    readonly maintenance: string;
    readonly alert: string;
    readonly workspace: string;
  };
  readonly headings: {
    readonly probes: string;
    readonly subjects: string;
    readonly lasting: string;
    readonly over: string;
    readonly outages: string;
    readonly text: string;
  };
  readonly severities: Readonly<Record<'minor' | 'major' | 'critical', string>>;
  /** What a probe got, where it has no reason. */
  readonly votes: Readonly<Record<string, string>>;
  /** A line of a digest: what is, since when or for how long. */
  readonly lineLasting: (title: string, since: string) => string;
  readonly lineOver: (title: string, parts: DurationParts) => string;
  readonly links: Readonly<Record<'open' | 'acknowledge' | 'snooze' | 'unsubscribe', string>>;
  readonly openIncident: string;
};
