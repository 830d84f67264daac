import { z } from 'zod';
import { tagsSchema } from './monitor-shapes.ts';
import { route } from './route.ts';
import { bodyId, distinctIds } from './shared.ts';

const tag = 'Monitors';

export const reorderMonitorsRoute = route({
  method: 'PUT',
  path: '/api/v1/monitors/reorder',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Set the order of the monitors of a workspace',
  description:
    'The order that `sort=manual` shows, the same for everybody. The listed monitors come first, as they are listed; the others keep their order ' +
    'behind them. The same call again changes nothing, and of calls at once one is the last. The order is the workspace’s: `version`, `updated_at` and the ' +
    'ETag of the monitors stay. 404 where a monitor is not of the workspace or deleted; `errors` names each by its place in the list.',
  body: z
    .strictObject({ workspace_id: bodyId, monitor_ids: distinctIds(10_000, 'must not name a monitor twice') })
    .meta({ id: 'ReorderMonitors' }),
  success: {
    status: 200,
    answer: z
      .object({
        workspace_id: z.number().int(),
        monitor_ids: z
          .array(z.number().int())
          .describe(
            'All monitors of the workspace in their new order; those that nobody has placed come last, oldest first.',
          ),
      })
      .meta({ id: 'MonitorOrder' }),
  },
  errors: [403, 404],
});

const monitorIds = distinctIds(500, 'must not name a monitor twice', 1);

/** Body of POST /monitors/bulk. */
export const bulkMonitorsSchema = z
  .discriminatedUnion('action', [
    z.strictObject({ action: z.literal('pause'), monitor_ids: monitorIds }),
    z.strictObject({ action: z.literal('resume'), monitor_ids: monitorIds }),
    z.strictObject({ action: z.literal('delete'), monitor_ids: monitorIds }),
    z.strictObject({ action: z.literal('add_tags'), monitor_ids: monitorIds, tags: tagsSchema.min(1) }),
    z.strictObject({ action: z.literal('remove_tags'), monitor_ids: monitorIds, tags: tagsSchema.min(1) }),
    z.strictObject({
      action: z.literal('move'),
      monitor_ids: monitorIds,
      workspace_id: bodyId.describe('Where they go; needs the role editor there too.'),
    }),
  ])
  .meta({ id: 'BulkMonitors' });
export type BulkMonitors = z.output<typeof bulkMonitorsSchema>;

/** Why an action was not done to a monitor. */
export const bulkFailures = [
  'not_found',
  'forbidden',
  'name_taken',
  'secret_missing',
  'too_many_tags',
  'interval_below_plan',
  'address_unconfirmed',
  'no_probe_able',
] as const;
export type BulkFailure = (typeof bulkFailures)[number];

const droppedSchema = z
  .object({
    type: z.string().describe('What was referred to: `probe`, `monitor_group` …'),
    id: z.number().int(),
  })
  .meta({ id: 'DroppedReference' });
/** A reference to something of the old workspace, which a move has removed. */
export type DroppedReference = z.output<typeof droppedSchema>;

export const bulkItemSchema = z
  .object({
    monitor_id: z.number().int(),
    result: z.enum(['ok', 'failed', 'not_found']),
    changed: z.boolean().describe('false: it was so already, or nothing was done.'),
    code: z.enum(bulkFailures).optional().describe('Unless `ok`.'),
    detail: z.string().optional().describe('Unless `ok`: what is wrong, and what to do.'),
    dropped: z
      .array(droppedSchema)
      .optional()
      .describe('Of a move: references to what belongs to the old workspace, which were removed.'),
  })
  .meta({ id: 'BulkMonitorsItem' });
export type BulkItem = z.output<typeof bulkItemSchema>;

export const bulkMonitorsRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/bulk',
  credentials: 'bearer',
  tag,
  summary: 'Do the same to many monitors',
  description:
    'Pauses, resumes, deletes, tags or moves up to 500 monitors at once and reports each, in the order of the request; one that fails does not stop ' +
    'the others. Roles are judged for the workspace of each monitor. `delete` answers when the monitors are gone for every other route; their results are ' +
    'removed in the background. `move` keeps results, incidents and settings, drops what belongs to the old workspace (`dropped`) and the place in the order. ' +
    'A monitor has at most 20 tags.',
  body: bulkMonitorsSchema,
  success: {
    status: 200,
    answer: z
      .object({
        action: z.enum(['pause', 'resume', 'delete', 'add_tags', 'remove_tags', 'move']),
        ok: z.number().int(),
        failed: z.number().int(),
        not_found: z.number().int(),
        results_removed: z
          .enum(['in_background'])
          .optional()
          .describe('Of `delete`: the results of what was deleted go in the background.'),
        monitors: z.array(bulkItemSchema),
      })
      .meta({ id: 'BulkMonitorsReport' }),
  },
  errors: [403, 404, 409],
});
