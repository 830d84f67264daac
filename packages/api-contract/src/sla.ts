import { z } from 'zod';
import { route } from './route.ts';
import { correctionExample, ledgerEntryExample, slaExample, verdictExample } from './statistics-examples.ts';
import { idSchema, instant, listOf, numberParameter, pageQuery, timestamp } from './shared.ts';
import { latencySchema, probeNameFields, secondsByStatusFields, uptimePercent } from './statistics.ts';
import { windowFields, windowQuery } from './report-window.ts';

const seconds = z.number().min(0);
const count = z.number().int().min(0);
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 in hexadecimal.');

const slaSecondsSchema = z
  .object({
    ...secondsByStatusFields,
    excluded: seconds.describe('Taken out by a correction: counts neither way.'),
  })
  .meta({ id: 'SlaSeconds' });

const outageSchema = z
  .object({
    started_at: timestamp.describe('Onset; may lie before the window.'),
    ended_at: timestamp.nullable().describe('null: it lasts.'),
    duration_seconds: seconds.describe('All of it.'),
    downtime_seconds: seconds.describe('The part inside the window that counts, after corrections and maintenance.'),
    status: z.enum(['DOWN', 'TIMEOUT']).describe('What it was for most of its time.'),
    cause: z.string().nullable(),
    is_revised: z.boolean().describe('Results that came late changed it.'),
    is_corrected: z.boolean(),
  })
  .meta({ id: 'Outage' });

const errorBudgetSchema = z
  .object({
    slo_target: z.number().describe('Per cent.'),
    is_met: z.boolean().nullable().describe('null when nothing was measured.'),
    budget_seconds: seconds.describe('(1 - target) x measured time.'),
    consumed_seconds: seconds.describe('The downtime.'),
    remaining_seconds: z.number().describe('Negative when overspent.'),
    consumed_percent: seconds.nullable().describe('Of the budget; null when there is none.'),
    burn_rate: seconds
      .nullable()
      .describe(
        'How many times as fast as allowed the budget was spent: the share of it that was consumed over the share of the measured time that ' +
          'passed. 1 spends exactly all of it. null when nothing was measured or nothing may be spent.',
      ),
    burn_rate_1h: seconds.nullable().describe('Over the last hour of the window; null when the window is shorter.'),
    burn_rate_6h: seconds.nullable().describe('Over its last six hours.'),
  })
  .meta({ id: 'ErrorBudget' });

/** What a corrected time counts as. */
export const countedAsValues = ['UP', 'EXCLUDED', 'MEASURED'] as const;

export const slaCorrectionSchema = z
  .object({
    id: z.number().int(),
    monitor_id: z.number().int(),
    started_at: timestamp,
    ended_at: timestamp,
    counted_as: z.enum(countedAsValues),
    reason: z.string(),
    created_by: z.object({
      user_id: z.number().int().nullable().describe('null: the account is gone.'),
      name: z.string(),
    }),
    created_at: timestamp,
    before: slaSecondsSchema.describe('What the time counted as when the correction was made.'),
    after: slaSecondsSchema.describe('What it counted as from then on.'),
  })
  .meta({ id: 'SlaCorrection', examples: [correctionExample] });
export type SlaCorrection = z.output<typeof slaCorrectionSchema>;

const ledgerHeadSchema = z
  .object({
    chain: z.number().int().describe('From 1; a reset of the statistics begins the next.'),
    seq: count.describe('Of the last entry; 0 when there is none.'),
    digest: digest.nullable().describe('Of the last entry, and with it of all before it.'),
  })
  .meta({ id: 'SlaLedgerHead' });

/** Answer of GET /monitors/{monitor_id}/sla. */
export const slaSchema = z
  .object({
    monitor_id: z.number().int(),
    name: z.string(),
    generated_at: timestamp,
    ...windowFields,
    uptime_percent: uptimePercent,
    measured_uptime_percent: uptimePercent.describe('Before corrections.'),
    uptime_seconds: seconds.describe('Up and degraded.'),
    downtime_seconds: seconds.describe('Down and timeout.'),
    measured_seconds: seconds.describe('Uptime and downtime.'),
    unknown_seconds: seconds,
    maintenance_seconds: seconds,
    paused_seconds: seconds,
    excluded_seconds: seconds,
    corrected_seconds: seconds.describe('Counts as something else than was measured.'),
    seconds: slaSecondsSchema.describe('Sums to the window.'),
    incidents: count.describe('Outages with any downtime that counts.'),
    mttr_seconds: seconds
      .nullable()
      .describe(
        'Mean duration of the outages that ended in the window, each whole, less what corrections and maintenance took from it. null when none ended.',
      ),
    mtbf_seconds: seconds
      .nullable()
      .describe('Mean uptime from the start of one outage to the start of the next. null with fewer than two outages.'),
    outages: z
      .array(outageSchema)
      .describe(
        'Oldest first: runs of DOWN and TIMEOUT. Time in which nobody could tell, or a degraded one, ends an outage.',
      ),
    outages_omitted: count.describe('Older outages of the window that are not listed, though counted.'),
    response_time: latencySchema,
    probes: z.array(
      z
        .object({
          ...probeNameFields,
          uptime_percent: uptimePercent.describe("Of this probe's own votes, before corrections."),
          uptime_seconds: seconds,
          downtime_seconds: seconds,
          checks: count.describe('Scheduled checks and rechecks that ran.'),
          answered: count,
          response_time: latencySchema,
        })
        .meta({ id: 'ProbeSla' }),
    ),
    error_budget: errorBudgetSchema.nullable().describe('null without `slo_target`.'),
    corrections: z.array(slaCorrectionSchema).describe('Those that touch the window.'),
    ledger: ledgerHeadSchema,
  })
  .meta({ id: 'Sla', examples: [slaExample] });
export type Sla = z.output<typeof slaSchema>;

const tag = 'SLA';
const monitorParams = z.object({ monitor_id: idSchema });
const slaQuery = z.object({
  ...windowQuery(2_160),
  slo_target: numberParameter(90, 100).optional().describe('Per cent; adds the error budget.'),
});

export const readSlaRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/sla',
  credentials: 'bearer',
  tag,
  summary: 'Availability against an objective',
  params: monitorParams,
  query: slaQuery,
  success: { status: 200, answer: slaSchema },
  errors: [404],
});

const exported =
  'The end of the file carries a digest of all before it, the place in the ledger, and a signature of this installation; POST /sla/verify checks it.';

export const exportSlaCsvRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/sla/export/csv',
  credentials: 'bearer',
  tag,
  summary: 'The SLA report as CSV',
  description: `RFC 4180 in UTF-8 with a byte order mark; the first column names the section of a record. A text cell that a spreadsheet would take for a formula begins with an apostrophe. ${exported}`,
  params: monitorParams,
  query: slaQuery,
  success: {
    status: 200,
    answer: z.string(),
    contentType: 'text/csv; charset=utf-8; header=present',
    headers: ['Content-Disposition'],
  },
  errors: [404],
});

export const exportSlaPdfRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/sla/export/pdf',
  credentials: 'bearer',
  tag,
  summary: 'The SLA report as PDF',
  description: exported,
  params: monitorParams,
  query: slaQuery,
  success: {
    status: 200,
    answer: z.custom<Uint8Array>((value) => value instanceof Uint8Array).meta({ type: 'string', format: 'binary' }),
    contentType: 'application/pdf',
    headers: ['Content-Disposition'],
  },
  errors: [404],
});

export const createSlaCorrectionRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/:monitor_id/sla/corrections',
  credentials: 'bearer',
  tag,
  summary: 'Correct what a time counts as',
  description:
    'Needs the role owner. UP: downtime in it counts as up. EXCLUDED: what was measured in it counts neither way. MEASURED: as it was measured, which ' +
    'reverts earlier corrections. Where corrections overlap the latest one holds. They change SLA figures, never the timeline, and cannot be changed or removed.',
  params: monitorParams,
  body: z
    .strictObject({
      started_at: instant,
      ended_at: instant.describe(
        'Not in the future; at most 90 days after the start. Something of the time must have been measured.',
      ),
      counted_as: z.enum(countedAsValues),
      reason: z
        .string()
        .normalize('NFC')
        .trim()
        .min(1)
        .max(2_000)
        .refine((text) => !text.includes('\0'), 'must not contain NUL'),
    })
    .meta({ id: 'CreateSlaCorrection' }),
  success: { status: 201, answer: slaCorrectionSchema },
  idempotent: true,
  errors: [404, 409],
});

export const listSlaCorrectionsRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/sla/corrections',
  credentials: 'bearer',
  tag,
  summary: 'List corrections, latest first',
  params: monitorParams,
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('corrections', slaCorrectionSchema).meta({ id: 'SlaCorrectionList' }) },
  errors: [404],
});

export const ledgerKinds = ['day', 'revision', 'correction'] as const;

export const slaLedgerEntrySchema = z
  .object({
    seq: z.number().int().min(1),
    kind: z
      .enum(ledgerKinds)
      .describe('A day in UTC, closed a day after it ended; what late results changed of a closed day; a correction.'),
    day: z.iso.date().nullable(),
    entry: z.string().describe('Exactly the text that was hashed: JSON with sorted keys and without spaces.'),
    digest: digest.describe('SHA-256 of the digest before (32 zero bytes for the first) and the bytes of `entry`.'),
    appended_at: timestamp,
  })
  .meta({ id: 'SlaLedgerEntry', examples: [ledgerEntryExample] });

export const readSlaLedgerRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/sla/ledger',
  credentials: 'bearer',
  tag,
  summary: 'The ledger, latest entry first',
  description:
    'Append-only: each digest covers the one before it. A reset of the statistics begins a new chain; earlier chains stay.',
  params: monitorParams,
  query: z.object({ ...pageQuery, chain: idSchema.optional().describe('Left out: the present one.') }),
  success: {
    status: 200,
    answer: listOf('entries', slaLedgerEntrySchema)
      .extend({ chain: z.number().int(), is_current: z.boolean(), head: ledgerHeadSchema })
      .meta({ id: 'SlaLedger' }),
  },
  errors: [404],
});

/** What can be wrong with a file, or have changed since it was made. */
export const slaProblemCodes = [
  'no_report',
  'altered',
  'seal_altered',
  'foreign_installation',
  'monitor_unknown',
  'several_subjects',
  'ledger_unknown',
  'ledger_differs',
  'ledger_damaged',
  'chain_reset',
  'newer_corrections',
  'newer_revisions',
] as const;

export const slaVerdictSchema = z
  .object({
    valid: z.boolean().describe('This installation made the file, and not a byte was changed since.'),
    kind: z.enum(['csv', 'pdf']).nullable().describe('null when it is no report.'),
    monitor: z
      .object({ id: z.number().int(), name: z.string() })
      .nullable()
      .describe('null when the seal is not genuine, or the monitor is gone or of a workspace that you are not in.'),
    period: z.object({ from: timestamp, to: timestamp }).nullable(),
    generated_at: timestamp.nullable(),
    problems: z.array(
      z.object({
        code: z.enum(slaProblemCodes),
        severity: z
          .enum(['invalid', 'outdated', 'unchecked'])
          .describe(
            'invalid: do not trust the file. outdated: genuine, but the figures have changed since. unchecked: nothing speaks against it, but not all could be looked at.',
          ),
        message: z.string(),
      }),
    ),
    chain: z
      .object({
        known: z.boolean().describe('The ledger has the entry that the file names.'),
        head_matches: z.boolean().describe('With the same digest.'),
        is_current: z.boolean().describe('The statistics were not reset since.'),
        newer_entries: count,
      })
      .nullable(),
  })
  .meta({ id: 'SlaVerdict', examples: [verdictExample] });
export type SlaVerdict = z.output<typeof slaVerdictSchema>;

export const verifySlaRoute = route({
  method: 'POST',
  path: '/api/v1/sla/verify',
  credentials: 'bearer',
  tag,
  summary: 'Check an exported report',
  description:
    'The body is the file itself, or a form with it as its first file. A file that is not valid is an answer, not an error.',
  file: { types: ['text/csv', 'application/pdf', 'multipart/form-data'], maxBytes: 10 * 1_024 * 1_024 },
  success: { status: 200, answer: slaVerdictSchema },
  errors: [413, 415],
});
