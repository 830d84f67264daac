import { z } from 'zod';
import { userSchema } from './auth.ts';
import { route } from './route.ts';
import { hasControlCharacter, idSchema, localeInput, messageSchema } from './shared.ts';

const tag = 'Accounts';

/** An IANA name, such as `Europe/Berlin`; the server judges whether it knows it. */
const timezoneSchema = z.string().min(1).max(100);

/** A name for people: 1 to 80 characters after trimming, NFC, without control characters. */
const displayNameSchema = z
  .string()
  .normalize('NFC')
  .trim()
  .min(1)
  .max(80)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters');

export const changeMeRoute = route({
  method: 'PATCH',
  path: '/api/v1/auth/me',
  credentials: 'bearer',
  tag,
  summary: 'Change the own profile',
  description: 'What is absent stays; `display_name: null` clears it.',
  body: z
    .strictObject({
      display_name: displayNameSchema.nullable().optional(),
      locale: localeInput.optional(),
      timezone: timezoneSchema.optional(),
    })
    .meta({ id: 'ChangeMeRequest' }),
  success: { status: 200, answer: userSchema },
  errors: [412],
});

export const changeLocaleRoute = route({
  method: 'PATCH',
  path: '/api/v1/auth/me/locale',
  credentials: 'bearer',
  tag,
  summary: 'Choose the language of mails and alerts',
  body: z.strictObject({ locale: localeInput }).meta({ id: 'ChangeLocaleRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [412],
});

export const changeTimezoneRoute = route({
  method: 'PATCH',
  path: '/api/v1/auth/me/timezone',
  credentials: 'bearer',
  tag,
  summary: 'Choose the time zone that times are shown in',
  body: z.strictObject({ timezone: timezoneSchema }).meta({ id: 'ChangeTimezoneRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [412],
});

const countSchema = z.number().int();

export const accountStatsSchema = z
  .object({
    monitors: z.object({
      total: countSchema,
      /** The categories of the list of monitors; together they are the total. */
      up: countSchema,
      down: countSchema,
      degraded: countSchema,
      unknown: countSchema,
      paused: countSchema,
    }),
    heartbeats: countSchema,
    alerts: countSchema,
    open_incidents: countSchema,
    /** Checks of the last 24 h, by probes and by the control plane, those by hand included. */
    checks_24h: countSchema,
  })
  .meta({ id: 'AccountStats' });
export type AccountStats = z.output<typeof accountStatsSchema>;

export const accountStatsRoute = route({
  method: 'GET',
  path: '/api/v1/auth/me/stats',
  credentials: 'bearer',
  tag,
  summary: 'Numbers over all workspaces that the caller may see',
  success: { status: 200, answer: accountStatsSchema },
});

export const publicProfileSchema = z
  .object({
    id: z.number().int(),
    /** The chosen name, or "User 17". */
    display_name: z.string(),
  })
  .meta({ id: 'PublicProfile' });

export const publicProfileRoute = route({
  method: 'GET',
  path: '/api/v1/users/:user_id',
  credentials: 'none',
  tag,
  summary: 'What anybody may know of a user',
  params: z.object({ user_id: idSchema }),
  success: { status: 200, answer: publicProfileSchema },
  errors: [404],
  perAddressPerMinute: 60,
});
