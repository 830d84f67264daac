import { maintenanceSeconds, Problem } from '@parallax/api-contract';
import type { CalendarEvent } from '../ics/read.ts';
import { judgePlan } from '../plan.ts';
import type { Plan } from '../plan.ts';

/** What becomes of an event: a window as it is planned, or why there is none. */
export type JudgedEvent =
  | { readonly result: 'created'; readonly detail: null; readonly plan: Plan }
  | { readonly result: 'skipped' | 'failed'; readonly detail: string };

/** Judges an event of a calendar as a request for a window would be, but that one which is over is passed by. */
export function judgeEvent(event: CalendarEvent, nowMs: number): JudgedEvent {
  if (event.problem !== null) return { result: 'failed', detail: event.problem };
  if (event.isCancelled) return { result: 'skipped', detail: 'the event is cancelled' };
  const { least, most } = maintenanceSeconds;
  if (event.durationSeconds < least || event.durationSeconds > most) {
    return {
      result: 'failed',
      detail: `it lasts ${event.durationSeconds} s; a maintenance lasts from a minute to 31 days`,
    };
  }
  try {
    const plan = judgePlan(
      {
        starts_at: new Date(event.startsMs).toISOString(),
        duration_seconds: event.durationSeconds,
        rrule: event.rrule,
        timezone: event.zone,
        exdates: event.exceptMs.map((ms) => new Date(ms).toISOString()),
      },
      nowMs,
      true,
    );
    // What has begun would be one of the past: time that is over is taken out of the SLA by a correction.
    if (plan.next === null) return { result: 'skipped', detail: 'it is over' };
    return { result: 'created', detail: null, plan };
  } catch (error) {
    if (error instanceof Problem) return { result: 'failed', detail: error.message };
    throw error;
  }
}
