import type { MonitorStatus } from '@parallax/api-contract';

/** A member of a group monitor as it is stored. */
export type Member = {
  readonly id: number;
  readonly name: string;
  readonly status: MonitorStatus;
  /** Since when it is so, or paused; milliseconds, null where nothing is known yet. */
  readonly sinceMs: number | null;
  readonly isPaused: boolean;
};

export type GroupVerdict = 'UP' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';

/** What the members of a group monitor say together. */
export type GroupDecision = {
  readonly verdict: GroupVerdict;
  readonly up: number;
  /** In the order of the members. */
  readonly failed: readonly Member[];
  /** Paused members, and those of which nothing is known. */
  readonly uncounted: number;
  /** How many had to be up. */
  readonly needed: number;
};

export type Standing = 'up' | 'down' | 'uncounted';

/** How a member counts. WARNING, DEGRADED and PARTIAL are no outage of the member, so they are none of the group. */
export function standingOf({ status, isPaused }: Pick<Member, 'status' | 'isPaused'>): Standing {
  if (isPaused || status === 'UNKNOWN') return 'uncounted';
  return status === 'DOWN' || status === 'TIMEOUT' ? 'down' : 'up';
}

/**
 * The verdict over members: UP while as many are up as are needed and none is down, DEGRADED while some are down. DOWN only when those that
 * are not known could not make up for those that are down; else it is UNKNOWN, which wakes nobody.
 * @param minimumUp as in the settings: undefined needs all that are known; more than there are members needs all of them
 */
export function decideGroup(members: readonly Member[], minimumUp: number | undefined): GroupDecision {
  const standings = members.map(standingOf);
  const up = standings.filter((standing) => standing === 'up').length;
  const uncounted = standings.filter((standing) => standing === 'uncounted').length;
  const failed = members.filter((_, index) => standings[index] === 'down');
  const known = up + failed.length;
  const needed = minimumUp === undefined ? known : Math.min(minimumUp, members.length);
  // Where all that are known are needed, one that is down settles it.
  const mayBeUp = minimumUp === undefined ? 0 : uncounted;
  return { verdict: verdictOf(up, failed.length, mayBeUp, needed), up, failed, uncounted, needed };
}

function verdictOf(up: number, down: number, mayBeUp: number, needed: number): GroupVerdict {
  if (up + down === 0) return 'UNKNOWN';
  if (up >= needed) return down === 0 ? 'UP' : 'DEGRADED';
  return up + mayBeUp >= needed ? 'UNKNOWN' : 'DOWN';
}
