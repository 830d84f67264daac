import { outcomes } from '@parallax/checks';
import { z } from 'zod';
import { monitorStatuses } from './monitor-shapes.ts';
import { route } from './route.ts';
import { idSchema, timestamp } from './shared.ts';
import { distributionExample, statsExample } from './statistics-examples.ts';
import { windowFields, windowQuery } from './report-window.ts';

const seconds = z.number().min(0);
const count = z.number().int().min(0);
const milliseconds = z.number().min(0).nullable();

/** Percent of the measured time in which it was up. */
export const uptimePercent = z
  .number()
  .min(0)
  .max(100)
  .nullable()
  .describe('Up and degraded time in per cent of the measured time; null when nothing was measured.');

/** Seconds by what they count as; they sum to the window. */
export const secondsByStatusFields = {
  up: seconds,
  degraded: seconds.describe('Counts as up.'),
  down: seconds,
  timeout: seconds.describe('Counts as down.'),
  unknown: seconds.describe('Nobody could tell. Counts neither way, as the following.'),
  maintenance: seconds,
  paused: seconds,
};

export const latencyFields = {
  count: count.describe(
    'Scheduled checks that got an answer; those of the control plane beside probes are left out, and looks at the members of a group, which measure no time.',
  ),
  mean_ms: milliseconds,
  min_ms: milliseconds,
  max_ms: milliseconds,
  p50_ms: milliseconds.describe('At most 1 % off, as the other percentiles; null when nothing was counted.'),
  p90_ms: milliseconds,
  p95_ms: milliseconds,
  p99_ms: milliseconds,
};

export const latencySchema = z.object(latencyFields).meta({ id: 'ResponseTimes' });

export const checkCountsSchema = z
  .object({
    total: count.describe('Scheduled checks and rechecks.'),
    ...(Object.fromEntries(outcomes.map((outcome) => [outcome, count])) as Record<
      (typeof outcomes)[number],
      typeof count
    >),
    fallback: count.describe('Of the total: by the control plane beside probes that could not vote.'),
    manual: count.describe('Not in the total: they count nowhere.'),
  })
  .meta({ id: 'CheckCounts' });

/** Who measured. */
export const probeNameFields = {
  probe_id: z.number().int().nullable().describe('null: the control plane itself.'),
  name: z.string(),
  region: z.string(),
};

/** Answer of GET /monitors/{monitor_id}/stats. */
export const statsSchema = z
  .object({
    monitor_id: z.number().int(),
    ...windowFields,
    status: z.enum(monitorStatuses).describe('Now.'),
    last_checked_at: timestamp.nullable().describe('Start of the last check that was not asked for by hand.'),
    uptime_percent: uptimePercent,
    seconds: z.object(secondsByStatusFields).meta({ id: 'SecondsByStatus' }),
    downtime_seconds: seconds,
    outages: count.describe('Confirmed outages that touch the window and count.'),
    checks: checkCountsSchema,
    response_time: latencySchema,
    probes: z.array(
      z
        .object({
          ...probeNameFields,
          uptime_percent: uptimePercent.describe("Of this probe's own votes."),
          checks: checkCountsSchema,
          response_time: latencySchema,
        })
        .meta({ id: 'ProbeStats' }),
    ),
  })
  .meta({ id: 'MonitorStats', examples: [statsExample] });
export type MonitorStats = z.output<typeof statsSchema>;

/** Answer of GET /monitors/{monitor_id}/response-time-distribution. */
export const distributionSchema = z
  .object({
    monitor_id: z.number().int(),
    probe_id: z.number().int().nullable().describe('The probe that was asked for; null: all.'),
    ...windowFields,
    ...latencyFields,
    histogram: z
      .array(z.object({ from_ms: z.number(), to_ms: z.number(), count }))
      .max(40)
      .describe('Oldest bound first, half-open, without empty ones; the counts sum to `count`.'),
  })
  .meta({ id: 'ResponseTimeDistribution', examples: [distributionExample] });
export type ResponseTimeDistribution = z.output<typeof distributionSchema>;

const tag = 'Statistics';
const monitorParams = z.object({ monitor_id: idSchema });
const windowOfStatistics = windowQuery(720);

export const readStatsRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/stats',
  credentials: 'bearer',
  tag,
  summary: 'Uptime, checks and response times of a window',
  description:
    'As it was measured: corrections change SLA figures only. Availability is the length of status ranges and never a count of checks.',
  params: monitorParams,
  query: z.object(windowOfStatistics),
  success: { status: 200, answer: statsSchema },
  errors: [404],
});

export const readDistributionRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/response-time-distribution',
  credentials: 'key-or-bearer',
  tag,
  summary: 'How response times are distributed',
  description: 'A probe that never checked the monitor gives an empty distribution.',
  params: monitorParams,
  query: z.object({ ...windowOfStatistics, probe_id: idSchema.optional() }),
  success: { status: 200, answer: distributionSchema },
  errors: [404],
});
