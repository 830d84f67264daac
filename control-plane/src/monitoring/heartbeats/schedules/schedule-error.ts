/** A schedule that cannot be read, or that never comes. The message says what is wrong and what is taken. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}
