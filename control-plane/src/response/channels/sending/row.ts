import { z } from 'zod';

/** All that one delivery needs to know; times are milliseconds since the epoch. */
export const senderRow = z.object({
  email: z.string().nullable(),
  email_verified: z.boolean(),
  locale: z.enum(['en', 'ru']),
  config_id: z.number().nullable(),
  config_name: z.string().nullable(),
  sealed_settings: z.instanceof(Buffer).nullable(),
  settings_version: z.number().nullable(),
  is_active: z.boolean().nullable(),
});
export type SenderRow = z.output<typeof senderRow>;

export const targetRow = z.object({
  disabled_at: z.number().nullable(),
  reason: z.string().nullable(),
  confirmed_at: z.number().nullable(),
  unsubscribed_at: z.number().nullable(),
  unsubscribe_sealed: z.instanceof(Buffer).nullable(),
});
export type TargetRow = z.output<typeof targetRow>;
