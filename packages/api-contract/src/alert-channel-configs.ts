import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, nameSchema, orDefault, pageQuery, timestamp } from './shared.ts';
import { warningsSchema } from './warnings.ts';

/** A channel by its word or an alias; which there are is in docs/channels.md, and others are refused with 422. */
const channelName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,49}$/, 'must be the name of a channel')
  .describe('`email`, `messenger` (or `telegram`), `team-chat` (or `slack`), `webhook` …: see docs/channels.md');

const settingsSchema = z
  .record(z.string().max(100), z.unknown())
  .describe('As docs/channels.md describes them for the channel.');

/** Why a configuration was switched off by itself. */
export const channelDisabledReasons = ['refused_credentials', 'failures_in_row'] as const;

const configSchema = z
  .object({
    id: z.number().int(),
    channel: z.string().describe('The neutral word, whatever it was created as.'),
    name: z.string(),
    settings: z
      .record(z.string(), z.unknown())
      .describe('Without credentials: of each there is `has_<name>`, true or false, in its place.'),
    is_active: z.boolean(),
    disabled_reason: z
      .enum(channelDisabledReasons)
      .nullable()
      .describe('Why it was switched off by itself; null when it is active, or its owner did it.'),
    disabled_at: timestamp.nullable(),
    failures_in_row: z
      .number()
      .int()
      .describe('Messages that failed for good since the last that arrived; at ten it is switched off.'),
    last_error: z.object({ code: z.string(), message: z.string(), at: timestamp }).nullable(),
    last_success_at: timestamp.nullable().describe('To the minute.'),
    disabled_targets: z
      .array(z.object({ target: z.string(), reason: z.string(), disabled_at: timestamp }))
      .describe('Addresses that nothing is sent to any more, at most 100; `activate` tries them again.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'AlertChannelConfig' });
export type AlertChannelConfig = z.output<typeof configSchema>;

const stepSchema = z.object({
  name: z.enum(['render', 'resolve', 'connect', 'tls', 'request', 'response', 'mail', 'result']),
  ok: z.boolean(),
  duration_ms: z.number(),
  detail: z.string(),
});
const testAnswer = z
  .object({
    ok: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    steps: z.array(stepSchema).describe('What was done, in its order; credentials are masked.'),
  })
  .meta({ id: 'AlertChannelTest' });
export type AlertChannelTest = z.output<typeof testAnswer>;

const targetText = z
  .string()
  .min(1)
  .max(2_000)
  .describe('An address, chat or number of the channel, or the key of a destination.');

const tag = 'Alert channels';
const params = z.object({ config_id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listChannelConfigsRoute = route({
  method: 'GET',
  path: '/api/v1/alert-channel-configs',
  credentials: 'bearer',
  tag,
  summary: 'List the alert channel configurations of the caller',
  query: z.object(pageQuery),
  success: {
    status: 200,
    answer: listOf('alert_channel_configs', configSchema).meta({ id: 'AlertChannelConfigList' }),
  },
});

export const createChannelConfigRoute = route({
  method: 'POST',
  path: '/api/v1/alert-channel-configs',
  credentials: 'bearer',
  tag,
  summary: 'Configure an alert channel',
  description: 'One for each channel and user; how many channels is a matter of the plan.',
  body: z
    .strictObject({
      channel: channelName,
      name: nameSchema.nullish().describe('Absent: what people call the channel.'),
      settings: settingsSchema.default({}),
      is_active: z.boolean().default(true),
    })
    .meta({ id: 'CreateAlertChannelConfig' }),
  idempotent: true,
  success: { status: 201, answer: configSchema },
  errors: [409],
});

export const readChannelConfigRoute = route({
  method: 'GET',
  path: '/api/v1/alert-channel-configs/:config_id',
  credentials: 'bearer',
  tag,
  summary: 'Read an alert channel configuration',
  params,
  success: { status: 200, answer: configSchema },
  errors: [404],
});

export const readActiveChannelConfigRoute = route({
  method: 'GET',
  path: '/api/v1/alert-channel-configs/channels/:channel',
  credentials: 'bearer',
  tag,
  summary: 'Read the active configuration of a channel',
  params: z.object({ channel: channelName }),
  success: { status: 200, answer: configSchema },
  errors: [404],
});

export const updateChannelConfigRoute = route({
  method: 'PATCH',
  path: '/api/v1/alert-channel-configs/:config_id',
  credentials: 'bearer',
  tag,
  summary: 'Change an alert channel configuration',
  description:
    'An absent key keeps, also inside of `settings`; `null` clears. A list replaces the list, and its items keep their credentials by their `key`. ' +
    `Another host drops the credentials that were stored for the old one unless they are sent again, and \`warnings\` names those. ${ifMatch}`,
  params,
  body: z
    .strictObject({
      name: nameSchema.nullish(),
      settings: settingsSchema.optional(),
      is_active: orDefault(z.boolean(), true),
    })
    .meta({ id: 'UpdateAlertChannelConfig' }),
  success: {
    status: 200,
    answer: configSchema.extend({ warnings: warningsSchema }).meta({ id: 'ChangedAlertChannelConfig' }),
  },
  errors: [404, 412],
  measured: [
    'disabled_reason',
    'disabled_at',
    'failures_in_row',
    'last_error',
    'last_success_at',
    'disabled_targets',
    'warnings',
  ],
});

export const deleteChannelConfigRoute = route({
  method: 'DELETE',
  path: '/api/v1/alert-channel-configs/:config_id',
  credentials: 'bearer',
  tag,
  summary: 'Delete an alert channel configuration',
  description: `Irreversible. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [404, 412],
});

export const testChannelConfigRoute = route({
  method: 'POST',
  path: '/api/v1/alert-channel-configs/:config_id/test',
  credentials: 'bearer',
  tag,
  summary: 'Send a test message by a configuration',
  description: '10 an hour, and 3 an hour to one target. A test that arrives makes its target good again.',
  params,
  body: z
    .strictObject({
      target: targetText
        .nullish()
        .describe('Absent: the only one that the settings name, or for mail the own address.'),
    })
    .meta({ id: 'TestAlertChannelConfig' })
    .nullish(),
  success: { status: 200, answer: testAnswer },
  errors: [404],
});

export const activateChannelConfigRoute = route({
  method: 'POST',
  path: '/api/v1/alert-channel-configs/:config_id/activate',
  credentials: 'bearer',
  tag,
  summary: 'Switch an alert channel configuration on',
  description: 'Forgets the failures in a row, and tries addresses again that were given up.',
  params,
  success: { status: 200, answer: configSchema },
  errors: [404, 412],
});

export const deactivateChannelConfigRoute = route({
  method: 'POST',
  path: '/api/v1/alert-channel-configs/:config_id/deactivate',
  credentials: 'bearer',
  tag,
  summary: 'Switch an alert channel configuration off',
  params,
  success: { status: 200, answer: configSchema },
  errors: [404, 412],
});

export const channelAvailabilityRoute = route({
  method: 'GET',
  path: '/api/v1/alerts/channels/availability',
  credentials: 'bearer',
  tag,
  summary: 'Which channels there are, and which of them the caller has configured',
  success: {
    status: 200,
    answer: z
      .object({
        channels: z.array(
          z.object({
            channel: z.string(),
            title: z.string(),
            aliases: z.array(z.string()),
            available: z.boolean(),
            reason: z.string().nullable().describe('Why it is not available here.'),
            needs_config: z.boolean().describe('False: alerts may name it without a configuration.'),
            configured: z.boolean(),
            config_id: z.number().int().nullable(),
            is_active: z.boolean(),
            target_label: z.string(),
            target_example: z.string(),
            documentation: z.string().nullable(),
          }),
        ),
      })
      .meta({ id: 'AlertChannelAvailability' }),
  },
});

export const testSendRoute = route({
  method: 'POST',
  path: '/api/v1/alerts/test-send',
  credentials: 'bearer',
  tag,
  summary: 'Send a test message without saving anything',
  description:
    'By settings that are given, or by those of a configuration; channels that need none take neither. The answer is 200 also when it did not arrive: `ok` and `steps` say what came of it. 10 an hour, and 3 an hour to one target. Mail goes to the own address that is ' +
    'confirmed, or to one whose reader has agreed.',
  body: z
    .strictObject({
      channel: channelName,
      target: targetText,
      settings: settingsSchema.nullish(),
      config_id: bodyId.nullish(),
    })
    .refine((body) => !(body.settings != null && body.config_id != null), {
      path: ['config_id'],
      message: 'settings or config_id, not both',
    })
    .meta({ id: 'AlertTestSend' }),
  success: { status: 200, answer: testAnswer },
});

export const confirmMailTargetRoute = route({
  method: 'POST',
  path: '/api/v1/alert-channel-configs/mail-confirmations',
  credentials: 'bearer',
  tag,
  summary: 'Ask the reader of a mail address whether alerts may be sent there',
  description:
    'They get a letter with a link, which is good for 7 days. An address that is confirmed already gets none.',
  body: z.strictObject({ target: targetText }).meta({ id: 'MailConfirmationRequest' }),
  success: {
    status: 202,
    answer: z
      .object({
        status: z.enum(['asked', 'confirmed']).describe('`asked`: the letter goes out. `confirmed`: none is needed.'),
      })
      .meta({ id: 'MailConfirmation' }),
  },
});

// A link that is over answers as one that never was: who tries links learns of none that it was once good.
const noLink = { status: 404, description: 'the page that says that the link does not work (any more)' } as const;

const linkParams = z.object({ token: z.string().min(1).max(200) });

export const mailTargetPageRoute = route({
  method: 'GET',
  path: '/api/v1/public/mail-alerts/:token',
  credentials: 'none',
  tag,
  summary: 'Page of a link in a mail, whose button confirms an address or ends alerts to it',
  description:
    'Opening it changes nothing: programs that look at mails open links. A link that does not work, or not any more, gets 404 and a page that says so.',
  params: linkParams,
  perAddressPerMinute: 60,
  success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
  alternative: noLink,
});

export const actOnMailTargetRoute = route({
  method: 'POST',
  path: '/api/v1/public/mail-alerts/:token',
  credentials: 'none',
  tag,
  summary: 'Confirm a mail address, or end alerts to it',
  description: 'What the button of the page sends, and `List-Unsubscribe=One-Click` (RFC 8058). The body is not read.',
  params: linkParams,
  bytes: { keptBytes: 1_000, readBytes: 10_000 },
  perAddressPerMinute: 60,
  success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
  alternative: noLink,
});
