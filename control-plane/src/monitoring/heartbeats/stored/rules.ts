import { scheduleOf } from '../schedules/schedule.ts';
import type { Schedule, ScheduleSettings } from '../schedules/schedule.ts';
import { ScheduleError } from '../schedules/schedule-error.ts';
import type { Rules } from '../state.ts';

/** The settings as they are stored. */
export type RuleSettings = ScheduleSettings & {
  readonly grace_period_seconds: number;
  readonly max_runtime_seconds: number | null;
  readonly min_runtime_seconds: number | null;
  readonly failures_before_alert: number;
  readonly resume_on_ping: boolean;
  readonly methods: 'any' | 'post';
};

/** Settings as what decides. */
export function rulesOf(settings: RuleSettings): Rules {
  const ms = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1_000);
  return {
    schedule: storedSchedule(settings),
    graceMs: settings.grace_period_seconds * 1_000,
    maxRuntimeMs: ms(settings.max_runtime_seconds),
    minRuntimeMs: ms(settings.min_runtime_seconds),
    failuresBeforeAlert: settings.failures_before_alert,
    resumeOnPing: settings.resume_on_ping,
    methods: settings.methods,
  };
}

/** A zone that a later runtime does not know expects nothing; a signal is taken all the same. */
function storedSchedule(settings: ScheduleSettings): Schedule {
  try {
    return scheduleOf(settings);
  } catch (error) {
    if (error instanceof ScheduleError) return { next: () => undefined };
    throw error;
  }
}
