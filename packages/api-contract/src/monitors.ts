import { z } from 'zod';
import {
  checkMonitorSchema,
  createMonitorSchema,
  measuredOfMonitors,
  changedMonitorSchema,
  monitorSchema,
  monitorSorts,
  protocolSchema,
  statusFilters,
  testMonitorSchema,
  updateMonitorSchema,
} from './monitor-shapes.ts';
import {
  checkResultSchema,
  manualCheckSchema,
  monitorTestSchema,
  statusRangeSchema,
  timelineSchema,
} from './result-shapes.ts';
import { route } from './route.ts';
import {
  booleanParameter,
  booleanQuery,
  idSchema,
  instant,
  integerParameter,
  listOf,
  pageQuery,
  wordParameter,
} from './shared.ts';

const monitorParams = z.object({ monitor_id: idSchema });
const tag = 'Monitors';

/** PostgreSQL's text cannot hold NUL. */
export const searchText = z
  .string()
  .max(200)
  .refine((text) => !text.includes('\0'), 'must not contain NUL');

/** How lists of monitors are narrowed, ordered and paged, whatever is listed. */
export const monitorListQuery = {
  ...pageQuery,
  status_filter: wordParameter(z.enum(statusFilters)).optional(),
  is_active: booleanParameter.optional(),
  workspace_id: idSchema.optional(),
  group_id: idSchema.optional().describe('Only members of this group.'),
  tag: z
    .union([z.string().max(50), z.array(z.string().max(50)).max(20)])
    .optional()
    .describe('Only monitors with this tag; several times: with all of them.'),
  search: searchText.optional().describe('Case-insensitive part of name or URL.'),
  sort: wordParameter(z.enum(monitorSorts)).default('status'),
  order: wordParameter(z.enum(['asc', 'desc'])).default('asc'),
};

/** Which results are listed. */
export const resultListQuery = {
  ...pageQuery,
  start_time: instant.optional().describe('Inclusive.'),
  end_time: instant.optional().describe('Inclusive.'),
  with_total: booleanQuery(true).describe('false: not counted, `total` is the number returned.'),
};

export const createMonitorRoute = route({
  method: 'POST',
  path: '/api/v1/monitors',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Create a monitor',
  body: createMonitorSchema,
  success: { status: 201, answer: monitorSchema },
  idempotent: true,
  errors: [403, 404, 409],
});

export const listMonitorsRoute = route({
  method: 'GET',
  path: '/api/v1/monitors',
  credentials: 'key-or-bearer',
  tag,
  summary: 'List monitors',
  query: z.object({ ...monitorListQuery, protocol: wordParameter(protocolSchema).optional() }),
  success: { status: 200, answer: listOf('monitors', monitorSchema).meta({ id: 'MonitorList' }) },
  errors: [404],
});

export const readMonitorRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Read a monitor',
  params: monitorParams,
  success: { status: 200, answer: monitorSchema },
  errors: [404],
});

export const updateMonitorRoute = route({
  method: 'PATCH',
  path: '/api/v1/monitors/:monitor_id',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Change a monitor',
  description:
    'An absent key keeps, `null` goes back to the default. `If-Match` takes the version. A change of the destination drops stored secrets ' +
    'unless they are sent again, and `warnings` names those.',
  params: monitorParams,
  body: updateMonitorSchema,
  success: { status: 200, answer: changedMonitorSchema },
  errors: [403, 404, 409, 412],
  measured: [...measuredOfMonitors, 'domain_expires_at', 'warnings'],
});

export const deleteMonitorRoute = route({
  method: 'DELETE',
  path: '/api/v1/monitors/:monitor_id',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Delete a monitor with its results',
  description:
    '204 when everything is gone. 504 when that takes more than 20 s: the monitor is gone for every other route, the rest is done in the ' +
    'background, and the same call again answers 204.',
  params: monitorParams,
  success: { status: 204 },
  errors: [403, 404, 412, 504],
});

export const pauseMonitorRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/:monitor_id/pause',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Pause a monitor',
  params: monitorParams,
  success: { status: 200, answer: monitorSchema },
  errors: [403, 404],
});

export const resumeMonitorRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/:monitor_id/resume',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Resume a monitor',
  description:
    'One that lacks a secret which its check cannot do without, as after an import, is refused (`secret_missing`): PATCH it with the secret first.',
  params: monitorParams,
  success: { status: 200, answer: monitorSchema },
  errors: [403, 404],
});

export const listResultsRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/results',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Check results, newest first',
  params: monitorParams,
  query: z.object(resultListQuery),
  success: { status: 200, answer: listOf('results', checkResultSchema).meta({ id: 'CheckResultList' }) },
  errors: [404],
});

export const listStatusRangesRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/status-ranges',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Runs of equal status, newest first',
  params: monitorParams,
  query: z.object({
    ...pageQuery,
    hours: integerParameter(1, 17_520).optional().describe('Ranges that overlap the last hours, whole; left out: all.'),
  }),
  success: { status: 200, answer: listOf('status_ranges', statusRangeSchema).meta({ id: 'StatusRangeList' }) },
  errors: [404],
});

export const readTimelineRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/timeline',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Timeline, oldest first',
  description:
    'A monitor with two or more probes answers one entry per status range; with one probe, without any, or with `probe_id` one per result.',
  params: monitorParams,
  query: z.object({
    hours: integerParameter(1, 720).default(24),
    probe_id: idSchema.optional(),
    include_manual: booleanQuery(true).describe(
      'Only with `probe_id`: whether manual checks and fallback rows are included.',
    ),
  }),
  success: { status: 200, answer: timelineSchema },
  errors: [404],
});

export const checkMonitorRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/:monitor_id/check',
  credentials: 'bearer',
  tag,
  summary: 'Check now',
  description:
    'Asks every assigned probe, or those of them that are named, and waits at most five seconds longer than the timeout of the monitor. ' +
    'A probe that did not answer is told in `missing`. The results are kept as manual ones and count nowhere.',
  params: monitorParams,
  body: checkMonitorSchema,
  success: { status: 200, answer: manualCheckSchema },
  errors: [403, 404],
});

export const testMonitorRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/test',
  credentials: 'bearer',
  tag,
  summary: 'Test a configuration',
  description:
    'Checks once what a new monitor would check, and answers every step. Nothing is stored. The body is judged as for a new monitor, except ' +
    'that its name may be taken.',
  body: testMonitorSchema,
  success: { status: 200, answer: monitorTestSchema },
  errors: [403, 404],
});
