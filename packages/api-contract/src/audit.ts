import { z } from 'zod';
import { route } from './route.ts';
import { booleanQuery, idSchema, instant, listOf, pageQuery, timestamp } from './shared.ts';

export const auditEventSchema = z
  .object({
    id: z.number().int(),
    /** null: an event of the account, not of a workspace. */
    workspace_id: z.number().int().nullable(),
    user_id: z.number().int().nullable(),
    actor: z
      .enum(['user', 'api_key', 'access_token', 'system', 'command'])
      .describe('By what: a session, an API key, a personal access token, the product itself, its command line.'),
    action: z.string(),
    subject_type: z.string(),
    subject_id: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
    remote_address: z.string().nullable(),
    request_id: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'AuditEvent' });
export type AuditEventAnswer = z.output<typeof auditEventSchema>;

const word = z.string().min(1).max(100);

export const listAuditEventsRoute = route({
  method: 'GET',
  path: '/api/v1/audit-log',
  credentials: 'bearer',
  tag: 'Audit log',
  summary: 'Who changed what, newest first',
  description:
    'Events of the workspaces that the caller owns, or of one of them by `workspace_id`, and without that also those of the own account. As CSV by `Accept: text/csv` or `format=csv`: the newest 10,000 events that fit the filters, whatever the page; where there are more, the header `Link` with `rel="next"` asks for the older ones.',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    user_id: idSchema.optional().describe('Whose doing.'),
    action: word.optional().describe('Beginning of the action, such as `monitor.` or `monitor.deleted`.'),
    subject_type: word.optional(),
    subject_id: word.optional(),
    start_time: instant.optional().describe('Inclusive.'),
    end_time: instant.optional().describe('Inclusive.'),
    with_total: booleanQuery(true).describe(
      'When false nothing is counted, and `total` is the number of events returned.',
    ),
    format: z.enum(['json', 'csv']).optional(),
  }),
  success: {
    status: 200,
    answer: listOf('events', auditEventSchema).meta({ id: 'AuditEventList' }),
    others: { 'text/csv; charset=utf-8': z.string() },
    headers: ['Content-Disposition', 'Link'],
  },
  errors: [403, 404],
});
