import type { Electorate } from './decide.ts';
import type { RangeEvidence } from './types.ts';
import type { VoterSlot } from './voter-slot.ts';

/** One voter that counts now, as far as telling others of the status depends on it. */
export type Opinion = {
  readonly voter: number;
  readonly isFailing: boolean;
  /** Since when it votes so without a break. */
  readonly sinceUs: number;
  /** Its latest result. */
  readonly lastUs: number;
  /** Its latest results fail and are not confirmed yet: it may be about to change its vote. */
  readonly isInDoubt: boolean;
};

/** One voter that is assigned and holds no vote, as far as it may yet be heard. */
export type Silence = {
  /** Its latest result that is known; minus infinity for none. */
  readonly lastUs: number;
  /** Its latest results fail and are not confirmed yet. */
  readonly isInDoubt: boolean;
};

/** What the present status rests on. */
export type Outlook = {
  /** Of the moment at which the status began. */
  readonly evidence: RangeEvidence;
  /** Failing voters that make a DOWN; of now. */
  readonly quorum: number;
  readonly opinions: readonly Opinion[];
  readonly silent: readonly Silence[];
};

/** The outlook from slots that are settled at the instant of the electorate. */
export function outlookOf(
  electorate: Electorate,
  slots: readonly VoterSlot[],
  evidence: RangeEvidence,
  nowUs: number,
): Outlook {
  const opinions = slots.flatMap((slot) => {
    const piece = slot.pieces.at(-1);
    const isCounted = electorate.regionOf.has(slot.voter) || slot.voter === 0;
    if (!slot.isHolding || piece === undefined || !isCounted || electorate.quarantined.has(slot.voter)) return [];
    return [
      {
        voter: slot.voter,
        isFailing: slot.isFailing,
        sinceUs: piece.sinceUs,
        lastUs: slot.lastUs,
        isInDoubt: !slot.isFailing && slot.streakStartUs !== null,
      },
    ];
  });
  const silent = electorate.assigned
    .filter((voter) => !electorate.quarantined.has(voter) && !opinions.some((opinion) => opinion.voter === voter))
    .map(
      (voter): Silence =>
        silenceOf(
          slots.find((slot) => slot.voter === voter),
          nowUs,
        ),
    );
  return { evidence, quorum: electorate.quorum, opinions, silent };
}

/** A failure is in doubt only while a next one could confirm it. */
function silenceOf(slot: VoterSlot | undefined, nowUs: number): Silence {
  if (slot === undefined) return { lastUs: Number.NEGATIVE_INFINITY, isInDoubt: false };
  return { lastUs: slot.lastUs, isInDoubt: slot.streakStartUs !== null && slot.streakEndsUs > nowUs };
}
