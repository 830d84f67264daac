import { failureSources, outcomes } from '@parallax/checks';
import { z } from 'zod';
import { monitorStatuses } from './monitor-shapes.ts';
import { timestamp } from './shared.ts';

/** What status ranges carry. PARTIAL and WARNING count as DEGRADED; UNKNOWN and paused leave a gap. */
export const rangeStatuses = ['UP', 'DOWN', 'TIMEOUT', 'DEGRADED'] as const;
export type RangeStatus = (typeof rangeStatuses)[number];

/** Status of one row of results. */
export const resultStatuses = [
  'UP',
  'DOWN',
  'TIMEOUT',
  'DEGRADED',
  'WARNING',
  'UNKNOWN',
  'transient',
  'skipped',
] as const;
export type ResultStatus = (typeof resultStatuses)[number];

const phasesSchema = z.object({
  dns_ms: z.number().nullable(),
  connect_ms: z.number().nullable(),
  tls_ms: z.number().nullable(),
  first_byte_ms: z.number().nullable(),
  transfer_ms: z.number().nullable(),
});

const outcomeFields = {
  status: z
    .enum(resultStatuses)
    .describe(
      'From the outcome: ok UP, slow DEGRADED, warn WARNING, skipped skipped, probe_error UNKNOWN. fail is DOWN and timeout is TIMEOUT ' +
        "when they were confirmed (the probe's own timeline is DOWN or TIMEOUT at that time) or the check was manual, else transient.",
    ),
  outcome: z.enum(outcomes),
  failure_source: z.enum(failureSources).nullable(),
  response_time_ms: z.number().nullable().describe('To a microsecond; null for a check that did not run.'),
  phases: phasesSchema,
  error_code: z.string().nullable(),
  message: z.string().nullable(),
  evidence: z.record(z.string(), z.unknown()).nullable(),
};

/** One check result. */
export const checkResultSchema = z
  .object({
    created_at: timestamp.describe('Effective time: the start of the check.'),
    received_at: timestamp,
    probe_id: z.number().int().nullable().describe('null: the control plane itself.'),
    kind: z.enum(['scheduled', 'recheck', 'manual']),
    is_manual: z.boolean(),
    is_fallback: z.boolean().describe('By the control plane beside probes that could not vote.'),
    is_late: z.boolean(),
    probe_revision: z.number().int(),
    ...outcomeFields,
  })
  .meta({ id: 'CheckResult' });
export type CheckResult = z.output<typeof checkResultSchema>;

/** Who votes: a probe, or the control plane itself. */
export const voterFields = {
  probe_id: z.number().int().nullable().describe('null: the control plane itself, in the region `central`.'),
  probe_name: z.string().nullable().describe('null: the control plane itself, or a probe that is gone.'),
  region: z.string().nullable(),
};

/** What a voter says. */
export const voteWords = ['UP', 'DEGRADED', 'WARNING', 'DOWN', 'TIMEOUT'] as const;

/** Why a range has the status that it has. */
export const rangeEvidenceSchema = z
  .object({
    rule: z.string().nullable().describe('The rule that decided at the beginning of the range.'),
    quorum: z.number().int().nullable().describe('Failing voters that make a DOWN.'),
    quorum_out_of_reach: z
      .boolean()
      .describe('Somebody failed, and fewer voters held a vote than the quorum asks for.'),
    votes: z
      .array(
        z.object({
          ...voterFields,
          vote: z.enum(voteWords),
          since: timestamp.describe('Since when this probe had voted so without a break.'),
          error_code: z.string().nullable(),
        }),
      )
      .describe('The votes that counted at the beginning of the range.'),
    missing: z.array(z.object(voterFields)).describe('Who has a seat and did not count.'),
  })
  .meta({ id: 'RangeEvidence', description: 'Rule, quorum, votes and who was missing.' });
export type RangeEvidence = z.output<typeof rangeEvidenceSchema>;

export const statusRangeSchema = z
  .object({
    id: z.number().int(),
    monitor_id: z.number().int(),
    started_at: timestamp,
    ended_at: timestamp.nullable().describe('null: the ongoing run.'),
    status: z.enum(rangeStatuses),
    evidence: rangeEvidenceSchema,
    revised_at: timestamp.nullable().describe('Set when a late result moved a boundary.'),
  })
  .meta({ id: 'StatusRange' });
export type StatusRange = z.output<typeof statusRangeSchema>;

export const timelineEntrySchema = z
  .object({
    started_at: timestamp,
    ended_at: timestamp
      .nullable()
      .describe('End of a range, null while it lasts; of results the time of the last one in this entry.'),
    status: z.enum([...resultStatuses, 'PARTIAL']),
    response_time_ms: z
      .number()
      .nullable()
      .describe('Of a result; the mean of the answered ones where several are merged.'),
    probe_id: z.number().int().nullable(),
    is_manual: z.boolean(),
    is_fallback: z.boolean(),
    count: z.number().int().describe('Results that this entry stands for; 0 for a range of the consensus.'),
  })
  .meta({ id: 'TimelineEntry' });
export type TimelineEntry = z.output<typeof timelineEntrySchema>;

export const timelineSchema = z
  .object({
    monitor_id: z.number().int(),
    source: z
      .enum(['consensus', 'results'])
      .describe('`consensus`: one entry per status range; `results`: one per result.'),
    from: timestamp.describe('Later than asked for where there are more than 50,000 entries: the oldest are left out.'),
    to: timestamp,
    merged: z.boolean().describe('Above 10,000 results neighbours of equal status are one entry with a `count`.'),
    timeline: z.array(timelineEntrySchema),
  })
  .meta({ id: 'Timeline' });

const answersFields = {
  created_at: timestamp,
  status: z
    .enum(monitorStatuses)
    .describe('What these answers alone would say under the policy of the monitor, one failure being enough.'),
  response_time_ms: z.number().nullable().describe('Median of those that got an answer, else of those that failed.'),
  results: z.array(z.object({ created_at: timestamp, probe_id: z.number().int().nullable(), ...outcomeFields })),
  missing: z.array(z.object({ probe_id: z.number().int(), reason: z.string() })),
  trace: z
    .array(z.object({ probe_id: z.number().int().nullable(), at_ms: z.number(), step: z.string(), detail: z.string() }))
    .describe('Every step of each check, the verdict last. Secrets of the monitor are left out.'),
};

/** Answer of POST /monitors/test. */
export const monitorTestSchema = z.object(answersFields).meta({ id: 'MonitorTest' });
export type MonitorTest = z.output<typeof monitorTestSchema>;

/** Answer of POST /monitors/{monitor_id}/check. */
export const manualCheckSchema = z
  .object({ monitor_id: z.number().int(), is_manual: z.literal(true), ...answersFields })
  .meta({ id: 'ManualCheck' });
export type ManualCheck = z.output<typeof manualCheckSchema>;
