import { decideGroup, standingOf } from './decide.ts';
import type { Member } from './decide.ts';

/** What was seen of the members of a group monitor, and what its result was dated to. */
export type GroupLook = {
  readonly members: readonly Member[];
  readonly minimumUp: number | undefined;
};

/** The last look that gave a result. */
export type FormerLook = GroupLook & { readonly effectiveMs: number };

/**
 * When the present verdict began: an outage is dated to the change of the member that made it, however late that was noticed, but never to
 * before the last result, which said otherwise. The members are taken from what they were to what they are in the order of their changes; the
 * verdict began with the first change from which on it is the present one.
 * @param former undefined: nothing was seen before under this configuration
 * @param nowMs when the members were read
 * @returns milliseconds; `nowMs` where the verdict is as before or nothing tells when it began
 */
export function onsetOf(former: FormerLook | undefined, present: GroupLook, nowMs: number): number {
  if (former === undefined) return nowMs;
  const { verdict } = decideGroup(present.members, present.minimumUp);
  if (decideGroup(former.members, former.minimumUp).verdict === verdict) return nowMs;
  const members = new Map(former.members.map((member) => [member.id, member]));
  const changed = present.members.filter((member) => {
    const before = members.get(member.id);
    return before === undefined || standingOf(before) !== standingOf(member);
  });
  // Members that joined or left have no time of their own: their change is of now.
  if (changed.length === 0 || members.size !== present.members.length) return nowMs;
  const atOf = (member: Member): number => (members.has(member.id) ? (member.sinceMs ?? nowMs) : nowMs);
  const steps = changed.map((member) => ({ member, atMs: atOf(member) })).sort((one, other) => one.atMs - other.atMs);
  let onsetMs: number | undefined;
  for (const { member, atMs } of steps) {
    members.set(member.id, member);
    if (decideGroup([...members.values()], present.minimumUp).verdict !== verdict) onsetMs = undefined;
    else onsetMs ??= atMs;
  }
  // A result has an instant of its own: the next one is later, by the microsecond that is the grain of times.
  return Math.min(nowMs, Math.max(onsetMs ?? nowMs, former.effectiveMs + 0.001));
}
