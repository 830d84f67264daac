import { errorCodeOf } from '@parallax/checks';
import type { failurePhases } from '@parallax/api-contract';
import { z } from 'zod';

type FailurePhase = (typeof failurePhases)[number];

const voteSchema = z.object({
  voter: z.number().int(),
  vote: z.enum(['UP', 'DEGRADED', 'WARNING', 'DOWN', 'TIMEOUT']),
  sinceUs: z.number().int(),
  error: z.number().int(),
});
const storedSchema = z.object({
  rule: z.string().nullable().default(null),
  quorum: z.number().int().nullable().default(null),
  quorum_out_of_reach: z.boolean().default(false),
  voters: z.array(voteSchema).default([]),
  missing: z.array(z.number().int()).default([]),
});

/** Evidence of a range as the fold stored it. */
export type StoredEvidence = z.infer<typeof storedSchema>;
/** One vote of it. */
export type StoredVote = StoredEvidence['voters'][number];

/** Reads stored evidence; what an older version left out is empty. */
export function readStored(evidence: unknown): StoredEvidence {
  const parsed = storedSchema.safeParse(evidence);
  return parsed.success ? parsed.data : storedSchema.parse({});
}

const phaseByFamily: Readonly<Record<string, FailurePhase>> = {
  dns: 'dns',
  address: 'dns',
  connect: 'connect',
  tls: 'tls',
  starttls: 'tls',
};
/** Nothing of these says where a check failed: it did not run, or the fault is the probe's own. */
const nowhere = /^(overrun|overload|cancelled|probe_.*|response_slow)$/;
/** Verdicts of the `dns` type on what it was answered. */
const judgedAnswers = new Set([
  'dns_wrong_answer',
  'dns_wrong_rcode',
  'dns_not_authentic',
  'tls_expires_soon',
  'address_partial',
]);

/** In which step a check failed, by its error code; null for none. */
export function failurePhase(code: string | undefined): FailurePhase | null {
  if (code === undefined || nowhere.test(code)) return null;
  if (judgedAnswers.has(code)) return 'answer';
  return phaseByFamily[code.split('_', 1)[0] ?? ''] ?? 'answer';
}

/** The code of a vote; undefined for none. */
export function codeOf(vote: Pick<StoredVote, 'error'>): string | undefined {
  return vote.error === 0 ? undefined : errorCodeOf(vote.error);
}
