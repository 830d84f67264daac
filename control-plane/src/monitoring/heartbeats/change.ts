import { invalidInput } from '@parallax/api-contract';
import type { CreateHeartbeat, UpdateHeartbeat } from '@parallax/api-contract';
import { requireSchedule } from './schedules/schedule.ts';
import { ScheduleError } from './schedules/schedule-error.ts';
import type { HeartbeatChange } from './queries.ts';

/** The fields of a new heartbeat, with what was left out. */
export type Configured = Required<HeartbeatChange>;

/**
 * @param fallback the slug that was made from the name, and the caller's time zone
 * @throws Problem `invalid_input` for a schedule that cannot be
 */
export function configured(
  body: Omit<CreateHeartbeat, 'slug'>,
  fallback: { readonly slug: string; readonly timezone: string },
  nowMs: number,
): Configured {
  const made: Configured = {
    ...body,
    description: body.description ?? '',
    tags: body.tags ?? [],
    slug: fallback.slug,
    schedule: body.schedule ?? null,
    timezone: body.timezone ?? fallback.timezone,
    max_runtime_seconds: body.max_runtime_seconds ?? null,
    min_runtime_seconds: body.min_runtime_seconds ?? null,
  };
  judge(made, nowMs);
  return made;
}

/**
 * What of an update differs from a heartbeat; null when nothing does.
 * @throws Problem `invalid_input` for a schedule that cannot be
 */
export function changeOf(before: Configured, update: UpdateHeartbeat, nowMs: number): HeartbeatChange | null {
  const isPeriod = (update.schedule_type ?? before.schedule_type) === 'period';
  const wanted: Readonly<Record<string, unknown>> = {
    ...update,
    ...(update.description === undefined ? {} : { description: update.description ?? '' }),
    ...(update.tags === undefined ? {} : { tags: update.tags ?? [] }),
    // What belongs to the old type does not outlive it.
    ...(isPeriod && update.schedule === undefined ? { schedule: null } : {}),
  };
  const change = Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) =>
        value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name as keyof Configured]),
    ),
  ) as HeartbeatChange;
  if (Object.keys(change).length === 0) return null;
  judge({ ...before, ...change }, nowMs);
  return change;
}

/** Whether a change is one of what is expected when. */
export function isRescheduled(change: HeartbeatChange): boolean {
  const fields = [
    'schedule_type',
    'schedule',
    'timezone',
    'expected_interval_seconds',
    'grace_period_seconds',
    'max_runtime_seconds',
  ];
  return fields.some((field) => field in change);
}

function judge(given: Configured, nowMs: number): void {
  if (given.schedule_type === 'period' && given.schedule !== null) {
    throw invalidInput(
      'body',
      '/schedule',
      'not_allowed',
      'a period has no expression; set schedule_type to cron or on_calendar',
    );
  }
  if (given.schedule_type !== 'period' && given.schedule === null) {
    throw invalidInput('body', '/schedule', 'required', `the schedule type ${given.schedule_type} needs an expression`);
  }
  const { min_runtime_seconds: least, max_runtime_seconds: most } = given;
  if (least !== null && most !== null && least > most) {
    throw invalidInput('body', '/min_runtime_seconds', 'too_big', 'must not be above max_runtime_seconds');
  }
  try {
    // A period has no use for its zone, which must be one all the same.
    requireSchedule({ ...given, schedule_type: 'cron', schedule: '* * * * *' }, nowMs);
  } catch (error) {
    if (error instanceof ScheduleError) throw invalidInput('body', '/timezone', 'timezone', error.message);
    throw error;
  }
  try {
    requireSchedule(given, nowMs);
  } catch (error) {
    if (error instanceof ScheduleError) throw invalidInput('body', '/schedule', 'schedule', error.message);
    throw error;
  }
}
