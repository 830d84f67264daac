import { createMonitorGroupSchema, nameSchema, topLevelHttpFields, updateMonitorSchema } from '@parallax/api-contract';
import { z } from 'zod';

const named = z.string().trim().min(1).max(200);

/** What a file says in another place: settings that requests may also carry outside of `settings`, probes by name, its one workspace. */
const elsewhere = new Set([...Object.keys(topLevelHttpFields), 'probe_ids', 'workspace_id']);

// From the contract, so that a new field of monitors is a field of files without a line here.
const ofContract = Object.fromEntries(
  Object.entries(updateMonitorSchema.shape).filter(([name]) => !elsewhere.has(name)),
) as Omit<typeof updateMonitorSchema.shape, keyof typeof topLevelHttpFields | 'probe_ids' | 'workspace_id'>;

const monitorSchema = z.strictObject({
  ...ofContract,
  name: nameSchema,
  /** Needed but for group monitors, which have none. */
  url: updateMonitorSchema.shape.url,
  probes: z.array(named).max(1_000).optional(),
});

const groupSchema = z.strictObject({
  name: nameSchema,
  description: createMonitorGroupSchema.shape.description,
  is_paused: z.boolean().optional(),
  tags: createMonitorGroupSchema.shape.tags,
  monitors: z.array(named).max(1_000).optional(),
});

/** A file of `control-plane export` and `apply`. */
export const fileSchema = z.strictObject({
  parallax: z.literal(1, 'must be 1, the version of this format'),
  workspace: z.union([nameSchema, z.number().int().min(1).max(2_147_483_647)]).optional(),
  monitors: z.array(monitorSchema).max(10_000).optional(),
  monitor_groups: z.array(groupSchema).max(10_000).optional(),
});

/** Fields of a monitor in the order in which they are written; settings come last. */
export const monitorFields: readonly string[] = [
  'name',
  'url',
  ...Object.keys(monitorSchema.shape).filter((name) => !['name', 'url', 'settings'].includes(name)),
  'settings',
];

/** Fields of which null is a value; elsewhere the answers of the API have none. */
export const nullableFields: ReadonlySet<string> = new Set(['degraded_threshold_ms']);
