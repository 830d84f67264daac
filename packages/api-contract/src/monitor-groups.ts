import { z } from 'zod';
import { descriptionSchema, tagSchema, tagsSchema } from './monitor-shapes.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, nameSchema, orDefault, pageQuery, timestamp } from './shared.ts';

/** Members of one group, and identifiers in one request. */
export const mostGroupMembers = 1_000;
/** Identifiers in one query: one takes up to 23 characters, and a URL has at most 2,048. */
const mostIdsInQuery = 50;
/** Tags of one group. */
export const mostGroupTags = 20;

// Repetitions stay: an error names an identifier by its place.
const monitorIds = z.array(bodyId).max(mostGroupMembers);

/** Body of POST /monitor-groups. */
export const createMonitorGroupSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema.describe('Unique within the workspace.'),
    description: descriptionSchema.nullish(),
    is_paused: z.boolean().default(false),
    monitor_ids: monitorIds.nullish().describe('Monitors of the workspace.'),
    tags: tagsSchema.nullish(),
  })
  .meta({ id: 'CreateMonitorGroup' });
export type CreateMonitorGroup = z.output<typeof createMonitorGroupSchema>;

/** Body of PUT /monitor-groups/{id}: an absent key keeps, a description of `null` is cleared. */
export const updateMonitorGroupSchema = z
  .strictObject({
    name: nameSchema.optional(),
    description: descriptionSchema.nullish(),
    is_paused: orDefault(z.boolean(), false),
  })
  .meta({ id: 'UpdateMonitorGroup' });
export type UpdateMonitorGroup = z.output<typeof updateMonitorGroupSchema>;

/** A group as every route answers it. */
export const monitorGroupSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    is_paused: z.boolean().describe('While it is, every member is paused, whatever its own switch says.'),
    tags: z.array(z.string()),
    monitor_ids: z.array(z.number().int()).describe('The members, ascending.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z
      .number()
      .int()
      .describe('Counts every change by a route of the group; the ETag. A member that is deleted leaves without one.'),
  })
  .meta({ id: 'MonitorGroup' });
export type MonitorGroup = z.output<typeof monitorGroupSchema>;

/** Health of a group, worst first. */
export const groupHealths = ['down', 'degraded', 'unknown', 'up'] as const;
export type GroupHealth = (typeof groupHealths)[number];

const count = z.number().int();
const healthText =
  'The worst category of the members that are not paused, in the order down, degraded, unknown, up; unknown when there is none. ' +
  'Categories are those of the list of monitors.';

export const groupStatusSchema = z
  .object({
    status: z.enum(['active', 'paused']),
    health: z.enum(groupHealths).describe(healthText),
    counts: z
      .object({ total: count, up: count, down: count, degraded: count, unknown: count, paused: count })
      .describe('Members by category; one that is paused, by itself or by a group, counts there only.'),
  })
  .meta({ id: 'MonitorGroupStatus' });
export type GroupStatus = z.output<typeof groupStatusSchema>;

const groupStatsSchema = z
  .object({
    total: count,
    active: count,
    paused: count,
    monitors: count.describe('Monitors that are members of at least one of the groups.'),
    health: z
      .object({ down: count, degraded: count, unknown: count, up: count })
      .describe('Groups that are not paused, by health.'),
  })
  .meta({ id: 'MonitorGroupStats' });

const tag = 'Monitor groups';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';
const ofBodyOrQuery = 'As a JSON body, or as repeated query parameters; what both name is taken together.';

export const listMonitorGroupsRoute = route({
  method: 'GET',
  path: '/api/v1/monitor-groups',
  credentials: 'bearer',
  tag,
  summary: 'List monitor groups by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    search: searchText.optional().describe('Case-insensitive part of name or description.'),
  }),
  success: { status: 200, answer: listOf('monitor_groups', monitorGroupSchema).meta({ id: 'MonitorGroupList' }) },
  errors: [404],
});

export const createMonitorGroupRoute = route({
  method: 'POST',
  path: '/api/v1/monitor-groups',
  credentials: 'bearer',
  tag,
  summary: 'Create a monitor group',
  body: createMonitorGroupSchema,
  idempotent: true,
  success: { status: 201, answer: monitorGroupSchema },
  errors: [403, 404, 409],
});

export const monitorGroupStatsRoute = route({
  method: 'GET',
  path: '/api/v1/monitor-groups/stats',
  credentials: 'bearer',
  tag,
  summary: 'Count monitor groups',
  query: z.object({ workspace_id: idSchema.optional() }),
  success: { status: 200, answer: groupStatsSchema },
  errors: [404],
});

export const readMonitorGroupRoute = route({
  method: 'GET',
  path: '/api/v1/monitor-groups/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a monitor group',
  params,
  success: { status: 200, answer: monitorGroupSchema },
  errors: [404],
});

export const updateMonitorGroupRoute = route({
  method: 'PUT',
  path: '/api/v1/monitor-groups/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a monitor group',
  description: `An absent key keeps, a description of \`null\` is cleared. ${ifMatch}`,
  params,
  body: updateMonitorGroupSchema,
  success: { status: 200, answer: monitorGroupSchema },
  errors: [403, 404, 409, 412],
});

export const deleteMonitorGroupRoute = route({
  method: 'DELETE',
  path: '/api/v1/monitor-groups/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a monitor group',
  description: 'Its members stay; those that it alone paused are resumed.',
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const addGroupMonitorsRoute = route({
  method: 'POST',
  path: '/api/v1/monitor-groups/:id/monitors',
  credentials: 'bearer',
  tag,
  summary: 'Add monitors to a group',
  description: `Those that are members already stay so. At most ${mostGroupMembers} members. ${ifMatch}`,
  params,
  body: z.strictObject({ monitor_ids: monitorIds.min(1) }).meta({ id: 'AddGroupMonitors' }),
  success: { status: 200, answer: monitorGroupSchema },
  errors: [403, 404, 412],
});

export const removeGroupMonitorsRoute = route({
  method: 'DELETE',
  path: '/api/v1/monitor-groups/:id/monitors',
  credentials: 'bearer',
  tag,
  summary: 'Remove monitors from a group',
  description: `${ofBodyOrQuery} More than ${mostIdsInQuery} stand in the body. Those that are no members are passed over. ${ifMatch}`,
  params,
  query: z.object({ monitor_ids: z.union([idSchema, z.array(idSchema).max(mostIdsInQuery)]).optional() }),
  body: z.strictObject({ monitor_ids: monitorIds.optional() }).meta({ id: 'RemoveGroupMonitors' }).nullish(),
  success: { status: 204, headers: ['ETag'] },
  errors: [403, 404, 412],
});

export const addGroupTagsRoute = route({
  method: 'POST',
  path: '/api/v1/monitor-groups/:id/tags',
  credentials: 'bearer',
  tag,
  summary: 'Add tags to a group',
  description: `At most ${mostGroupTags} tags. ${ifMatch}`,
  params,
  body: z.strictObject({ tags: tagsSchema.min(1) }).meta({ id: 'AddGroupTags' }),
  success: { status: 200, answer: monitorGroupSchema },
  errors: [403, 404, 412],
});

export const removeGroupTagsRoute = route({
  method: 'DELETE',
  path: '/api/v1/monitor-groups/:id/tags',
  credentials: 'bearer',
  tag,
  summary: 'Remove tags from a group',
  description: `${ofBodyOrQuery} Tags that it does not have are passed over. ${ifMatch}`,
  params,
  query: z.object({ tags: z.union([tagSchema, z.array(tagSchema).max(mostGroupTags)]).optional() }),
  body: z.strictObject({ tags: tagsSchema.optional() }).meta({ id: 'RemoveGroupTags' }).nullish(),
  success: { status: 204, headers: ['ETag'] },
  errors: [403, 404, 412],
});

export const readGroupStatusRoute = route({
  method: 'GET',
  path: '/api/v1/monitor-groups/:id/status',
  credentials: 'bearer',
  tag,
  summary: 'Status of a monitor group',
  params,
  success: { status: 200, answer: groupStatusSchema },
  errors: [404],
});

export const setGroupStatusRoute = route({
  method: 'PUT',
  path: '/api/v1/monitor-groups/:id/status',
  credentials: 'bearer',
  tag,
  summary: 'Pause or resume a monitor group',
  description: `A member of several paused groups is paused until all of them are resumed. ${ifMatch}`,
  params,
  body: z.strictObject({ status: z.enum(['active', 'paused']) }).meta({ id: 'SetMonitorGroupStatus' }),
  success: { status: 200, answer: groupStatusSchema, headers: ['ETag'] },
  errors: [403, 404, 412],
  measured: ['health', 'counts'],
});
