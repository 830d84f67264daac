import { z } from 'zod';
import { route } from './route.ts';
import { booleanQuery, idSchema, instant, integerParameter, timestamp, wordParameter } from './shared.ts';
import { secondsByStatusFields, uptimePercent } from './statistics.ts';

/** Lengths of buckets of analytics. */
export const analyticsBuckets = ['hour', 'day', 'week', 'month'] as const;
/** What the series of analytics are of. */
export const analyticsKinds = ['workspace', 'group', 'tag', 'region', 'probe', 'monitor'] as const;
export type AnalyticsKind = (typeof analyticsKinds)[number];

/** Bounds of analytics. What is above the last ones is answered with `too_wide`. */
export const analyticsLimits = {
  longestDays: 366,
  usualDays: 30,
  mostSeries: 100,
  mostIds: 100,
  hours: { longestDays: 7, mostMonitors: 500 },
  /** Days of monitors that a bucket cuts, because a day of the zone is none of UTC. */
  mostCutDays: 1_000_000,
  /** Buckets of monitors whose votes are read. */
  mostVoteBuckets: 400_000,
  /** Stored sums of response times: one for each monitor, probe and day or hour. */
  mostSketches: 100_000,
} as const;

const tag = 'Analytics';

const windowOfAnalytics = {
  workspace_id: idSchema.optional().describe('Only of this workspace; else of all that the caller may see.'),
  from: instant.optional().describe(`Inclusive. Default: ${analyticsLimits.usualDays} days before \`to\`.`),
  to: instant.optional().describe('Exclusive. Default, and at most: now.'),
};

const bucketsOfAnalytics = {
  bucket: wordParameter(z.enum(analyticsBuckets))
    .default('day')
    .describe(
      `The length of a bucket, by the calendar of \`timezone\`; hours are those of UTC. The first and the last one may be cut. Hours: at most ${analyticsLimits.hours.longestDays} days and ${analyticsLimits.hours.mostMonitors} monitors.`,
    ),
  timezone: z.string().min(1).max(64).default('UTC').describe('IANA time zone, by whose calendar buckets begin.'),
  week_starts: integerParameter(1, 7).default(1).describe('The day on which weeks begin: 1 is Monday, 7 Sunday.'),
};

const ids = z
  .string()
  .min(1)
  .max(4_000)
  .optional()
  .describe(
    `Comma-separated: only these workspaces, groups, probes or monitors by number, or tags or regions by name; at most ${analyticsLimits.mostIds}.`,
  );
const limit = integerParameter(1, analyticsLimits.mostSeries).default(analyticsLimits.mostSeries);

const seriesOfAnalytics = {
  by: wordParameter(z.enum(analyticsKinds))
    .default('workspace')
    .describe(
      'What a series is of. Groups and tags are those of now; what has two of them counts in both. Regions and probes go by their own votes.',
    ),
  ids,
  compare: booleanQuery(false).describe('Whether `previous` says the same of as long a time before.'),
};

const bucketSchema = z
  .object({ start_time: timestamp.describe('Inclusive.'), end_time: timestamp.describe('Exclusive.') })
  .meta({ id: 'AnalyticsBucket' });

const windowFields = {
  from: timestamp.describe('Inclusive.'),
  to: timestamp.describe('Exclusive.'),
  as_of: timestamp.describe('When the figures were made: answers are kept for ten seconds.'),
};
const bucketFields = {
  ...windowFields,
  bucket: z.enum(analyticsBuckets),
  timezone: z.string(),
  buckets: z.array(bucketSchema).describe('Oldest first and without gaps.'),
};
const key = z.string().describe('The number, or the name of a tag or region.');

const secondsSchema = z
  .object({
    ...secondsByStatusFields,
    excluded: z.number().min(0).describe('Always 0: what is measured is not corrected.'),
  })
  .meta({ id: 'MeasuredSeconds' });

const availabilitySchema = z
  .object({
    ...bucketFields,
    by: z.enum(analyticsKinds),
    series: z
      .array(
        z
          .object({
            key,
            name: z.string(),
            uptime_percent: z.array(uptimePercent).describe('Of each bucket.'),
            total_percent: uptimePercent.describe('Of the whole time: a mean of time, not of monitors.'),
            seconds: secondsSchema.describe('Of the whole time, of all members together.'),
            previous: z
              .object({ total_percent: uptimePercent, seconds: secondsSchema })
              .nullable()
              .describe('As long a time before; null without `compare`.'),
          })
          .meta({ id: 'AvailabilitySeries' }),
      )
      .max(analyticsLimits.mostSeries)
      .describe('The lowest uptime first.'),
  })
  .meta({ id: 'AvailabilityAnalytics' });
export type AvailabilityAnalytics = z.output<typeof availabilitySchema>;

const csv = { 'text/csv; charset=utf-8': z.string() };
const asCsv = 'As CSV by `Accept: text/csv`.';

export const availabilityAnalyticsRoute = route({
  method: 'GET',
  path: '/api/v1/analytics/availability',
  credentials: 'bearer',
  tag,
  summary: 'Availability of many monitors in buckets',
  description: `As measured: corrections of service levels do not count. The figures are those that the statistics of each monitor give, exactly, whatever the zone. ${asCsv}`,
  query: z.object({ ...windowOfAnalytics, ...bucketsOfAnalytics, ...seriesOfAnalytics, limit }),
  success: { status: 200, answer: availabilitySchema, others: csv, headers: ['Content-Disposition'] },
  errors: [404],
});

const milliseconds = z.number().min(0).nullable();
const latencyTotals = {
  count: z.number().int().min(0).describe('Checks that got an answer.'),
  p50_ms: milliseconds,
  p95_ms: milliseconds,
};

const latencySchema = z
  .object({
    ...bucketFields,
    by: z.enum(analyticsKinds),
    complete_until: timestamp.nullable().describe('Response times later than this are not summed yet; null: none is.'),
    series: z
      .array(
        z
          .object({
            key,
            name: z.string(),
            p50: z.array(milliseconds).describe('Of each bucket, in milliseconds; at most 1 % off.'),
            p95: z.array(milliseconds),
            count: z.array(z.number().int().min(0)),
            total: z.object(latencyTotals).describe('Of the whole time.'),
            previous: z.object(latencyTotals).nullable().describe('As long a time before; null without `compare`.'),
          })
          .meta({ id: 'LatencyAnalyticsSeries' }),
      )
      .max(analyticsLimits.mostSeries)
      .describe('The longest 95th percentile first.'),
  })
  .meta({ id: 'LatencyAnalytics' });
export type LatencyAnalytics = z.output<typeof latencySchema>;

export const latencyAnalyticsRoute = route({
  method: 'GET',
  path: '/api/v1/analytics/latency',
  credentials: 'bearer',
  tag,
  summary: 'Response times of many monitors in buckets',
  description: [
    'Percentiles of all answers of a bucket together, at most 1 % off. Whole UTC days are told by their sums; the hours of a day that a bound of a bucket cuts, and those of the present day, one by one. ' +
      'An hour that a bound cuts, in zones that are half an hour off, counts in the bucket in which it begins.',
    '',
    `An hour is summed some minutes after its end. Of more than ${String(analyticsLimits.mostSketches).replace(/\B(?=(?:\d{3})+$)/g, ',')} stored sums the present day is left out; where there are as many without it, the answer is \`too_wide\`. ${asCsv}`,
  ].join('\n'),
  query: z.object({ ...windowOfAnalytics, ...bucketsOfAnalytics, ...seriesOfAnalytics, limit }),
  success: { status: 200, answer: latencySchema, others: csv, headers: ['Content-Disposition'] },
  errors: [404],
});

const monitorFields = { monitor_id: z.number().int(), workspace_id: z.number().int(), name: z.string() };

/** By what monitors are the worst. */
export const worstMetrics = ['uptime', 'p95'] as const;

const worstSchema = z
  .object({
    ...windowFields,
    metric: z.enum(worstMetrics),
    monitors: z
      .array(
        z
          .object({
            ...monitorFields,
            uptime_percent: uptimePercent,
            seconds: secondsSchema,
            p95_ms: milliseconds.describe('null with the metric `uptime`, and when nothing was counted.'),
          })
          .meta({ id: 'WorstMonitor' }),
      )
      .max(analyticsLimits.mostSeries)
      .describe('The worst first; without those of which nothing is known.'),
  })
  .meta({ id: 'WorstMonitors' });
export type WorstMonitors = z.output<typeof worstSchema>;

export const worstMonitorsRoute = route({
  method: 'GET',
  path: '/api/v1/analytics/worst',
  credentials: 'bearer',
  tag,
  summary: 'Monitors with the lowest uptime or the longest response times',
  description: asCsv,
  query: z.object({
    ...windowOfAnalytics,
    metric: wordParameter(z.enum(worstMetrics)).default('uptime'),
    limit: integerParameter(1, analyticsLimits.mostSeries).default(10),
  }),
  success: { status: 200, answer: worstSchema, others: csv, headers: ['Content-Disposition'] },
  errors: [404],
});

/** By what monitors are the noisiest. */
export const noiseMetrics = ['incidents', 'messages', 'flapping'] as const;
/** Days for which it is known how often a monitor began to flap. */
export const flappingKnownDays = 30;

const count = z.number().int().min(0);
const noisiestSchema = z
  .object({
    ...windowFields,
    metric: z.enum(noiseMetrics),
    monitors: z
      .array(
        z
          .object({
            ...monitorFields,
            incidents: count.describe('Incidents that it became a member of.'),
            messages: count.describe('Messages about it that were sent.'),
            flapping: count.describe(`How often it began to flap, in the last ${flappingKnownDays} days at most.`),
          })
          .meta({ id: 'NoisyMonitor' }),
      )
      .max(analyticsLimits.mostSeries)
      .describe('The noisiest first; without those of which the metric is 0.'),
  })
  .meta({ id: 'NoisiestMonitors' });
export type NoisiestMonitors = z.output<typeof noisiestSchema>;

export const noisiestMonitorsRoute = route({
  method: 'GET',
  path: '/api/v1/analytics/noisiest',
  credentials: 'bearer',
  tag,
  summary: 'Monitors with the most incidents, messages or flapping',
  description: asCsv,
  query: z.object({
    ...windowOfAnalytics,
    metric: wordParameter(z.enum(noiseMetrics)).default('messages'),
    limit: integerParameter(1, analyticsLimits.mostSeries).default(10),
  }),
  success: { status: 200, answer: noisiestSchema, others: csv, headers: ['Content-Disposition'] },
  errors: [404],
});

const duration = z.number().min(0).nullable();
const responseTotals = {
  incidents: count,
  mtta_seconds: duration.describe('Mean time from opening to acknowledgement; null when none was acknowledged.'),
  mttr_seconds: duration.describe('Mean time from onset to resolution; null when none was resolved.'),
};

const responseSchema = z
  .object({
    ...bucketFields,
    incidents: z.array(count).describe('Incidents that began in each bucket.'),
    mtta_seconds: z.array(duration).describe('Of those that began in the bucket.'),
    mttr_seconds: z.array(duration).describe('Of those that began in the bucket.'),
    total: z.object(responseTotals),
    previous: z.object(responseTotals).nullable().describe('As long a time before; null without `compare`.'),
  })
  .meta({ id: 'ResponseAnalytics' });
export type ResponseAnalytics = z.output<typeof responseSchema>;

export const responseAnalyticsRoute = route({
  method: 'GET',
  path: '/api/v1/analytics/response',
  credentials: 'bearer',
  tag,
  summary: 'How soon incidents are acknowledged and resolved',
  description: `Deleted incidents, and those that were folded into another, do not count. ${asCsv}`,
  query: z.object({
    ...windowOfAnalytics,
    ...bucketsOfAnalytics,
    compare: booleanQuery(false).describe('Whether `previous` says the same of as long a time before.'),
  }),
  success: { status: 200, answer: responseSchema, others: csv, headers: ['Content-Disposition'] },
  errors: [404],
});
