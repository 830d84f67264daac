import type { CheckOutcome } from '@parallax/checks';
import { decideGroup } from './decide.ts';
import type { GroupDecision, Member } from './decide.ts';
import type { GroupLook } from './onset.ts';

/** A fact of the evidence has at most 500 characters. */
const maxNames = 500;

/** What a look at the members of a group monitor is as the result of a check; it took no time, so it has no response time. */
export function outcomeOf(look: GroupLook): CheckOutcome {
  const decision = decideGroup(look.members, look.minimumUp);
  const evidence = { details: detailsOf(look, decision) };
  const common = { total: 0, phases: {}, evidence };
  switch (decision.verdict) {
    case 'UP':
      return { ...common, outcome: 'ok' };
    case 'DEGRADED':
      return { ...common, outcome: 'slow', code: 'members_down', message: messageOf(look, decision) };
    case 'DOWN':
      return { ...common, outcome: 'fail', source: 'target', code: 'members_down', message: messageOf(look, decision) };
    case 'UNKNOWN':
      // It ends the vote at once, and says nothing about the members.
      return { ...common, outcome: 'probe_error', source: 'probe', code: 'members_unknown', message: unknownOf(look) };
  }
}

/** The members one by one, for a person. */
export function traceOf(look: GroupLook): { readonly atMs: number; readonly step: string; readonly detail: string }[] {
  return look.members.map((member) => ({ atMs: 0, step: 'member', detail: stateOf(member) }));
}

function stateOf({ id, name, status, sinceMs, isPaused }: Member): string {
  const since = sinceMs === null ? '' : ` since ${new Date(sinceMs).toISOString()}`;
  return `monitor ${id} "${name}" is ${isPaused ? 'paused' : status}${since}`;
}

function detailsOf(look: GroupLook, { up, failed, uncounted, needed }: GroupDecision) {
  return {
    members: look.members.length,
    up,
    down: failed.length,
    unknown: uncounted,
    minimum_up: needed,
    ...(failed.length > 0 && { failed: namesOf(failed), failed_ids: idsOf(failed) }),
  };
}

function messageOf(look: GroupLook, { up, failed, needed }: GroupDecision): string {
  const enough = up >= needed ? 'enough' : 'too few';
  return `${up} of ${look.members.length} members are up, ${needed} are needed: ${enough}. Down: ${namesOf(failed)}`;
}

function unknownOf(look: GroupLook): string {
  if (look.members.length === 0) return 'The group has no members.';
  return 'Of too few members it is known whether they are up: others are paused or UNKNOWN.';
}

function namesOf(members: readonly Member[]): string {
  return shortened(members.map(({ name }) => name));
}

function idsOf(members: readonly Member[]): string {
  return shortened(members.map(({ id }) => String(id)));
}

/** As many as there is room for; the others are counted. */
function shortened(items: readonly string[]): string {
  const room = maxNames - 20;
  let text = '';
  for (const [index, item] of items.entries()) {
    const longer = index === 0 ? item : `${text}, ${item}`;
    if (longer.length > room) return `${text.slice(0, room)} and ${items.length - index} more`;
    text = longer;
  }
  return text;
}
