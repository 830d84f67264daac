import { difference, tellDifferences } from '@parallax/checks';
import type { Diagnosis, Difference } from '@parallax/checks';
import type { Witness } from './pair.ts';

/** What one side had to say: a diagnosis and whose, or why there is none. */
export type Testimony =
  | { readonly witness: Witness; readonly diagnosis: Diagnosis }
  | { readonly witness: Witness; readonly refused: string };

/** What is kept of a look at a disagreement. */
export type Conclusion = {
  readonly failing: { readonly probeId: number; readonly diagnosis: Diagnosis | undefined };
  readonly passing: { readonly probeId: number; readonly diagnosis: Diagnosis | undefined };
  /** `a` is the failing probe, `b` the passing one; empty unless both gave a diagnosis. */
  readonly differences: readonly Difference[];
  /** For a person. */
  readonly summary: string;
};

/** True when at least one side has something to say. */
export function isAnyGiven(...testimonies: readonly Testimony[]): boolean {
  return testimonies.some((each) => 'diagnosis' in each);
}

/** Lays what both sides said beside each other. */
export function conclude(failing: Testimony, passing: Testimony): Conclusion {
  const differences =
    'diagnosis' in failing && 'diagnosis' in passing ? difference(failing.diagnosis, passing.diagnosis) : [];
  const missing = [failing, passing].flatMap((each) =>
    'refused' in each ? [`${each.witness.name} gave no diagnosis: ${each.refused.slice(0, 300)}.`] : [],
  );
  return {
    failing: sideOf(failing),
    passing: sideOf(passing),
    differences,
    summary:
      missing.length > 0 ? missing.join(' ') : tellDifferences(differences, failing.witness.name, passing.witness.name),
  };
}

function sideOf(testimony: Testimony): Conclusion['failing'] {
  return {
    probeId: testimony.witness.probeId,
    diagnosis: 'diagnosis' in testimony ? testimony.diagnosis : undefined,
  };
}
