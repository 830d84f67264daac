import { alertEvents, maintenanceSubjectTypes } from '@parallax/api-contract';
import { z } from 'zod';

/** Whom an alert, or what was decided by one, tells, as it is stored. */
export const targetShape = z.object({
  channel: z.string(),
  config_id: z.number().nullable(),
  target: z.string(),
  locale: z.enum(['en', 'ru']).nullable(),
  timezone: z.string().nullable(),
});

/** The JSON columns of an alert. */
export const alertColumns = z.object({
  steps: z.array(z.object({ after_seconds: z.number(), targets: z.array(targetShape) })),
  failover: targetShape.nullable(),
  quiet_hours: z
    .object({
      timezone: z.string(),
      windows: z.array(z.object({ days: z.array(z.number()), start: z.string(), end: z.string() })),
      except_severity: z.enum(['minor', 'major', 'critical']).nullable(),
    })
    .nullable(),
});
export type AlertColumns = z.output<typeof alertColumns>;

/** An alert with its scope, as it is read. Times are milliseconds since the epoch. */
export const alertRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  owner_id: z.number(),
  owner: z.object({ id: z.number(), display_name: z.string().nullable() }).nullable(),
  name: z.string(),
  description: z.string(),
  is_active: z.boolean(),
  is_default: z.boolean(),
  covers_all: z.boolean(),
  tags: z.array(z.string()),
  subjects: z.array(z.object({ type: z.enum(maintenanceSubjectTypes), id: z.number() })),
  group_ids: z.array(z.number()),
  events: z.array(z.enum(alertEvents)),
  ...alertColumns.shape,
  notify_on_recovery: z.boolean(),
  min_duration_seconds: z.number(),
  reminder_interval_seconds: z.number().nullable(),
  muted_until: z.number().nullable(),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type AlertRow = z.output<typeof alertRow>;
