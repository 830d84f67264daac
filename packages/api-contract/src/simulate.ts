import { z } from 'zod';
import {
  confirmationsSchema,
  consensusPolicySchema,
  degradedThresholdSchema,
  intervalSchema,
  monitorStatuses,
} from './monitor-shapes.ts';
import { route } from './route.ts';
import { bodyId, idSchema, instant, timestamp } from './shared.ts';

/** Body of POST /monitors/{monitor_id}/simulate. What is left out stays as it was at each time. */
export const simulateSchema = z
  .strictObject({
    start_time: instant.optional().describe('Default: seven days before the end.'),
    end_time: instant.optional().describe('Default, and latest: now.'),
    consensus_policy: consensusPolicySchema.optional(),
    confirmations: confirmationsSchema.optional(),
    interval_seconds: intervalSchema.optional(),
    degraded_threshold_ms: degradedThresholdSchema.nullish().describe('null: no threshold.'),
    probe_ids: z
      .array(bodyId)
      .min(1)
      .max(100)
      .refine((ids) => new Set(ids).size === ids.length, 'must not name a probe twice')
      .optional()
      .describe('Only these vote.'),
  })
  .meta({ id: 'Simulate' });
export type Simulate = z.output<typeof simulateSchema>;

const seconds = z.number().min(0);
const count = z.number().int().min(0);

const settingsSchema = z.object({
  consensus_policy: consensusPolicySchema,
  confirmations: z.number().int(),
  interval_seconds: z.number().int(),
  degraded_threshold_ms: z.number().int().nullable(),
  probe_ids: z.array(z.number().int()),
});

const announcementSchema = z
  .object({
    at: timestamp.describe('When it would have been told.'),
    from: z
      .enum(monitorStatuses)
      .describe('What was told before; equal to `to` when the onset of an outage that lasts moved.'),
    to: z.enum(monitorStatuses),
    since: timestamp.describe('Since when the new status holds.'),
    rule: z.string().describe('The rule that decided.'),
  })
  .meta({ id: 'SimulatedAnnouncement' });

const outageSchema = z
  .object({
    started_at: timestamp.describe('Onset; the beginning of the window when it began before.'),
    ended_at: timestamp.nullable().describe('null: it lasts at the end of the window.'),
    duration_seconds: seconds,
    status: z.enum(['DOWN', 'TIMEOUT']).describe('At its beginning.'),
    rule: z.string().describe('The rule that decided at its beginning.'),
    announced_at: timestamp.nullable().describe('null: nobody would have been told of it within the window.'),
    detection_delay_seconds: seconds.nullable().describe('From the onset to the announcement.'),
  })
  .meta({ id: 'SimulatedOutage' });

const outcomeSchema = z
  .object({
    settings: settingsSchema.describe('As they are now, with what is proposed.'),
    results: count.describe('Results that took part.'),
    announcements: z.array(announcementSchema).describe('Oldest first, at most 1,000.'),
    announcements_total: count,
    outages: z.array(outageSchema).describe('Oldest first, at most 1,000.'),
    outages_total: count,
    detection_delay: z
      .object({ mean_seconds: seconds, p50_seconds: seconds, max_seconds: seconds })
      .nullable()
      .describe('Of the outages that began in the window and were told; null when there are none.'),
    uptime_percent: z.number().min(0).max(100).nullable().describe('null: nothing was measured.'),
    seconds: z.object({
      up: seconds,
      degraded: seconds,
      down: seconds,
      timeout: seconds,
      unknown: seconds,
      paused: seconds,
    }),
  })
  .meta({ id: 'SimulatedOutcome' });
export type SimulatedOutcome = z.output<typeof outcomeSchema>;

/** Why a simulation differs from what the settings would have made. */
export const simulationNotes = [
  'shorter_interval',
  'rechecks_stand_in',
  'more_confirmations',
  'probes_not_measured',
  'began_later',
  'not_known_further',
  'beyond_retention',
] as const;

const alarmSchema = z.object({ started_at: timestamp, ended_at: timestamp.nullable(), announced_at: timestamp });

/** Answer of POST /monitors/{monitor_id}/simulate. */
export const simulationSchema = z
  .object({
    monitor_id: z.number().int(),
    start_time: timestamp,
    end_time: timestamp,
    present: outcomeSchema.describe('What the settings made that held at each time.'),
    proposed: outcomeSchema,
    comparison: z.object({
      alarms_avoided: z
        .array(alarmSchema)
        .describe('Outages that were told, and that the proposed settings do not see at all. At most 1,000.'),
      alarms_added: z
        .array(alarmSchema)
        .describe('Outages that would be told, and that the present settings do not see at all. At most 1,000.'),
      alarms_avoided_total: count,
      alarms_added_total: count,
      downtime_seconds: z.number().describe('More (less: negative) seconds of DOWN and TIMEOUT than at present.'),
      mean_detection_delay_seconds: z
        .number()
        .nullable()
        .describe('Slower (faster: negative) by so much; null when either has none.'),
    }),
    notes: z
      .array(z.object({ code: z.enum(simulationNotes), message: z.string() }))
      .describe('What could not be simulated.'),
  })
  .meta({ id: 'Simulation' });
export type Simulation = z.output<typeof simulationSchema>;

export const simulateRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/:monitor_id/simulate',
  credentials: 'bearer',
  tag: 'Monitors',
  summary: 'What other settings would have made of the same results',
  description:
    'Plays the stored results of at most 30 days again, in the order in which they came, through the engine that decides statuses, once as the ' +
    'settings were and once as proposed. Nothing is stored and nobody is told.',
  params: z.object({ monitor_id: idSchema }),
  body: simulateSchema,
  success: { status: 200, answer: simulationSchema },
  errors: [404, 504],
});
