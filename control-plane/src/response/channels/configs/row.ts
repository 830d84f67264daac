import { z } from 'zod';

/** A row of `channel_configs` as it is read; times are milliseconds since the epoch. */
export const configRow = z.object({
  id: z.number(),
  user_id: z.number(),
  channel: z.string(),
  name: z.string(),
  sealed_settings: z.instanceof(Buffer),
  settings_version: z.number(),
  is_active: z.boolean(),
  disabled_reason: z.enum(['refused_credentials', 'failures_in_row']).nullable(),
  disabled_at: z.number().nullable(),
  failures_in_row: z.number(),
  last_error_code: z.string().nullable(),
  last_error: z.string().nullable(),
  last_error_at: z.number().nullable(),
  last_success_at: z.number().nullable(),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type ConfigRow = z.output<typeof configRow>;

/** A target to which nothing is sent any more. */
export const disabledTargetRow = z.object({
  channel: z.string(),
  target: z.string(),
  reason: z.string().nullable(),
  disabled_at: z.number(),
});
export type DisabledTargetRow = z.output<typeof disabledTargetRow>;
