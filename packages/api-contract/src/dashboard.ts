import { z } from 'zod';
import { notificationStatuses } from './alerts.ts';
import { heartbeatStatuses } from './heartbeats.ts';
import { incidentResolutions, incidentSeverities, incidentStatuses } from './incidents.ts';
import { route } from './route.ts';
import { choiceParameter, idSchema, integerParameter, timestamp } from './shared.ts';
import { secondsByStatusFields, uptimePercent } from './statistics.ts';
import { webhookCheckStatuses } from './webhook-check-shapes.ts';

/** Windows of `/dashboard/uptime-summary`: a day, a week, 30 and 90 days. */
export const summaryHours = [24, 168, 720, 2_160] as const;
/** Monitors that `worst` lists at most. */
export const mostWorst = 10;
/** The days of which `/dashboard/incidents` tells what has ended, and the means. */
export const recentDays = 30;

const count = z.number().int().min(0);

/** A number for each word, and their total. */
function countsOf<const Word extends string>(words: readonly Word[]) {
  return z.object({
    total: count,
    ...(Object.fromEntries(words.map((word) => [word, count])) as Record<Word, typeof count>),
  });
}

const scopeFields = {
  as_of: timestamp.describe('When this was read. An answer is kept for 10 seconds.'),
  workspace_id: z.number().int().nullable().describe('The workspace that was asked for; null: all of the caller.'),
};

const statsSchema = z
  .object({
    ...scopeFields,
    monitors: countsOf(['up', 'down', 'degraded', 'unknown', 'paused']).describe('As `GET /monitors` filters them.'),
    heartbeats: countsOf(heartbeatStatuses),
    webhook_checks: countsOf(webhookCheckStatuses),
    alerts: countsOf(['active', 'muted', 'inactive']),
    incidents: z
      .object({
        open: count.describe('Not resolved, and acknowledged by nobody.'),
        acknowledged: count,
        by_severity: countsOf(incidentSeverities).describe('Of those that are not resolved.'),
      })
      .describe('Incidents that are not resolved.'),
    maintenance: z.object({ active: count, scheduled: count }),
    probes: countsOf(['online', 'offline', 'never_connected', 'paused', 'quarantined']).describe(
      'The probes of the workspaces and those of the installation. A paused or quarantined probe counts as that alone.',
    ),
  })
  .meta({ id: 'DashboardStats' });
export type DashboardStats = z.output<typeof statsSchema>;

const seconds = z.object(secondsByStatusFields);

const uptimeSummarySchema = z
  .object({
    ...scopeFields,
    hours: count,
    from: timestamp.describe('Inclusive.'),
    to: timestamp.describe('Exclusive. At most how far results are evaluated, normally a few seconds ago.'),
    monitors: count.describe('How many there are now.'),
    uptime_percent: uptimePercent.describe('Of the sums over all monitors: a monitor counts by its measured time.'),
    seconds: seconds.describe('Sums over all monitors.'),
    days: z
      .array(z.object({ date: z.iso.date(), uptime_percent: uptimePercent, seconds }))
      .describe('Days in UTC, oldest first; the first and the last day only as far as they lie in the window.'),
    worst: z
      .array(
        z.object({
          monitor_id: z.number().int(),
          workspace_id: z.number().int(),
          name: z.string(),
          uptime_percent: uptimePercent,
          downtime_seconds: z.number().min(0),
        }),
      )
      .max(mostWorst)
      .describe('Monitors with downtime, the lowest uptime first.'),
  })
  .meta({ id: 'DashboardUptimeSummary' });
export type DashboardUptimeSummary = z.output<typeof uptimeSummarySchema>;

const messageCounts = Object.fromEntries(notificationStatuses.map((status) => [status, count])) as Record<
  (typeof notificationStatuses)[number],
  typeof count
>;

const alertsSummarySchema = z
  .object({
    ...scopeFields,
    hours: count,
    from: timestamp,
    to: timestamp,
    ...messageCounts,
    by_channel: z
      .array(z.object({ channel: z.string(), ...messageCounts }))
      .describe('Most messages first. Messages as `GET /alerts/history` lists them.'),
    told_after_p95_ms: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'In 95 % of the first messages of a problem, the time from its finding to the arrival was at most this; of what was held back or delayed, from the end of that. null: no such message.',
      ),
  })
  .meta({ id: 'DashboardAlertsSummary' });
export type DashboardAlertsSummary = z.output<typeof alertsSummarySchema>;

const incidentSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    title: z.string(),
    status: z.enum(incidentStatuses),
    severity: z.enum(incidentSeverities),
    resolution: z.enum(incidentResolutions).nullable(),
    is_held: z.boolean().describe('Not announced yet, since all of it lies in a maintenance.'),
    started_at: timestamp,
    acknowledged_at: timestamp.nullable(),
    resolved_at: timestamp.nullable(),
    member_count: count,
  })
  .meta({ id: 'DashboardIncident' });

const meanSeconds = z.number().nullable();

const incidentsSchema = z
  .object({
    ...scopeFields,
    open: z.array(incidentSchema).describe('Not resolved, newest onset first, `limit` at most.'),
    recent: z
      .array(incidentSchema)
      .describe(
        `Ended in the last ${recentDays} days, latest end first, \`limit\` at most. What was no outage or part of another incident is left out.`,
      ),
    total_open: count,
    mtta_seconds: meanSeconds.describe(
      `Mean time from the opening of an incident to its acknowledgement, of those acknowledged in the last ${recentDays} days.`,
    ),
    mttr_seconds: meanSeconds.describe(
      `Mean time from onset to end of those that ended in the last ${recentDays} days by themselves or by hand, as \`GET /incidents/stats\` answers it.`,
    ),
  })
  .meta({ id: 'DashboardIncidents' });
export type DashboardIncidents = z.output<typeof incidentsSchema>;

export const dashboardParts = ['stats', 'uptime_summary', 'alerts_summary', 'incidents'] as const;
export type DashboardPart = (typeof dashboardParts)[number];

const combinedSchema = z
  .object({
    ...scopeFields,
    stats: statsSchema.nullable(),
    uptime_summary: uptimeSummarySchema.nullable(),
    alerts_summary: alertsSummarySchema.nullable(),
    incidents: incidentsSchema.nullable(),
    errors: z
      .array(z.object({ part: z.enum(dashboardParts), code: z.string(), message: z.string() }))
      .describe('Parts that could not be read, and are null.'),
  })
  .meta({ id: 'DashboardCombined' });
export type DashboardCombined = z.output<typeof combinedSchema>;

const tag = 'Dashboard';
const workspace = { workspace_id: idSchema.optional().describe('Default: all workspaces of the caller.') };
const window = { hours: choiceParameter(summaryHours).default(24) };
const limit = { limit: integerParameter(1, 100).default(20) };

export const dashboardStatsRoute = route({
  method: 'GET',
  path: '/api/v1/dashboard/stats',
  credentials: 'bearer',
  tag,
  summary: 'Count what there is, by its present state',
  query: z.object(workspace),
  success: { status: 200, answer: statsSchema },
  errors: [404],
});

export const dashboardUptimeSummaryRoute = route({
  method: 'GET',
  path: '/api/v1/dashboard/uptime-summary',
  credentials: 'bearer',
  tag,
  summary: 'Uptime of all monitors together',
  description: 'As measured; corrections change SLA figures only.',
  query: z.object({ ...workspace, ...window }),
  success: { status: 200, answer: uptimeSummarySchema },
  errors: [404],
});

export const dashboardAlertsSummaryRoute = route({
  method: 'GET',
  path: '/api/v1/dashboard/alerts-summary',
  credentials: 'bearer',
  tag,
  summary: 'What became of the messages of alerts',
  query: z.object({ ...workspace, hours: integerParameter(1, 2_160).default(24) }),
  success: { status: 200, answer: alertsSummarySchema },
  errors: [404],
});

export const dashboardIncidentsRoute = route({
  method: 'GET',
  path: '/api/v1/dashboard/incidents',
  credentials: 'bearer',
  tag,
  summary: 'Open incidents and those that ended lately',
  query: z.object({ ...workspace, ...limit }),
  success: { status: 200, answer: incidentsSchema },
  errors: [404],
});

export const dashboardCombinedRoute = route({
  method: 'GET',
  path: '/api/v1/dashboard/combined',
  credentials: 'bearer',
  tag,
  summary: 'All parts of the dashboard',
  description: '`hours` counts for the uptime and for the alerts, `limit` for the incidents.',
  query: z.object({ ...workspace, ...window, ...limit }),
  success: { status: 200, answer: combinedSchema },
  errors: [404],
});
