import { ScheduleError } from './schedule-error.ts';

/** The values that a field takes: 1 at the index of each. */
export type Field = Uint8Array;

/** A line of a crontab as cron(8) of Debian keeps it. */
export type CronExpression = {
  readonly minutes: Field;
  readonly hours: Field;
  readonly days: Field;
  readonly months: Field;
  /** 0 is Sunday. */
  readonly weekdays: Field;
  /** The minute or the hour begins with `*`: such a job follows the clock on the wall, whatever is done to it. */
  readonly isWild: boolean;
  /** Day and weekday must both fit: one of them begins with `*`. Else one of them must. */
  readonly needsBothDays: boolean;
};

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

type Bounds = {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
  /** The number of the first name. */
  readonly firstName?: number;
};

const bounds = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: monthNames, firstName: 1 },
  { name: 'weekday', least: 0, most: 7, names: weekdayNames, firstName: 0 },
] as const satisfies readonly Bounds[];

/**
 * Reads five fields or a nickname, as crontab(5) of Debian has them.
 * @throws ScheduleError
 */
export function parseCron(text: string): CronExpression {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === '@reboot') throw new ScheduleError('@reboot has no times at which it is expected');
  const written = trimmed.startsWith('@') ? nicknames[trimmed] : trimmed;
  if (written === undefined) {
    throw new ScheduleError(`${text.slice(0, 40)} is not known; known are ${Object.keys(nicknames).join(', ')}`);
  }
  const parts = written.split(/[ \t]+/);
  if (parts.length !== 5) {
    throw new ScheduleError(
      `a cron expression has five fields (minute hour day month weekday), this has ${parts.length}`,
    );
  }
  const [minutes, hours, days, months, weekdays] = parts.map((part, index) =>
    parseField(part, bounds[index] ?? bounds[0]),
  );
  if (
    minutes === undefined ||
    hours === undefined ||
    days === undefined ||
    months === undefined ||
    weekdays === undefined
  )
    throw new ScheduleError('a field is missing');
  // Sunday is 0 and 7.
  if (weekdays[7] === 1) weekdays[0] = 1;
  const [minute = '', hour = '', day = '', , weekday = ''] = parts;
  return {
    minutes,
    hours,
    days,
    months,
    weekdays,
    isWild: minute.startsWith('*') || hour.startsWith('*'),
    needsBothDays: day.startsWith('*') || weekday.startsWith('*'),
  };
}

function parseField(text: string, limits: Bounds): Field {
  const field = new Uint8Array(limits.most + 1);
  for (const part of text.split(',')) {
    const match = /^(?:(\*)|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:\/([0-9]{1,3}))?$/.exec(part);
    if (match === null) throw wrong(limits, text);
    const [, star, from, to, step] = match;
    const first = star === '*' ? limits.least : valueOf(from ?? '', limits, text);
    const every = step === undefined ? 1 : Number(step);
    if (every < 1) throw wrong(limits, text);
    const last =
      star === '*' || (to === undefined && step !== undefined) ? limits.most : valueOf(to ?? from ?? '', limits, text);
    if (last < first) throw wrong(limits, text);
    for (let value = first; value <= last; value += every) field[value] = 1;
  }
  return field;
}

function valueOf(text: string, limits: Bounds, field: string): number {
  const named = limits.names?.indexOf(text) ?? -1;
  const value = named >= 0 ? named + (limits.firstName ?? 0) : /^[0-9]+$/.test(text) ? Number(text) : -1;
  if (value < limits.least || value > limits.most) throw wrong(limits, field);
  return value;
}

function wrong({ name, least, most }: Bounds, field: string): ScheduleError {
  return new ScheduleError(
    `the ${name} "${field.slice(0, 40)}" is not valid: numbers from ${least} to ${most}, ranges, lists, * and steps are`,
  );
}
