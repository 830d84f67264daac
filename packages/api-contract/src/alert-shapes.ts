import { z } from 'zod';
import { incidentSeverities } from './incidents.ts';
import { maintenanceSubjectTypes } from './maintenance.ts';
import { descriptionSchema, tagsSchema } from './monitor-shapes.ts';
import { bodyId, hasControlCharacter, instant, localeInput, nameSchema, orDefault, timestamp } from './shared.ts';

/** Bounds of alerts. Durations in seconds. */
export const alertLimits = {
  steps: 10,
  /** Of one step. */
  targets: 20,
  /** Of each list of a scope. */
  subjects: 1_000,
  quietWindows: 20,
  targetCharacters: 500,
  mostDelaySeconds: 86_400,
  leastReminderSeconds: 60,
  mostReminderSeconds: 604_800,
  /** How long it may be silenced at once: a year. */
  mostMutedSeconds: 366 * 86_400,
  /** Of one workspace. */
  ofWorkspace: 500,
  /** Messages that one test sends. */
  testTargets: 20,
} as const;

/** What an alert may tell of. Recovery is no event of its own: `notify_on_recovery`. */
export const alertEvents = [
  'monitor.down',
  'monitor.degraded',
  'monitor.partial',
  'monitor.warning',
  'monitor.unknown',
  'monitor.flapping',
  'certificate.expiring',
  'domain.expiring',
  'dnsbl.listed',
  'heartbeat.missed',
  'heartbeat.failed',
  'webhook_check.missed',
  'webhook_check.failed',
  'probe.offline',
  'probe.quarantined',
  'incident.opened',
  'incident.updated',
  'incident.acknowledged',
  'maintenance.all_clear',
] as const;
export type AlertEvent = (typeof alertEvents)[number];

const usualEvents: ReadonlySet<AlertEvent> = new Set([
  'monitor.down',
  'heartbeat.missed',
  'heartbeat.failed',
  'webhook_check.missed',
  'webhook_check.failed',
  'certificate.expiring',
  'domain.expiring',
]);
/** What a new alert tells of unless it says otherwise, in the order in which events of a body are kept. */
export const defaultAlertEvents: readonly AlertEvent[] = alertEvents.filter((event) => usualEvents.has(event));

const localeSchema = z.enum(['en', 'ru']);
const zoneSchema = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
  .describe('An IANA name, such as `Europe/Berlin`.');

const delaySchema = z.number().int().min(0).max(alertLimits.mostDelaySeconds);

/** Whom a message goes to. */
const targetSchema = z
  .strictObject({
    channel: z
      .string()
      .min(1)
      .max(50)
      .regex(/^[a-z][a-z0-9-]*$/, 'must be the name of a channel')
      .describe('`email`, `messenger`, `team-chat` …; `slack`, `telegram` and `discord` are taken as well.'),
    config_id: bodyId
      .nullish()
      .describe(
        'A configuration of this channel, of whoever made the alert. Mail needs none: without one the installation sends it.',
      ),
    target: z
      .string()
      .trim()
      .min(1)
      .max(alertLimits.targetCharacters)
      .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
      .nullish()
      .describe(
        'An address, a chat, a telephone number: what the channel says. Of mail `null` is the own address, which is followed when it changes.',
      ),
    locale: localeInput
      .nullish()
      .describe('Default, and `null`: that which whoever made the alert has when a message is sent.'),
    timezone: zoneSchema
      .nullish()
      .describe(
        'In which times are written. Default, and `null`: that which whoever made the alert has when a message is sent.',
      ),
  })
  .meta({ id: 'AlertTargetInput' });
export type AlertTargetInput = z.output<typeof targetSchema>;

const stepSchema = z
  .strictObject({
    after_seconds: delaySchema
      .default(0)
      .describe('Since the problem became known, and had lasted for `min_duration_seconds`.'),
    targets: z.array(targetSchema).min(1).max(alertLimits.targets),
  })
  .meta({ id: 'AlertStepInput' });

const stepsSchema = z
  .array(stepSchema)
  .min(1)
  .max(alertLimits.steps)
  .superRefine((steps, context) => {
    for (const [index, step] of steps.entries()) {
      const before = steps[index - 1];
      if (before !== undefined && step.after_seconds <= before.after_seconds) {
        const message = 'must be more than that of the step before';
        context.addIssue({ code: 'custom', path: [index, 'after_seconds'], message });
      }
    }
  })
  .describe(
    'Who is told, and who else when nobody has acknowledged it after a while. They end when it is acknowledged or over.',
  );

export const alertScopeSchema = z
  .strictObject({
    all: z.boolean().optional().describe('Everything of the workspace; then no list is given.'),
    subjects: z
      .array(z.strictObject({ type: z.enum(maintenanceSubjectTypes), id: bodyId }))
      .max(alertLimits.subjects)
      .optional(),
    group_ids: z.array(bodyId).max(alertLimits.subjects).optional().describe('Monitor groups: who is a member.'),
    tags: tagsSchema.optional().describe('Subjects with one of the tags, and members of groups with one.'),
  })
  .describe('`all`, or lists of which at least one names something. Who joins later is covered from then on.')
  .meta({ id: 'AlertScopeInput' });
export type AlertScopeInput = z.output<typeof alertScopeSchema>;

const timeOfDay = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time of day, such as 22:00');

const quietHoursSchema = z
  .strictObject({
    timezone: zoneSchema,
    windows: z
      .array(
        z.strictObject({
          days: z
            .array(z.number().int().min(1).max(7))
            .min(1)
            .max(7)
            .overwrite((days) => [...new Set(days)].toSorted((a, b) => a - b))
            .describe('On which it begins: 1 is Monday, 7 is Sunday.'),
          start: timeOfDay,
          end: timeOfDay.describe('Of the next day when it is not after `start`. The same as `start`: a whole day.'),
        }),
      )
      .min(1)
      .max(alertLimits.quietWindows),
    except_severity: z
      .enum(incidentSeverities)
      .nullish()
      .describe('What is at least so severe is told all the same. Default: `critical`; `null`: nothing is.'),
  })
  .describe('Messages are held, and at the end told as far as they still hold.')
  .meta({ id: 'AlertQuietHoursInput' });
export type AlertQuietHoursInput = z.output<typeof quietHoursSchema>;

/** One of `alertEvents`. */
export const alertEventSchema = z.enum(alertEvents, {
  error: ({ input }) =>
    typeof input === 'string' && /[._](up|ok|recovered|resolved|online)$/.test(input)
      ? 'recovery is no event of its own: `notify_on_recovery` tells of the end of what was told'
      : `must be one of ${alertEvents.join(', ')}`,
});

const eventsSchema = z
  .array(alertEventSchema)
  .min(1)
  .max(alertEvents.length)
  .overwrite((events) => alertEvents.filter((event) => events.includes(event)))
  .describe('What it tells of. Recovery is no event: `notify_on_recovery`.');

const minDuration = delaySchema.describe('Nothing is told of what lasts for less, counted from its onset. Default 0.');
const reminder = z
  .number()
  .int()
  .min(alertLimits.leastReminderSeconds)
  .max(alertLimits.mostReminderSeconds)
  .describe('Says again that it lasts, until it is acknowledged. Default: never.');

const commonFields = {
  description: descriptionSchema.nullish(),
  min_duration_seconds: minDuration.nullish(),
  reminder_interval_seconds: reminder.nullish(),
  failover: targetSchema
    .nullish()
    .describe('Told in place of a target that could not be reached for 60 seconds, or for good.'),
  quiet_hours: quietHoursSchema.nullish(),
  muted_until: instant.nullish().describe('Says nothing until then; at most a year ahead.'),
};

/** Body of POST /alerts. */
export const createAlertSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema,
    is_active: z.boolean().default(true),
    scope: alertScopeSchema.optional().describe('Default: everything of the workspace.'),
    events: eventsSchema
      .optional()
      .describe(`Default: ${defaultAlertEvents.map((event) => `\`${event}\``).join(', ')}.`),
    steps: stepsSchema,
    notify_on_recovery: z.boolean().default(true).describe('Only those are told who were told of the problem.'),
    ...commonFields,
  })
  .meta({ id: 'CreateAlert' });
export type CreateAlert = z.output<typeof createAlertSchema>;

/** Body of PATCH /alerts/{alert_id}: an absent key keeps, `null` clears. */
export const updateAlertSchema = z
  .strictObject({
    name: nameSchema.optional(),
    is_active: orDefault(z.boolean(), true),
    scope: alertScopeSchema.optional(),
    events: eventsSchema.nullish().describe('`null`: the default.'),
    steps: stepsSchema.optional(),
    notify_on_recovery: orDefault(z.boolean(), true),
    ...commonFields,
  })
  .meta({ id: 'UpdateAlert' });
export type UpdateAlert = z.output<typeof updateAlertSchema>;

const shownTargetSchema = z
  .object({
    channel: z.string(),
    config_id: z.number().int().nullable(),
    target: z.string().describe('Masked for others than the owner of the alert.'),
    locale: localeSchema.nullable().describe('Its own; `null`: that of the owner of the alert, also when it changes.'),
    timezone: z.string().nullable().describe('Its own; `null`: that of the owner of the alert, also when it changes.'),
  })
  .meta({ id: 'AlertTarget' });
export type ShownAlertTarget = z.output<typeof shownTargetSchema>;

/** Why an active alert tells nobody. */
export const alertDisabledReasons = ['owner_left', 'scope_empty'] as const;

/** Why nothing is sent to a target at present. */
export const unusableReasons = [
  'owner_left',
  'given_up',
  'not_configured',
  'unsubscribed',
  'own_address_unconfirmed',
  'asked',
  'not_asked',
  'chat_not_linked',
] as const;
export type UnusableReason = (typeof unusableReasons)[number];

const unusableTargetSchema = z
  .object({
    channel: z.string(),
    config_id: z.number().int().nullable(),
    target: z.string().describe('Masked for others than the owner of the alert.'),
    reason: z
      .enum(unusableReasons)
      .describe(
        '`owner_left`: the owner is no member any more. `given_up`: the service says that it is gone. `not_configured`: the configuration is missing or switched off. ' +
          'Of mail: `asked` and `not_asked`, its reader was asked and has not agreed yet, or is still to be asked (POST /alert-channel-configs/mail-confirmations); `unsubscribed`; ' +
          '`own_address_unconfirmed`. `chat_not_linked`: the chat is not linked to the owner or a workspace of theirs (any more).',
      ),
  })
  .meta({ id: 'UnusableAlertTarget' });

/** An alert as every route answers it. */
export const alertSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    is_active: z
      .boolean()
      .describe('Whether it is turned on. What is turned on may tell nobody all the same: `disabled_reason`.'),
    disabled_reason: z
      .enum(alertDisabledReasons)
      .nullable()
      .describe(
        'Why it tells nobody although it is turned on. `owner_left`: its owner is no member of the workspace any more; new `steps` take it over. `scope_empty`: all that its scope named is gone. `null`: nothing hinders it.',
      ),
    is_default: z.boolean().describe('Made with the account, for its own mail address.'),
    owner: z
      .object({ id: z.number().int(), display_name: z.string().nullable() })
      .nullable()
      .describe(
        'Whose configurations its targets name. `null`: no member any more, so that it tells nobody; an editor who gives it new steps becomes its owner.',
      ),
    scope: z
      .object({
        all: z.boolean(),
        subjects: z.array(z.object({ type: z.enum(maintenanceSubjectTypes), id: z.number().int() })),
        group_ids: z.array(z.number().int()),
        tags: z.array(z.string()),
      })
      .meta({ id: 'AlertScope' }),
    events: z.array(z.enum(alertEvents)),
    steps: z.array(
      z.object({ after_seconds: z.number().int(), targets: z.array(shownTargetSchema) }).meta({ id: 'AlertStep' }),
    ),
    notify_on_recovery: z.boolean(),
    min_duration_seconds: z.number().int(),
    reminder_interval_seconds: z.number().int().nullable(),
    failover: shownTargetSchema.nullable(),
    unusable_targets: z
      .array(unusableTargetSchema)
      .describe('Targets of the steps and `failover` to which nothing is sent at present, each once, and why.'),
    quiet_hours: z
      .object({
        timezone: z.string(),
        windows: z.array(z.object({ days: z.array(z.number().int()), start: z.string(), end: z.string() })),
        except_severity: z.enum(incidentSeverities).nullable(),
      })
      .nullable()
      .meta({ id: 'AlertQuietHours' }),
    muted_until: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('The ETag.'),
  })
  .meta({ id: 'Alert' });
export type Alert = z.output<typeof alertSchema>;
