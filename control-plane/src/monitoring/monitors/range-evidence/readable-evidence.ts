import type { RangeEvidence } from '@parallax/api-contract';
import { codeOf } from './votes.ts';
import type { StoredEvidence } from './votes.ts';

/*
 * The readable form of why a range has its status: whatever leaves the product shows this, never what the engine stored. Probes have names, instants
 * are in UTC, and errors are words.
 */

/** Probes by their identifiers; one that is gone has no entry. */
export type NamedProbes = ReadonlyMap<number, { readonly name: string; readonly region: string }>;

/** Stored evidence as the API answers it. */
export function readableEvidence(stored: StoredEvidence, probes: NamedProbes): RangeEvidence {
  const { rule, quorum, quorum_out_of_reach } = stored;
  return {
    rule,
    quorum,
    quorum_out_of_reach,
    votes: stored.voters.map((vote) => ({
      ...whoOf(probes, vote.voter),
      vote: vote.vote,
      since: new Date(vote.sinceUs / 1_000).toISOString(),
      error_code: codeOf(vote) ?? null,
    })),
    missing: stored.missing.map((voter) => whoOf(probes, voter)),
  };
}

/** The probes that stored evidence names. */
export function probesIn(stored: readonly StoredEvidence[]): readonly number[] {
  const voters = stored.flatMap((one) => [...one.voters.map(({ voter }) => voter), ...one.missing]);
  return [...new Set(voters)].filter((voter) => voter !== 0);
}

/** A voter as answers name it. */
export function whoOf(probes: NamedProbes, voter: number) {
  if (voter === 0) return { probe_id: null, probe_name: null, region: 'central' };
  const probe = probes.get(voter);
  return { probe_id: voter, probe_name: probe?.name ?? null, region: probe?.region ?? null };
}
