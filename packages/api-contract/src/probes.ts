import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, pageQuery, timestamp } from './shared.ts';

const tag = 'Probes';

/** Names and regions of probes stand in command lines and subjects: 1 to 63 letters, digits, dots, hyphens or underscores. */
const plainName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/u, 'must be 1 to 63 letters, digits, dots, hyphens or underscores');

export const probeHealthSchema = z
  .object({
    status: z.enum(['online', 'offline', 'never_connected']),
    session_since: timestamp.nullable(),
    last_seen_at: timestamp.nullable(),
    in_flight: z.number().int(),
    oldest_unacknowledged_ms: z.number().int(),
    damaged_records: z.number().int(),
    /** Highest revision of its assignments that the probe has applied, and the highest that there is. */
    applied_revision: z.number().int(),
    assignment_revision: z.number().int(),
    assigned_monitors: z.number().int(),
    certificate_expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ProbeHealth' });

export const quarantineSchema = z
  .object({
    started_at: timestamp,
    ended_at: timestamp.nullable().describe('null: it lasts'),
    reason: z.string(),
    clean_since: timestamp
      .nullable()
      .describe('Since when the probe agrees with the others again; after 30 minutes it votes again.'),
    is_lifted: z.boolean().describe('ended by hand'),
  })
  .meta({ id: 'Quarantine' });

export const probeSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int().nullable().describe('null: a public probe of the installation'),
    name: z.string(),
    region: z.string(),
    is_paused: z.boolean(),
    agent_version: z.string(),
    capabilities: z.array(z.string()),
    public_addresses: z.array(z.string()),
    health: probeHealthSchema,
    quarantine: quarantineSchema.nullable().describe('While it lasts, the votes of this probe do not count.'),
    quarantines: z.array(quarantineSchema).describe('The last ten, newest first.'),
    version: z.number().int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Probe' });
export type ProbeAnswer = z.infer<typeof probeSchema>;

export const joinTokenSchema = z
  .object({
    id: z.number().int(),
    token: z.string().describe('shown once'),
    command: z.string().describe('to paste on the machine of the probe'),
    name: z.string(),
    region: z.string(),
    workspace_id: z.number().int().nullable(),
    expires_at: timestamp,
  })
  .meta({ id: 'JoinToken' });

export const probeAddressesSchema = z
  .object({ addresses: z.array(z.string()), cidrs: z.array(z.string()) })
  .meta({ id: 'ProbeAddresses' });

const probeParams = z.object({ probe_id: idSchema });

export const listProbes = route({
  method: 'GET',
  path: '/api/v1/probes',
  credentials: 'bearer',
  tag,
  summary: 'List the public probes and the private ones of your workspaces',
  query: z.object({ ...pageQuery, workspace_id: idSchema.optional() }),
  success: { status: 200, answer: listOf('probes', probeSchema).meta({ id: 'ProbeList' }) },
  errors: [404],
});

export const getProbe = route({
  method: 'GET',
  path: '/api/v1/probes/:probe_id',
  credentials: 'bearer',
  tag,
  summary: 'One probe with its health',
  params: probeParams,
  success: { status: 200, answer: probeSchema },
  errors: [404],
});

export const updateProbe = route({
  method: 'PATCH',
  path: '/api/v1/probes/:probe_id',
  credentials: 'bearer',
  tag,
  summary: 'Rename a probe, move it to another region, pause or resume it',
  description:
    'Public probes belong to administrators, private ones to owners of their workspace. A paused probe runs no checks and keeps its seats. `If-Match` with the version is honoured.',
  params: probeParams,
  body: z
    .strictObject({ name: plainName.optional(), region: plainName.optional(), is_paused: z.boolean().optional() })
    .meta({ id: 'UpdateProbe' }),
  success: { status: 200, answer: probeSchema },
  errors: [403, 404, 409, 412],
  measured: ['agent_version', 'capabilities', 'public_addresses', 'health', 'quarantine', 'quarantines'],
});

export const revokeProbe = route({
  method: 'DELETE',
  path: '/api/v1/probes/:probe_id',
  credentials: 'bearer',
  tag,
  summary: 'Revoke a probe for good',
  description: 'Its session and its broker connection are cut within seconds; its seats go to other probes.',
  params: probeParams,
  success: { status: 204 },
  errors: [403, 404],
});

export const liftQuarantine = route({
  method: 'DELETE',
  path: '/api/v1/probes/:probe_id/quarantine',
  credentials: 'bearer',
  tag,
  summary: 'Let a probe out of quarantine',
  description:
    'A probe that fails alone on at least half of its monitors is put into quarantine: its results are still taken and do not vote. After 30 minutes without a contradiction it is let out. By hand that can be done at once; it is not put there again within the next 24 hours.',
  params: probeParams,
  success: { status: 204 },
  errors: [403, 404],
});

export const createProbeJoinToken = route({
  method: 'POST',
  path: '/api/v1/probes/join-tokens',
  credentials: 'bearer',
  tag,
  summary: 'A one-time token that registers a probe under a name and region',
  description:
    'With `workspace_id` the probe is private to that workspace (owners only), without it is public (administrators only).',
  body: z
    .strictObject({
      name: plainName,
      region: plainName,
      workspace_id: bodyId.optional(),
      expires_in_minutes: z
        .number()
        .int()
        .min(1)
        .max(24 * 60)
        .default(10),
    })
    .meta({ id: 'CreateJoinToken' }),
  success: { status: 201, answer: joinTokenSchema },
  idempotent: true,
  errors: [403, 404, 409],
});

const probeIps = {
  method: 'GET',
  credentials: 'none',
  tag,
  summary: 'Addresses that checks and webhooks come from',
  description:
    'What a firewall before a target must allow. Addresses of the public probes and of the control plane, never of private probes; private addresses of a machine only where it has no public ones. Plain text by `Accept: text/plain` or `format=text`, one CIDR a line by `format=cidr`, else JSON.',
  query: z.object({ format: z.enum(['json', 'text', 'cidr']).optional() }),
  success: { status: 200, answer: probeAddressesSchema, others: { 'text/plain; charset=utf-8': z.string() } },
  perAddressPerMinute: 60,
} as const;

export const listProbeAddresses = route({ ...probeIps, path: '/api/v1/probe/ips' });
export const listProbeAddressesAtRoot = route({ ...probeIps, path: '/probe/ips' });
