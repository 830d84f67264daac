import { z } from 'zod';
import { incidentSeverities } from './incidents.ts';
import { route } from './route.ts';
import { timestamp } from './shared.ts';

/** The words that public pages have for a component. */
export const publicComponentStatuses = [
  'operational',
  'maintenance',
  'degraded',
  'partial_outage',
  'major_outage',
  'unknown',
] as const;
/** The words that public pages have for all of it. */
export const publicIndicators = ['none', 'maintenance', 'minor', 'major', 'critical', 'unknown'] as const;
export const publicIncidentStatuses = ['investigating', 'identified', 'monitoring', 'resolved', 'postmortem'] as const;
const publicUpdateStatuses = [...publicIncidentStatuses, 'note'] as const;

const publicId = z.string().regex(/^[a-z0-9]{12}$/);
const componentIds = z.array(publicId);
const percent = z.number().min(0).max(100).nullable();
const status = z.enum(publicComponentStatuses);

const componentSchema = z
  .object({
    id: publicId,
    name: z.string(),
    group: z.string().nullable().describe('The heading under which it stands.'),
    status: status.describe('`unknown`: nothing is known of it yet.'),
    uptime_percent: percent.describe(
      'Of the time that was measured in the days of the page. Cut after two decimals, never rounded up. `null`: nothing was measured, or it is not shown.',
    ),
    measured_percent: percent.describe(
      'How much of the time was measured. `null`: there is no time, or it is not shown.',
    ),
    days: z
      .string()
      .regex(/^[udpxmn]*$/)
      .describe(
        'A letter for each day in the zone of the page, the oldest first: `u` up, `d` degraded, `p` down for less than 1 % of the measured time, `x` down for more, `m` mostly maintenance, `n` not measured for more than a tenth. Empty where uptime is not shown.',
      ),
    troubles: z
      .array(z.object({ date: z.iso.date(), down_seconds: z.number().int().min(0) }))
      .describe('Days on which something was wrong or planned, the newest first.'),
  })
  .meta({ id: 'PublicComponent' });

const incidentSchema = z
  .object({
    id: publicId,
    title: z.string(),
    status: z.enum(publicIncidentStatuses),
    impact: z.enum(['none', ...incidentSeverities]),
    started_at: timestamp,
    component_ids: componentIds,
    updates: z
      .array(
        z.object({
          id: publicId,
          status: z.enum(publicUpdateStatuses),
          body: z
            .string()
            .nullable()
            .describe(
              'Markdown. `null`: the beginning or the end of an automatic incident, of which nobody wrote anything.',
            ),
          created_at: timestamp,
          display_at: timestamp.describe('The time that pages show.'),
        }),
      )
      .describe('The newest first.'),
  })
  .meta({ id: 'PublicIncident' });

const maintenanceSchema = z
  .object({
    id: publicId.describe('Of this occurrence.'),
    title: z.string().nullable(),
    text: z.string().nullable().describe('Markdown.'),
    status: z.enum(['scheduled', 'in_progress', 'completed']),
    starts_at: timestamp,
    ends_at: timestamp,
    component_ids: componentIds,
  })
  .meta({ id: 'PublicMaintenance' });

/** What a status page tells, for programs. */
export const publicStatusSchema = z
  .object({
    page: z.object({ id: publicId, name: z.string(), url: z.string(), timezone: z.string() }),
    status: z.object({ indicator: z.enum(publicIndicators), text: z.string().describe('In English.') }),
    components: z.array(componentSchema).describe('In the order of the page.'),
    incidents: z.array(incidentSchema).describe('The newest first: all that last, and fifty at most.'),
    maintenance: z
      .array(maintenanceSchema)
      .describe('Under way and in the next 30 days, the earliest first; then that of the last 30 days.'),
  })
  .meta({ id: 'PublicStatus' });
export type PublicStatus = z.output<typeof publicStatusSchema>;

export const publicStatusRoute = route({
  method: 'GET',
  path: '/api/v1/public/status/:slug',
  credentials: 'none',
  tag: 'Status pages',
  summary: 'Read a status page',
  description:
    'A former slug answers the page that it leads to, until somebody else may take it. A page that is not published is 404; one that is private is 401 `password_required` without its password, which goes into `X-Status-Password` or Basic authentication.',
  params: z.object({ slug: z.string().min(1).max(63) }),
  success: { status: 200, answer: publicStatusSchema, headers: ['ETag'] },
  errors: [401, 404],
});

export const askPublicDomainRoute = route({
  method: 'GET',
  path: '/api/v1/public/domains/ask',
  credentials: 'none',
  tag: 'Status pages',
  summary: 'Ask whether a published status page is served under a domain',
  description:
    'For a proxy that fetches certificates when they are first asked for, such as `on_demand_tls` of Caddy. Answered from memory.',
  query: z.object({ domain: z.string().max(300).default('').describe('None is no domain of ours.') }),
  success: { status: 200, answer: z.object({ domain: z.string() }).meta({ id: 'PublicDomain' }) },
  errors: [404],
});
