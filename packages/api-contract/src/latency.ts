import { z } from 'zod';
import { longestWindowDays, windowFields, windowQuery } from './report-window.ts';
import { route } from './route.ts';
import { idSchema, integerParameter, timestamp, wordParameter } from './shared.ts';
import { latencyExample } from './statistics-examples.ts';
import { latencyFields } from './statistics.ts';

/** Lengths of buckets that can be asked for. */
export const bucketUnits = ['hour', 'day', 'week', 'month'] as const;
/** Whose response times a series shows. */
export const seriesKinds = ['monitor', 'region', 'probe'] as const;
/** Buckets that a series has at most, and where nothing is said. */
export const mostPoints = 500;
export const usualPoints = 200;

const count = z.number().int().min(0);
const figures = {
  checks: count.describe('Scheduled checks and rechecks, as `checks.total` of the statistics.'),
  failed: count.describe('Of these, those that failed or timed out.'),
  ...latencyFields,
};

const seriesSchema = z
  .object({
    probe_id: z.number().int().nullable().describe('null: not of one probe, or of the control plane itself.'),
    name: z.string().nullable().describe('The name of the probe; null where the series is of several.'),
    region: z.string().nullable(),
    ...figures,
    buckets: z
      .array(
        z
          .object({
            start_time: timestamp.describe('Inclusive.'),
            end_time: timestamp.describe('Exclusive.'),
            ...figures,
          })
          .meta({ id: 'LatencyBucket' }),
      )
      .max(mostPoints)
      .describe('Oldest first and without gaps: a bucket without answers has the count 0 and no times.'),
  })
  .meta({ id: 'LatencySeries' });

/** Answer of GET /monitors/{monitor_id}/latency. */
export const latencySeriesSchema = z
  .object({
    monitor_id: z.number().int(),
    ...windowFields,
    by: z.enum(seriesKinds),
    bucket: z
      .object({ unit: z.enum(['minute', ...bucketUnits]), size: z.number().int().min(1) })
      .describe('The length of a bucket. The first and the last one may be cut by the window.'),
    series: z.array(seriesSchema),
  })
  .meta({ id: 'MonitorLatency', examples: [latencyExample] });
export type MonitorLatency = z.output<typeof latencySeriesSchema>;

export const readLatencyRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/latency',
  credentials: 'bearer',
  tag: 'Statistics',
  summary: 'Response times of a window in buckets',
  description:
    'The figures of a bucket are those that the statistics give for its time, to the last digit. Buckets of days and longer follow the calendar of ' +
    '`timezone`; shorter ones are whole multiples in UTC. Buckets below an hour exist only in windows of up to six hours.',
  params: z.object({ monitor_id: idSchema }),
  query: z.object({
    ...windowQuery(longestWindowDays * 24),
    points: integerParameter(2, mostPoints)
      .optional()
      .meta({ default: usualPoints })
      .describe('How many buckets there are at most; their length follows from it. Not beside `bucket`.'),
    bucket: wordParameter(z.enum(bucketUnits))
      .optional()
      .describe(`The length of a bucket. A window of more than ${mostPoints} of them is refused.`),
    by: wordParameter(z.enum(seriesKinds))
      .default('monitor')
      .describe('One series in all, or one for each region or probe.'),
    probe_id: idSchema.optional().describe('Only what this probe measured.'),
  }),
  success: { status: 200, answer: latencySeriesSchema },
  errors: [404],
});
