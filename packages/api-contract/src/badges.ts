import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, pageQuery, timestamp, wordParameter } from './shared.ts';

/** What may have a badge. */
export const badgeTypes = ['monitor', 'heartbeat', 'webhook_check', 'page'] as const;
export type BadgeType = (typeof badgeTypes)[number];

/** What a badge may say. */
export const badgeKinds = ['status', 'uptime', 'latency', 'certificate'] as const;
export type BadgeKind = (typeof badgeKinds)[number];

/** What the badges of each type say. */
export const badgeKindsOf: Readonly<Record<BadgeType, readonly BadgeKind[]>> = {
  monitor: badgeKinds,
  heartbeat: ['status', 'uptime'],
  webhook_check: ['status', 'uptime'],
  page: ['status', 'uptime'],
};

const formsSchema = z.object({ svg: z.url(), json: z.url() }).meta({ id: 'BadgeForms' });

const badgeSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    type: z.enum(badgeTypes),
    subject_id: z.number().int().describe('The number of what `type` says.'),
    name: z.string().describe('That of the subject. The badge itself does not show it.'),
    key: z.string().nullable().describe('Part of its URLs. null for viewers.'),
    urls: z
      .object({
        status: formsSchema,
        uptime: formsSchema,
        latency: formsSchema.nullable(),
        certificate: formsSchema.nullable(),
      })
      .nullable()
      .describe(
        'SVG, and JSON in the schema of the endpoint badge of Shields. null for viewers; a monitor has all four.',
      ),
    created_at: timestamp,
    rotated_at: timestamp.nullable().describe('When its present key replaced another one.'),
  })
  .meta({ id: 'Badge' });
export type Badge = z.infer<typeof badgeSchema>;

const tag = 'Badges';
const params = z.object({ id: idSchema });

export const listBadgesRoute = route({
  method: 'GET',
  path: '/api/v1/badges',
  credentials: 'bearer',
  tag,
  summary: 'List badges',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    type: wordParameter(z.enum(badgeTypes)).optional(),
  }),
  success: { status: 200, answer: listOf('badges', badgeSchema).meta({ id: 'BadgeList' }) },
  errors: [404],
});

export const createBadgeRoute = route({
  method: 'POST',
  path: '/api/v1/badges',
  credentials: 'bearer',
  tag,
  summary: 'Create the badge of a monitor, heartbeat, webhook check or status page',
  description: 'Each has one badge at most. Whoever knows one of its URLs sees it, without credentials.',
  body: z
    .strictObject({
      workspace_id: bodyId,
      type: z.enum(badgeTypes),
      id: bodyId.describe('The number of what `type` says.'),
    })
    .meta({ id: 'CreateBadgeRequest' }),
  idempotent: true,
  success: { status: 201, answer: badgeSchema },
  alternative: { status: 200, description: 'it has a badge already, which is answered' },
  errors: [403, 404],
});

export const readBadgeRoute = route({
  method: 'GET',
  path: '/api/v1/badges/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a badge',
  params,
  success: { status: 200, answer: badgeSchema },
  errors: [404],
});

export const rotateBadgeRoute = route({
  method: 'POST',
  path: '/api/v1/badges/:id/rotate',
  credentials: 'bearer',
  tag,
  summary: 'Replace the key of a badge',
  description: 'The previous key ends immediately. Caches of others may show its badge for another minute.',
  params,
  success: { status: 200, answer: badgeSchema },
  errors: [403, 404],
});

export const deleteBadgeRoute = route({
  method: 'DELETE',
  path: '/api/v1/badges/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a badge',
  description: 'Its key ends immediately. Its subject may be given another badge, with another key.',
  params,
  success: { status: 204 },
  errors: [403, 404],
});
