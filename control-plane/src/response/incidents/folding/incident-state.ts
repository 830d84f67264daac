import type { incidentStatuses, IncidentResolution } from '@parallax/api-contract';

export type MemberResolution = Exclude<IncidentResolution, 'folded'>;

/** An outage of one subject, as its incident needs it. Times in milliseconds since the epoch. */
export type MemberState = {
  /** `monitor:17`. */
  readonly subject: string;
  /** What an incident is called whose only member it is. */
  readonly title: string;
  readonly startedMs: number;
  /** null while it lasts. */
  readonly endedMs: number | null;
  readonly resolution: MemberResolution | null;
  /** How far apart the onsets of others may be for one cause. */
  readonly windowMs: number;
};

/** What was announced of an incident, and what is to be. */
export type Told = {
  /** Messages so far; 0: nobody knows of it. */
  readonly seq: number;
  readonly atMs: number | null;
  /** Members at the last message. */
  readonly members: number;
  /** When the next message is due; null for none. Nothing is ever told of an incident that has seq 0 and no due time. */
  readonly dueMs: number | null;
  /** Since when its first message is held back by a maintenance. */
  readonly heldMs: number | null;
  /** It was resolved or removed by hand while something failed: its recovery is to be told. */
  readonly awaitsRecovery: boolean;
};

/** An incident with its members. */
export type IncidentState = {
  readonly id: number;
  readonly key: string | null;
  readonly title: string;
  /** Somebody gave it its title. */
  readonly hasOwnTitle: boolean;
  readonly status: (typeof incidentStatuses)[number];
  readonly resolution: IncidentResolution | null;
  readonly isAcknowledged: boolean;
  /** Opened by hand: its times are what people say. */
  readonly isManual: boolean;
  readonly isDeleted: boolean;
  readonly startedMs: number;
  readonly resolvedMs: number | null;
  readonly foldedInto: number | null;
  /** All of them, or those that decide: see `unlisted`. */
  readonly members: readonly MemberState[];
  /** Further members, which decide nothing: how many outages, and of how many subjects that `members` does not name. */
  readonly unlisted: { readonly outages: number; readonly subjects: number };
  readonly told: Told;
};

/** Of all members. */
export const noneUnlisted: IncidentState['unlisted'] = { outages: 0, subjects: 0 };

/** How many outages an incident has. */
export const countMembers = ({ members, unlisted }: Pick<IncidentState, 'members' | 'unlisted'>): number =>
  members.length + unlisted.outages;

/** What is announced of an incident; `reason` says why of an update, and `reset` of an end that a reset of statistics made. */
export type Message = {
  readonly kind: 'opened' | 'updated' | 'resolved' | 'recovered';
  readonly reason?: 'members' | 'reopened' | 'reset';
};

/** Nothing was told and nothing will be. */
export const untold: Told = { seq: 0, atMs: null, members: 0, dueMs: null, heldMs: null, awaitsRecovery: false };
