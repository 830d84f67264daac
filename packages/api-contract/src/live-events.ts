import { z } from 'zod';
import { route } from './route.ts';
import { booleanQuery, idSchema } from './shared.ts';

/** Kinds of events that are kept for a day; each is also the name of an event of the outbox. */
export const liveEventKinds = [
  'monitor.transition',
  'monitor.revised',
  'monitor.paused',
  'monitor.resumed',
  'monitor.reset',
  'certificate.expiring',
  'domain.expiring',
  'dnsbl.listed',
  'dnsbl.delisted',
  'incident.opened',
  'incident.updated',
  'incident.acknowledged',
  'incident.resolved',
  'incident.recovered',
  'incident.deleted',
  'maintenance.started',
  'maintenance.ended',
  'maintenance.cancelled',
  'maintenance.all_clear',
  'heartbeat.missed',
  'heartbeat.failed',
  'heartbeat.recovered',
  'heartbeat.paused',
  'heartbeat.resumed',
  'heartbeat.deleted',
  'webhook_check.missed',
  'webhook_check.failed',
  'webhook_check.recovered',
  'webhook_check.paused',
  'webhook_check.resumed',
  'webhook_check.deleted',
] as const;
export type LiveEventKind = (typeof liveEventKinds)[number];

export const streamEventsRoute = route({
  method: 'GET',
  path: '/api/v1/events/stream',
  credentials: 'bearer',
  tag: 'Events',
  summary: 'What happens, as it happens',
  description: [
    'Server-sent events (WHATWG HTML, 9.2) of all workspaces of the caller, each with `event`, `data` in JSON and, where it is kept, `id`.',
    '',
    '`ready`: everything from now on will be told. `monitor.transition` (`monitor_id`, `workspace_id`, `from`, `to`, `at`, `detected_at`), ' +
      '`monitor.revised` (`since`), `monitor.paused`, `monitor.resumed`, `monitor.reset`, ' +
      '`certificate.expiring` and `domain.expiring` (`not_after`, `threshold_days`, `occasion`), `dnsbl.listed` and `dnsbl.delisted` (`provider`, ' +
      '`at`), `incident.opened`, `incident.updated`, `incident.acknowledged`, `incident.resolved`, `incident.recovered` (what was resolved by hand), ' +
      '`incident.deleted` (`incident_id`, `title`, `status`, `seq`), `maintenance.started`, `maintenance.ended` and `maintenance.cancelled` ' +
      '(`maintenance_id`, `name`, `occurrence`), `maintenance.all_clear` (`maintenance_id`, `name`, `incident_count`), `heartbeat.missed`, `heartbeat.failed`, `heartbeat.recovered`, `heartbeat.paused`, ' +
      '`heartbeat.resumed` and `heartbeat.deleted` (`heartbeat_id`, `name`, `at`), `webhook_check.missed`, `webhook_check.failed`, ' +
      '`webhook_check.recovered`, `webhook_check.paused`, `webhook_check.resumed` and `webhook_check.deleted` ' +
      '(`webhook_check_id`, `name`, `at`): kept for 24 hours. `results`: the latest check results, ' +
      'at most one of a monitor in a second, not kept: `{"results": [{monitor_id, workspace_id, probe_id, at, outcome, response_time_ms}]}`.',
    '',
    'Send the `id` that came last as `Last-Event-ID` to get what has happened since. Where that is more than is kept or than 1,000 events, a ' +
      '`reset` says so: read again what you show. Roles and credentials are looked at again before anything is told; `end` names why a stream is ' +
      'over, such as an access token that has expired. A comment comes every 15 seconds, so a silence of 30 is a broken connection.',
  ].join('\n'),
  requestHeaders: ['Last-Event-ID'],
  query: z.object({
    workspace_id: idSchema.optional().describe('Only of this workspace.'),
    results: booleanQuery(true).describe('false: without `results`.'),
  }),
  success: {
    status: 200,
    answer: z.custom<AsyncIterable<string>>(() => true).meta({ type: 'string' }),
    contentType: 'text/event-stream; charset=utf-8',
  },
  errors: [404],
});
