import { failureSources } from '@parallax/checks';
import { z } from 'zod';
import { rangeStatuses } from './result-shapes.ts';
import { route } from './route.ts';
import { idSchema, integerParameter, timestamp } from './shared.ts';

const probeFields = {
  probe_id: z.number().int().nullable().describe('null: the control plane itself.'),
  probe_name: z.string().nullable().describe('null: the control plane itself, or a probe that is gone.'),
  region: z.string().nullable(),
};

/** In which step of a check a failure came about. `answer`: everything was reached, and what was answered is wrong or never came. */
export const failurePhases = ['dns', 'connect', 'tls', 'answer'] as const;

const voteSchema = z
  .object({
    ...probeFields,
    vote: z.enum(['UP', 'DEGRADED', 'WARNING', 'DOWN', 'TIMEOUT']),
    since: timestamp.describe('Since when this probe had voted so without a break.'),
    error_code: z.string().nullable(),
    message: z.string().nullable(),
    failure_source: z.enum(failureSources).nullable(),
    phase: z.enum(failurePhases).nullable().describe('Where the check failed; null when it did not.'),
    address: z.string().nullable().describe('The address that was tried.'),
    certificate: z.record(z.string(), z.unknown()).nullable(),
    evidence: z.record(z.string(), z.unknown()).nullable().describe('All that was kept of the failure.'),
  })
  .meta({ id: 'RangeVote' });

const sideSchema = z.object({
  probe_id: z.number().int(),
  probe_name: z.string().nullable(),
  diagnosis: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      'Answers of DNS, connection to each address, path, TLS with certificate, first 4 KiB; null when the probe gave none.',
    ),
});

const differingValue = z.union([z.string(), z.number()]).nullable();

const diagnosisSchema = z
  .object({
    since: timestamp.describe('Since when the probes differed.'),
    made_at: timestamp.nullable().describe('null while it is under way.'),
    state: z.enum(['wanted', 'made', 'failed']),
    summary: z.string().describe('The difference for a person, or why there is no diagnosis.'),
    failing: sideSchema.nullable(),
    passing: sideSchema.nullable(),
    differences: z
      .array(z.object({ field: z.string(), failing: differingValue, passing: differingValue }))
      .describe('What the two do not agree on, nearest to the cause first.'),
  })
  .meta({ id: 'DisagreementDiagnosis' });

/** Answer of GET /monitors/{monitor_id}/status-ranges/{range_id}/evidence. */
export const rangeEvidenceReportSchema = z
  .object({
    monitor_id: z.number().int(),
    range_id: z.number().int(),
    status: z.enum(rangeStatuses),
    started_at: timestamp,
    ended_at: timestamp.nullable().describe('null: the ongoing run.'),
    revised_at: timestamp.nullable(),
    rule: z.string().nullable().describe('The rule that decided at the beginning of the range.'),
    quorum: z.number().int().nullable().describe('Failing voters that make a DOWN.'),
    quorum_out_of_reach: z
      .boolean()
      .describe('Somebody failed, and fewer voters held a vote than the quorum asks for.'),
    votes: z.array(voteSchema).describe('The votes that counted at the beginning of the range.'),
    missing: z.array(z.object(probeFields)).describe('Who has a seat and did not count.'),
    diagnoses: z
      .array(diagnosisSchema)
      .describe('What probes saw step by step when their votes differed in this range.'),
  })
  .meta({ id: 'RangeEvidenceReport' });
export type RangeEvidenceReport = z.output<typeof rangeEvidenceReportSchema>;

export const readRangeEvidenceRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/status-ranges/:range_id/evidence',
  credentials: 'key-or-bearer',
  tag: 'Monitors',
  summary: 'Why a range has its status',
  description:
    'Who voted what, since when and why, the rule that applied, who was missing, and what a failing and a passing probe saw step by step.',
  params: z.object({ monitor_id: idSchema, range_id: integerParameter(1, 999_999_999_999_999) }),
  success: { status: 200, answer: rangeEvidenceReportSchema },
  errors: [404],
});
