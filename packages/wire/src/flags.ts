import { checkKinds, failureSources, outcomes } from '@parallax/checks';
import type { CheckKind, FailureSource, Outcome } from '@parallax/checks';

type UnpackedFlags = {
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source: FailureSource | undefined;
};

/** Kind in bits 0–1, outcome in bits 2–5, source + 1 in bits 6–7 (0: none). The same number is stored in `check_results.flags`. */
export function packFlags(kind: CheckKind, outcome: Outcome, source: FailureSource | undefined): number {
  return kindBits[kind] | outcomeBits[outcome] | (source === undefined ? 0 : sourceBits[source]);
}

/** The reverse of `packFlags` for eight bits; undefined for a number that no agent of this version writes. */
export function unpackFlags(flags: number): UnpackedFlags | undefined {
  return unpacked[flags];
}

// Made once: agent and ingest ask for every result.
const kindBits = bitsOf(checkKinds, (index) => index);
const outcomeBits = bitsOf(outcomes, (index) => index << 2);
const sourceBits = bitsOf(failureSources, (index) => (index + 1) << 6);
const unpacked = Array.from({ length: 256 }, (_, flags): UnpackedFlags | undefined => {
  const kind = checkKinds[flags & 3];
  const outcome = outcomes[(flags >> 2) & 15];
  const source = (flags >> 6) & 3;
  if (kind === undefined || outcome === undefined) return undefined;
  return { kind, outcome, source: source === 0 ? undefined : failureSources[source - 1] };
});

function bitsOf<Name extends string>(names: readonly Name[], bits: (index: number) => number): Record<Name, number> {
  return Object.fromEntries(names.map((name, index) => [name, bits(index)])) as Record<Name, number>;
}
