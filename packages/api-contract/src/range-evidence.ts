import { failureSources } from '@parallax/checks';
import { z } from 'zod';
import { monitorStatuses } from './monitor-shapes.ts';
import { rangeEvidenceSchema, rangeStatuses, voterFields, voteWords } from './result-shapes.ts';
import { route } from './route.ts';
import { booleanQuery, idSchema, integerParameter, timestamp } from './shared.ts';

/** In which step of a check a failure came about. `answer`: everything was reached, and what was answered is wrong or never came. */
export const failurePhases = ['dns', 'connect', 'tls', 'answer'] as const;

const voteSchema = z
  .object({
    ...voterFields,
    vote: z.enum(voteWords),
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

const difference = z.object({
  field: z.string(),
  stored: z.union([z.string(), z.number(), z.boolean()]).nullable(),
  recomputed: z.union([z.string(), z.number(), z.boolean()]).nullable(),
});

const replaySchema = z
  .object({
    state: z
      .enum(['replayed', 'results_gone'])
      .describe(
        'results_gone: the results that the range rests on are not kept any more; nothing else can be said then.',
      ),
    message: z.string().describe('What was replayed, for a person.'),
    from: timestamp.nullable(),
    to: timestamp.nullable().describe('End of what was replayed.'),
    is_whole: z.boolean().describe('false: the range is long, and only its beginning was replayed.'),
    results: z.number().int().describe('Results that it was replayed from.'),
    matches: z
      .boolean()
      .nullable()
      .describe('Whether status, beginning and, if it is whole, end are those that are stored.'),
    differences: z.array(difference),
    evidence_matches: z
      .boolean()
      .nullable()
      .describe(
        'Whether the votes are those that are stored. Stored ones are of the moment at which the range was first told: results that came later may have ' +
          'changed what is known of that instant.',
      ),
    evidence_differences: z.array(difference),
    segments: z
      .array(
        z.object({
          from: timestamp,
          to: timestamp,
          status: z.enum(monitorStatuses),
          rule: z.string().describe('The rule that decided at its beginning.'),
        }),
      )
      .describe('The statuses of the time that was replayed, as the stored results say.'),
    votes: z
      .array(
        z.object({
          ...voterFields,
          vote: z.enum(voteWords),
          since: timestamp.describe('Not before what was replayed.'),
          error_code: z.string().nullable(),
          results: z
            .array(
              z.object({
                created_at: timestamp.describe('Start of the check.'),
                received_at: timestamp,
                kind: z.enum(['scheduled', 'recheck', 'manual']),
                outcome: z.enum(['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error']),
                error_code: z.string().nullable(),
                response_time_ms: z.number().nullable(),
              }),
            )
            .describe('What the vote rests on, oldest first, at most 20.'),
        }),
      )
      .describe('The votes that counted at the beginning of the range, with the results behind them.'),
  })
  .meta({ id: 'RangeReplay' });
export type RangeReplay = z.output<typeof replaySchema>;

/** Answer of GET /monitors/{monitor_id}/status-ranges/{range_id}/evidence. */
export const rangeEvidenceReportSchema = z
  .object({
    monitor_id: z.number().int(),
    range_id: z.number().int(),
    status: z.enum(rangeStatuses),
    started_at: timestamp,
    ended_at: timestamp.nullable().describe('null: the ongoing run.'),
    revised_at: timestamp.nullable(),
    ...rangeEvidenceSchema.shape,
    votes: z.array(voteSchema).describe('The votes that counted at the beginning of the range.'),
    diagnoses: z
      .array(diagnosisSchema)
      .describe('What probes saw step by step when their votes differed in this range.'),
    replay: replaySchema.nullable().describe('null unless it was asked for.'),
  })
  .meta({ id: 'RangeEvidenceReport' });
export type RangeEvidenceReport = z.output<typeof rangeEvidenceReportSchema>;

export const readRangeEvidenceRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/status-ranges/:range_id/evidence',
  credentials: 'bearer',
  tag: 'Monitors',
  summary: 'Why a range has its status',
  description:
    'Who voted what, since when and why, the rule that applied, who was missing, and what a failing and a passing probe saw step by step. ' +
    '`replay=true` computes the range again from the stored results and says whether it comes to the same.',
  params: z.object({ monitor_id: idSchema, range_id: integerParameter(1, 999_999_999_999_999) }),
  query: z.object({ replay: booleanQuery(false) }),
  success: { status: 200, answer: rangeEvidenceReportSchema },
  errors: [404],
});
