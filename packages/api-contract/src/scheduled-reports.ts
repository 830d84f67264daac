import { z } from 'zod';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import {
  createScheduledReportSchema,
  reportStatuses,
  runScheduledReportSchema,
  scheduledReportRunSchema,
  scheduledReportSchema,
  updateScheduledReportSchema,
} from './scheduled-report-shapes.ts';
import { idSchema, listOf, pageQuery } from './shared.ts';

const tag = 'Scheduled reports';
const params = z.object({ id: idSchema });
const ofRun = z.object({ id: idSchema, run_id: idSchema });
const ofLink = z.object({ token: z.string().max(100) });
const ifMatch = '`If-Match` takes the version.';
const noLink = { status: 404, description: 'The link does not work; the page says so.' } as const;
const page = { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' } as const;

export const listScheduledReportsRoute = route({
  method: 'GET',
  path: '/api/v1/scheduled-reports',
  credentials: 'bearer',
  tag,
  summary: 'List scheduled reports by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    status: z.enum(reportStatuses).optional(),
    search: searchText.optional().describe('Case-insensitive part of the name.'),
  }),
  success: {
    status: 200,
    answer: listOf('scheduled_reports', scheduledReportSchema).meta({ id: 'ScheduledReportList' }),
  },
  errors: [404],
});

export const createScheduledReportRoute = route({
  method: 'POST',
  path: '/api/v1/scheduled-reports',
  credentials: 'bearer',
  tag,
  summary: 'Create a scheduled report',
  description: 'Readers of addresses that are not your own are asked by mail before anything is sent to them.',
  body: createScheduledReportSchema,
  idempotent: true,
  success: { status: 201, answer: scheduledReportSchema },
  errors: [403, 404, 409],
});

export const readScheduledReportRoute = route({
  method: 'GET',
  path: '/api/v1/scheduled-reports/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a scheduled report',
  params,
  success: { status: 200, answer: scheduledReportSchema },
  errors: [404],
});

export const updateScheduledReportRoute = route({
  method: 'PUT',
  path: '/api/v1/scheduled-reports/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a scheduled report',
  description: `An absent key keeps. ${ifMatch}`,
  params,
  body: updateScheduledReportSchema,
  success: { status: 200, answer: scheduledReportSchema },
  errors: [403, 404, 412],
  measured: ['next_run_at', 'disabled_reason'],
});

export const deleteScheduledReportRoute = route({
  method: 'DELETE',
  path: '/api/v1/scheduled-reports/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a scheduled report with its runs and files',
  description: ifMatch,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

/** Pausing, resuming, and whichever of the two is not so. */
function statusRoute(path: string, summary: string, description: string) {
  return route({
    method: 'POST',
    path,
    credentials: 'bearer',
    tag,
    summary,
    description,
    params,
    success: { status: 200, answer: scheduledReportSchema },
    errors: [403, 404, 412],
  });
}

export const pauseScheduledReportRoute = statusRoute(
  '/api/v1/scheduled-reports/:id/pause',
  'Pause a scheduled report',
  `A paused one changes nothing. Periods that close meanwhile are not made up for. ${ifMatch}`,
);

export const resumeScheduledReportRoute = statusRoute(
  '/api/v1/scheduled-reports/:id/resume',
  'Resume a scheduled report',
  `An active one changes nothing. Who resumes a report whose owner has left becomes its owner. ${ifMatch}`,
);

export const toggleScheduledReportRoute = statusRoute(
  '/api/v1/scheduled-reports/:id/toggle',
  'Pause an active report, resume a paused one',
  ifMatch,
);

export const runScheduledReportRoute = route({
  method: 'POST',
  path: '/api/v1/scheduled-reports/:id/run',
  credentials: 'bearer',
  tag,
  summary: 'Make a scheduled report now',
  description: 'Also while it is paused. 409 while a run of it is under way. Ten an hour and account.',
  params,
  body: runScheduledReportSchema,
  success: { status: 202, answer: scheduledReportRunSchema },
  errors: [403, 404, 409],
});

export const listScheduledReportRunsRoute = route({
  method: 'GET',
  path: '/api/v1/scheduled-reports/:id/runs',
  credentials: 'bearer',
  tag,
  summary: 'Runs of a scheduled report, newest first',
  description: 'Kept for 400 days.',
  params,
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('runs', scheduledReportRunSchema).meta({ id: 'ScheduledReportRunList' }) },
  errors: [404],
});

const signed = 'Signed as SLA reports are: POST /sla/verify checks it. Kept for 180 days.';

export const scheduledReportPdfRoute = route({
  method: 'GET',
  path: '/api/v1/scheduled-reports/:id/runs/:run_id/pdf',
  credentials: 'bearer',
  tag,
  summary: 'The PDF of a run',
  description: signed,
  params: ofRun,
  success: {
    status: 200,
    answer: z.custom<Uint8Array>((value) => value instanceof Uint8Array).meta({ type: 'string', format: 'binary' }),
    contentType: 'application/pdf',
    headers: ['Content-Disposition'],
  },
  errors: [404],
});

export const scheduledReportCsvRoute = route({
  method: 'GET',
  path: '/api/v1/scheduled-reports/:id/runs/:run_id/csv',
  credentials: 'bearer',
  tag,
  summary: 'The CSV of a run',
  description: signed,
  params: ofRun,
  success: {
    status: 200,
    answer: z.string(),
    contentType: 'text/csv; charset=utf-8; header=present',
    headers: ['Content-Disposition'],
  },
  errors: [404],
});

export const reportLinkPageRoute = route({
  method: 'GET',
  path: '/api/v1/public/reports/:token',
  credentials: 'none',
  tag,
  summary: 'Page of a link in the mail of a report, whose button ends that report for its reader',
  description: 'Opening it changes nothing: programs that look at mails open links.',
  params: ofLink,
  perAddressPerMinute: 60,
  success: page,
  alternative: noLink,
});

export const actOnReportLinkRoute = route({
  method: 'POST',
  path: '/api/v1/public/reports/:token',
  credentials: 'none',
  tag,
  summary: 'End a report for its reader, or have it sent again',
  description: 'What the buttons of the page send, and `List-Unsubscribe=One-Click` (RFC 8058). The body is not read.',
  params: ofLink,
  query: z.object({ action: z.enum(['unsubscribe', 'subscribe']).default('unsubscribe') }),
  bytes: { keptBytes: 1_000, readBytes: 10_000 },
  perAddressPerMinute: 60,
  success: page,
  alternative: noLink,
});
