import { z } from 'zod';
import { timestamp } from './shared.ts';

/*
 * What an event of each kind says, beside its envelope. Objects are open: a later version may say more, and receivers pass over what they do not know.
 */

const id = z.number().int();
const who = z.looseObject({ type: z.string(), id, name: z.string() });

/** Whom an event is about. */
export const eventSubjectSchema = z
  .looseObject({
    type: z.enum(['monitor', 'incident', 'heartbeat', 'webhook_check', 'maintenance', 'probe', 'webhook']),
    id,
    name: z.string(),
    target: z.string().nullable().describe('What a monitor checks.'),
    tags: z.array(z.string()),
    group_ids: z.array(id).describe('Groups of a monitor, those of its tags among them.'),
  })
  .meta({ id: 'EventSubject' });

const common = {
  subject: eventSubjectSchema,
  at: timestamp.describe('When it began, as the timeline has it.'),
  in_maintenance: z.boolean(),
  is_flapping: z.boolean(),
  url: z.string().nullable().describe('A page about it.'),
  truncated: z
    .literal(true)
    .optional()
    .describe('Something was left out, so that the event keeps within 20,000 bytes.'),
};

const changed = { status: z.string(), previous: z.string() };

export const eventData = {
  plain: z.looseObject(common),
  act: z.looseObject({
    ...common,
    by: z.looseObject({ user_id: id }).nullable().describe('Who did it; `null` where no user asked for it.'),
  }),
  down: z.looseObject({
    ...common,
    ...changed,
    cause: z.looseObject({
      code: z.string().nullable().describe('The error that most of the failing probes got.'),
      failing: z.number().int(),
      voters: z.number().int(),
    }),
    incident_id: id.nullable(),
    continues: z.boolean().describe('The same outage, after PARTIAL or UNKNOWN: no end was announced in between.'),
  }),
  up: z.looseObject({
    ...common,
    ...changed,
    outage: z
      .looseObject({ started_at: timestamp, ended_at: timestamp, seconds: z.number(), incident_id: id.nullable() })
      .nullable()
      .describe('The outage that is over; `null` where none had been announced.'),
  }),
  status: z.looseObject({ ...common, ...changed }),
  revised: z.looseObject({ ...common, since: timestamp.describe('From when on the past is another.') }),
  flapping: z.looseObject(common),
  incident: z.looseObject({
    ...common,
    incident: z.looseObject({
      id,
      title: z.string(),
      status: z.string(),
      severity: z.string(),
      resolution: z.string().nullable(),
      started_at: timestamp,
      resolved_at: timestamp.nullable(),
      detected_late: z.boolean(),
    }),
    members: z.array(who).max(20),
    member_count: z.number().int(),
    update: z.string().nullable().describe('What somebody wrote.'),
    reason: z.string().nullable(),
  }),
  signal: z.looseObject({
    ...common,
    status: z.string().nullable(),
    previous: z.string().nullable(),
    cause: z.string().nullable(),
  }),
  maintenance: z.looseObject({
    ...common,
    maintenance: z.looseObject({
      id,
      name: z.string(),
      starts_at: timestamp.nullable(),
      ends_at: timestamp.nullable(),
    }),
    incident_count: z.number().int().nullable(),
  }),
  expiry: z.looseObject({ ...common, not_after: timestamp, threshold_days: z.number().int() }),
  listing: z.looseObject({ ...common, provider: z.string() }),
  probe: z.looseObject({ ...common, region: z.string().nullable(), reason: z.string().nullable() }),
} as const;
export type EventDataKind = keyof typeof eventData;
