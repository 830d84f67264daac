import type { Electorate } from './decide.ts';
import type { PreparedInputs } from './prepared-inputs.ts';
import { mayBeAsked, overdue, recheckEveryUs, recheckYoungerThanUs, secondOpinions, stillFailing } from './rechecks.ts';
import type { Candidate } from './rechecks.ts';
import type { RecheckWish } from './types.ts';
import type { VoterSlot } from './voter-slot.ts';
import type { VoterState } from './voter-state.ts';

/** What the planner sees of a fold. */
export type Scene = {
  readonly inputs: PreparedInputs;
  readonly electorate: Electorate;
  readonly slotOf: (voter: number) => VoterSlot;
  readonly slots: readonly VoterSlot[];
  readonly nowUs: number;
  readonly frontierUs: number;
};

/** Rule 7 over time: notices first failures and first good results, and keeps everybody checking while somebody fails. */
export class RecheckPlanner {
  /** When `askOverdue` is due; infinity while nobody fails. */
  nextUs = Number.POSITIVE_INFINITY;
  /** While true streaks are noticed and nobody is asked. */
  isSilent = false;
  #wishes: RecheckWish[] = [];

  get hasWishes(): boolean {
    return this.#wishes.length > 0;
  }

  take(): readonly RecheckWish[] {
    const wishes = this.#wishes;
    this.#wishes = [];
    return wishes;
  }

  /** Compares each voter's streak with what it was when this was last called. */
  notice(scene: Scene, finals: ReadonlyMap<VoterSlot, VoterState | null>): void {
    const before = new Map<VoterSlot, number | null>();
    for (const [slot, final] of finals) {
      const streak = final?.streak ?? null;
      before.set(slot, slot.streakStartUs);
      slot.streakStartUs = streak?.startUs ?? null;
      slot.streakEndsUs = streak === null ? Number.NEGATIVE_INFINITY : streak.lastUs + streak.lastFreshUs;
    }
    for (const [slot, final] of finals) {
      const was = before.get(slot) ?? null;
      const streak = final?.streak ?? null;
      if (final === null || final.eUs <= scene.nowUs - recheckYoungerThanUs) continue;
      if (streak !== null && (was === null || streak.startUs > was)) {
        this.#wish(scene, 'first_failure', secondOpinions(scene.electorate, slot.voter, candidatesOf(scene)));
      } else if (streak === null && was !== null && final.vote !== null) {
        this.#wish(scene, 'first_good', stillFailing(scene.electorate, slot.voter, candidatesOf(scene)));
      }
    }
    this.#plan(scene);
  }

  /** Asks those whose last check is half a minute old. `newestUs` is the latest result of the monitor. */
  askOverdue(scene: Scene, newestUs: number): void {
    if (newestUs <= scene.nowUs - recheckYoungerThanUs) {
      // What is known is too old to act upon; look again in a while, for a vote that is merely repeated plans nothing.
      this.nextUs = scene.nowUs + recheckEveryUs;
      return;
    }
    this.#wish(scene, 'while_failing', overdue(scene.electorate, scene.nowUs, candidatesOf(scene)));
    this.#plan(scene);
  }

  #wish(scene: Scene, reason: RecheckWish['reason'], voters: readonly number[]): void {
    if (voters.length === 0 || this.isSilent) return;
    for (const voter of voters) scene.slotOf(voter).askedUs = scene.nowUs;
    this.#wishes.push({ monitorId: scene.inputs.raw.monitorId, voters, reason });
  }

  /** While somebody fails and checks are further apart than half a minute: when the next voter is overdue. */
  #plan(scene: Scene): void {
    this.nextUs = Number.POSITIVE_INFINITY;
    const isFailing = scene.slots.some((slot) => isInStreak(slot, scene.frontierUs));
    const intervalS = scene.inputs.configurationAt(scene.frontierUs).intervalS ?? Number.POSITIVE_INFINITY;
    if (!isFailing || intervalS * 1_000_000 <= recheckEveryUs) return;
    for (const candidate of candidatesOf(scene)) {
      if (!mayBeAsked(scene.electorate, candidate.voter)) continue;
      this.nextUs = Math.min(this.nextUs, Math.max(scene.nowUs, candidate.lastUs + recheckEveryUs));
    }
  }
}

const isInStreak = (slot: VoterSlot, frontierUs: number): boolean =>
  slot.streakStartUs !== null && (slot.isHolding || slot.streakEndsUs > frontierUs);

function candidatesOf(scene: Scene): Candidate[] {
  return scene.electorate.assigned.map((voter) => {
    const slot = scene.slots.find((candidate) => candidate.voter === voter);
    return {
      voter,
      isHolding: slot?.isHolding ?? false,
      isFailing: slot?.isFailing ?? false,
      isInStreak: slot !== undefined && isInStreak(slot, scene.frontierUs),
      lastUs: Math.max(slot?.lastUs ?? Number.NEGATIVE_INFINITY, slot?.askedUs ?? Number.NEGATIVE_INFINITY),
    };
  });
}
