import { protocols } from '@parallax/checks';
import { z } from 'zod';
import { bodyId, nameSchema, orDefault, timestamp, wordParameter } from './shared.ts';
import { warningsSchema } from './warnings.ts';

/** Status of a monitor at a time, decided from what its probes agree on. */
export const monitorStatuses = ['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'] as const;
export type MonitorStatus = (typeof monitorStatuses)[number];

/** Categories and raw statuses of `status_filter`. */
export const statusFilters = [
  'up',
  'down',
  'degraded',
  'unknown',
  'paused',
  'partial',
  'timeout',
  'warning',
  'transient',
  'skipped',
] as const;
export type StatusFilter = (typeof statusFilters)[number];

export const monitorSorts = ['status', 'name', 'uptime', 'response', 'manual'] as const;
export type MonitorSort = (typeof monitorSorts)[number];

/** The protocol of monitors whose verdict is made from other monitors. It is no check type: no probe runs it. */
export const groupProtocol = 'group';

/** What a monitor may be: a check type, or a verdict over other monitors. */
export const monitorProtocols = [...protocols, groupProtocol] as const;
export type MonitorProtocol = (typeof monitorProtocols)[number];

export const protocolSchema = z.enum(monitorProtocols).meta({
  id: 'Protocol',
  description:
    'What is checked. Left out, it is taken from the scheme of the URL. `group` is checked by no probe: its status is made from those of ' +
    'other monitors, which `settings` name.',
});

/** True for C0 and C1 control characters other than those listed. */
function hasControlCharacter(text: string, allowed = ''): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if ((code < 0x20 || (code >= 0x7f && code <= 0x9f)) && !allowed.includes(character)) return true;
  }
  return false;
}

export const descriptionSchema = z
  .string()
  .max(2_000)
  .refine(
    (text) => !hasControlCharacter(text, '\t\n\r'),
    'must not contain control characters other than tabs and line ends',
  );

/** 1 to 50 characters, NFC. */
export const tagSchema = z
  .string()
  .normalize('NFC')
  .trim()
  .min(1)
  .max(50)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters');

const distinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

/** At most 20, each once. */
export const tagsSchema = z
  .array(tagSchema)
  .max(20)
  .overwrite((tags) => [...new Set(tags)]);

const urlSchema = z
  .string()
  .trim()
  .min(1)
  .max(2_048)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
  .describe('A URL, or what the protocol takes instead: `host`, `host:port`.');

const newUrlSchema = urlSchema
  .or(z.literal(''))
  .default('')
  .describe(
    'A URL, or what the protocol takes instead: `host`, `host:port`. Only the protocol `group` needs none; its monitors answer `group:members`, ' +
      'or `group:ID` with the identifier of the monitor group.',
  );

export const intervalSchema = z.number().int().min(1).max(86_400);
const timeoutSchema = z.number().int().min(1).max(60);
export const confirmationsSchema = z.number().int().min(1).max(5);

/** How many failing probes make an outage. A number is clamped to the probes that the monitor has. */
export const consensusPolicySchema = z
  .union([z.enum(['majority', 'any', 'all']), z.number().int().min(1).max(100)])
  .meta({ id: 'ConsensusPolicy' });

export const degradedThresholdSchema = z.number().int().min(1).max(60_000);
const probeIdsSchema = z.array(bodyId).max(1_000).refine(distinct, 'must not name a probe twice');
const regionsSchema = z
  .array(z.string().trim().min(1).max(100))
  .max(1_000)
  .refine(distinct, 'must not name a region twice');
const thresholdsSchema = z
  .array(z.number().int().min(1).max(365))
  .max(10)
  .refine(distinct, 'must not name a day twice')
  .overwrite((days) => [...days].sort((a, b) => b - a));
const dnsblServersSchema = z.array(z.string().trim().min(1).max(253)).max(100);
const settingsSchema = z
  .record(z.string().max(100), z.unknown())
  .describe(
    'Settings of the protocol. Secret ones are write-only: answers carry `has_<name>: true` instead. Of the protocol `group`: ' +
      '`monitor_ids` (of the same workspace) or `group_id` (a monitor group), and `minimum_up`: how many members must be up, ' +
      'all whose status is known when left out. Paused members and UNKNOWN ones count neither way; DOWN and TIMEOUT are down, everything else ' +
      'is up. It is DEGRADED while enough are up and some are down.',
  );

/** Settings of `http` and `https` that are also taken at the top level; the check type's own schema rules them. */
export const topLevelHttpFields = {
  method: z.string().max(20),
  headers: z.record(z.string().max(200), z.string().max(8_192)),
  body: z.string().max(65_536),
  expected_status: z.array(z.union([z.number().int(), z.string().max(20)])).max(32),
  keyword: z.union([z.string().max(1_024), z.record(z.string().max(100), z.unknown())]),
  keyword_absent: z.union([z.string().max(1_024), z.record(z.string().max(100), z.unknown())]),
  verify_tls: z.boolean(),
  follow_redirects: z.boolean(),
} as const;

const optionalHttp = {
  method: topLevelHttpFields.method.nullish(),
  headers: topLevelHttpFields.headers.nullish(),
  body: topLevelHttpFields.body.nullish(),
  expected_status: topLevelHttpFields.expected_status.nullish(),
  keyword: topLevelHttpFields.keyword.nullish(),
  keyword_absent: topLevelHttpFields.keyword_absent.nullish(),
  verify_tls: topLevelHttpFields.verify_tls.nullish(),
  follow_redirects: topLevelHttpFields.follow_redirects.nullish(),
};

/** Body of POST /monitors. */
export const createMonitorSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema.optional().describe('Unique among all workspaces of one owner; left out: the host of the URL.'),
    url: newUrlSchema,
    protocol: wordParameter(protocolSchema).optional(),
    description: descriptionSchema.nullish(),
    interval_seconds: intervalSchema.default(60),
    timeout_seconds: timeoutSchema.nullish().describe('Default: the smaller of 10 and the interval.'),
    confirmations: confirmationsSchema.nullish().describe('Consecutive failures that confirm one. Default 2.'),
    consensus_policy: consensusPolicySchema.nullish(),
    degraded_threshold_ms: degradedThresholdSchema.nullish(),
    settings: settingsSchema.nullish(),
    tags: tagsSchema.nullish(),
    probe_ids: probeIdsSchema
      .nullish()
      .describe('Which probes check; empty: up to three online probes in different regions.'),
    regions: regionsSchema.nullish().describe('Which regions check; not together with `probe_ids`.'),
    dnsbl_servers: dnsblServersSchema.nullish(),
    certificate_thresholds_days: thresholdsSchema.nullish(),
    domain_thresholds_days: thresholdsSchema.nullish(),
    is_active: z.boolean().default(true),
    ...optionalHttp,
  })
  .meta({ id: 'CreateMonitor' });
export type CreateMonitor = z.output<typeof createMonitorSchema>;

/** Body of POST /monitors/test: that of a new monitor, secrets in the clear, with what a test needs beside it. */
export const testMonitorSchema = createMonitorSchema
  .extend({
    workspace_id: bodyId
      .optional()
      .describe('Left out: that of `monitor_id`, else the first of the workspaces in which the caller may edit.'),
    monitor_id: bodyId
      .optional()
      .describe(
        'A stored monitor that this is an edition of: secrets that are left out are taken from it, unless they would go to another destination.',
      ),
    probe_ids: probeIdsSchema
      .max(5)
      .nullish()
      .describe(
        'Which probes test, at most five; left out: one that is able, or the control plane where there is none.',
      ),
  })
  .meta({ id: 'TestMonitor' });
export type TestMonitor = z.output<typeof testMonitorSchema>;

/** Body of POST /monitors/{monitor_id}/check, which may be missing, empty or null. */
export const checkMonitorSchema = z
  .strictObject({
    probe_ids: probeIdsSchema
      .max(5)
      .nullish()
      .describe('Which of the assigned probes check, at most five; left out or empty: all of them.'),
  })
  .meta({ id: 'CheckMonitor' })
  .nullish();

/** Body of PATCH /monitors/{monitor_id}: an absent key keeps, `null` goes back to the default. */
export const updateMonitorSchema = z
  .strictObject({
    workspace_id: bodyId
      .optional()
      .describe(
        'Another one moves the monitor there, as the bulk action `move` does; this needs the role editor in both.',
      ),
    name: nameSchema.optional(),
    url: urlSchema.or(z.literal('')).optional(),
    protocol: wordParameter(protocolSchema).optional(),
    description: descriptionSchema.nullish(),
    interval_seconds: orDefault(intervalSchema, 60),
    timeout_seconds: timeoutSchema.nullish(),
    confirmations: confirmationsSchema.nullish(),
    consensus_policy: consensusPolicySchema.nullish(),
    degraded_threshold_ms: degradedThresholdSchema.nullish(),
    settings: settingsSchema
      .nullish()
      .describe('Merged into what is stored: an absent setting keeps, a setting of `null` goes back to its default.'),
    tags: tagsSchema.nullish(),
    probe_ids: probeIdsSchema.nullish(),
    regions: regionsSchema.nullish(),
    dnsbl_servers: dnsblServersSchema.nullish(),
    certificate_thresholds_days: thresholdsSchema.nullish(),
    domain_thresholds_days: thresholdsSchema.nullish(),
    is_active: orDefault(z.boolean(), true),
    ...optionalHttp,
  })
  .meta({ id: 'UpdateMonitor' });
export type UpdateMonitor = z.output<typeof updateMonitorSchema>;

/** Fields of a monitor that change without a new version. */
export const measuredOfMonitors = [
  'assigned_probes',
  'certificate_expires_at',
  'paused_by',
  'position',
  'status',
  'status_since',
  'last_checked_at',
  'last_response_time_ms',
  'uptime_24h',
] as const;

/** A monitor as every route answers it. */
export const monitorSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    url: z.string(),
    protocol: z.string(),
    interval_seconds: z.number().int(),
    timeout_seconds: z.number().int(),
    confirmations: z.number().int(),
    consensus_policy: consensusPolicySchema,
    degraded_threshold_ms: z.number().int().nullable(),
    settings: z
      .record(z.string(), z.unknown())
      .describe('Settings of the protocol with their defaults; for a secret that is set `has_<name>: true`.'),
    tags: z.array(z.string()),
    probe_ids: z.array(z.number().int()),
    regions: z.array(z.string()),
    assigned_probes: z.array(
      z.object({
        probe_id: z.number().int(),
        name: z.string(),
        region: z.string(),
        supplement: z.boolean().describe('Stands in for a lost probe.'),
      }),
    ),
    dnsbl_servers: z.array(z.string()),
    certificate_thresholds_days: z.array(z.number().int()),
    domain_thresholds_days: z.array(z.number().int()),
    certificate_expires_at: timestamp
      .nullable()
      .describe('End of the certificate that ends first of those that the probes see; null when none is known.'),
    domain_expires_at: timestamp.nullable().describe("End of the domain's registration; null when none is known."),
    is_active: z.boolean(),
    paused_by: z.enum(['self', 'group']).nullable(),
    position: z.number().int().nullable(),
    status: z.enum(monitorStatuses),
    status_since: timestamp.nullable(),
    last_checked_at: timestamp.nullable().describe('Start of the last check that was not asked for by hand.'),
    last_response_time_ms: z
      .number()
      .nullable()
      .describe('Of that check; null when it got no answer or was a fallback beside probes.'),
    uptime_24h: z
      .number()
      .nullable()
      .describe('Per cent of the measured time of the last 24 hours; null when nothing was measured.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('Counts every change; the ETag.'),
    probe_revision: z.number().int().describe('Counts the changes of what is checked.'),
  })
  .meta({ id: 'Monitor' });
export type Monitor = z.output<typeof monitorSchema>;

/** A monitor as the answer to its change. */
export const changedMonitorSchema = monitorSchema.extend({ warnings: warningsSchema }).meta({ id: 'ChangedMonitor' });
export type ChangedMonitor = z.output<typeof changedMonitorSchema>;
