import type { InputError, Maintenance, UpdateMaintenance } from '@parallax/api-contract';
import { storedOfAnswer } from './answer.ts';
import { changedSchedule, judgeSchedule, nothingToCome, saysTheSame } from './schedule.ts';
import type { Planned } from './schedule.ts';

/** What an update makes of a schedule: null when it stays as it is. */
export type ScheduleChange = { readonly planned: Planned | null } | { readonly errors: readonly InputError[] };

/**
 * Judges what an update says of the schedule of a maintenance that is not over. An occurrence that lasts keeps its times.
 * @param nowMs milliseconds since the epoch
 * @param lastEndMs the planned end of the last occurrence that started; null when none has
 */
export function scheduleChange(
  maintenance: Maintenance,
  update: UpdateMaintenance,
  nowMs: number,
  lastEndMs: number | null,
): ScheduleChange {
  const stored = storedOfAnswer(maintenance);
  const given = changedSchedule(stored, update);
  if (saysTheSame(stored, given)) return { planned: null };
  const judged = judgeSchedule(given, {
    nowMs,
    keepsStart: Date.parse(given.starts_at) === stored.startsMs,
    ...(lastEndMs === null ? {} : { floorMs: lastEndMs }),
  });
  if ('errors' in judged) return judged;
  if (judged.next !== undefined) return { planned: judged };
  if (maintenance.current === null) return { errors: [nothingToCome()] };
  // A series may be made to end with the occurrence that lasts.
  if (judged.schedule.rule !== null) return { planned: judged };
  return { errors: [nothingToCome('the occurrence that lasts keeps its times; end it by POST …/end')] };
}

type PlainFields = Pick<Maintenance, 'name' | 'description' | 'is_public' | 'public_title' | 'public_text' | 'notify'>;

/** The other fields of which an update says something else than what is there. */
export function plainChange(maintenance: Maintenance, update: UpdateMaintenance): Partial<PlainFields> {
  const given = { ...update, description: update.description === null ? '' : update.description };
  const change: Partial<Record<keyof PlainFields, unknown>> = {};
  for (const field of plainFields) {
    if (given[field] !== undefined && given[field] !== maintenance[field]) change[field] = given[field];
  }
  return change as Partial<PlainFields>;
}

const plainFields = ['name', 'description', 'is_public', 'public_title', 'public_text', 'notify'] as const;
