import { maintenanceStatuses, maintenanceSubjectTypes } from '@parallax/api-contract';
import type { Maintenance, MaintenanceWindow, OccurrenceEnd } from '@parallax/api-contract';
import { z } from 'zod';
import type { Occurrence } from './recurrence/occurrences.ts';
import type { StoredSchedule } from './schedule.ts';
import { coveredOfAnswer, isEmptyScope } from './scope/given.ts';

/** A maintenance with what it covers and the occurrence that lasts, as it is read. */
export const maintenanceRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  description: z.string(),
  is_public: z.boolean(),
  public_title: z.string().nullable(),
  public_text: z.string().nullable(),
  notify: z.boolean(),
  status: z.enum(maintenanceStatuses),
  covers_all: z.boolean(),
  tags: z.array(z.string()),
  subjects: z.array(z.object({ type: z.enum(maintenanceSubjectTypes), id: z.number() })),
  group_ids: z.array(z.number()),
  starts_at: z.number(),
  duration_seconds: z.number(),
  rrule: z.string().nullable(),
  timezone: z.string(),
  exdates: z.array(z.number()),
  next_starts_at: z.number().nullable(),
  next_ends_at: z.number().nullable(),
  next_is_shifted: z.boolean(),
  uid: z.string().nullable(),
  occurrence_id: z.number().nullable(),
  occurrence_starts_at: z.number().nullable(),
  occurrence_ends_at: z.number().nullable(),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type MaintenanceRow = z.infer<typeof maintenanceRow>;

const iso = (ms: number): string => new Date(ms).toISOString();

/** A maintenance as the API answers it. */
export function answerOf(row: MaintenanceRow): Maintenance {
  const scope = { all: row.covers_all, subjects: row.subjects, group_ids: row.group_ids, tags: row.tags };
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    description: row.description,
    is_public: row.is_public,
    public_title: row.public_title,
    public_text: row.public_text,
    notify: row.notify,
    status: row.status,
    disabled_reason: isEmptyScope(coveredOfAnswer(scope)) ? 'scope_empty' : null,
    scope,
    starts_at: iso(row.starts_at),
    ends_at: iso(row.starts_at + row.duration_seconds * 1_000),
    duration_seconds: row.duration_seconds,
    rrule: row.rrule,
    timezone: row.timezone,
    exdates: row.exdates.map(iso),
    current: currentOf(row),
    next: nextOf(row),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    version: row.version,
  };
}

function currentOf(row: MaintenanceRow): Maintenance['current'] {
  const { occurrence_id: id, occurrence_starts_at: startsMs, occurrence_ends_at: endsMs } = row;
  if (id === null || startsMs === null || endsMs === null) return null;
  return occurrenceAnswer({ id, startsMs, endsMs, endedMs: null, reason: null });
}

function nextOf(row: MaintenanceRow): Maintenance['next'] {
  const { next_starts_at: startsMs, next_ends_at: endsMs, next_is_shifted: isShifted } = row;
  return startsMs === null || endsMs === null ? null : windowAnswer({ startsMs, endsMs, isShifted });
}

/** One time of a schedule. */
export function windowAnswer({ startsMs, endsMs, isShifted }: Occurrence): MaintenanceWindow {
  return { starts_at: iso(startsMs), ends_at: iso(endsMs), is_shifted: isShifted };
}

/** An occurrence that has started. */
export function occurrenceAnswer(occurrence: {
  readonly id: number;
  readonly startsMs: number;
  readonly endsMs: number;
  readonly endedMs: number | null;
  readonly reason: OccurrenceEnd | null;
}) {
  return {
    id: occurrence.id,
    starts_at: iso(occurrence.startsMs),
    ends_at: iso(occurrence.endsMs),
    ended_at: occurrence.endedMs === null ? null : iso(occurrence.endedMs),
    end_reason: occurrence.reason,
  };
}

/** The schedule of an answer, as it is stored. */
export function storedOfAnswer(maintenance: Maintenance): StoredSchedule {
  return {
    startsMs: Date.parse(maintenance.starts_at),
    durationSeconds: maintenance.duration_seconds,
    rrule: maintenance.rrule,
    timezone: maintenance.timezone,
    exdatesMs: maintenance.exdates.map((text) => Date.parse(text)),
  };
}
