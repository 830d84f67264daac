import { z } from 'zod';
import { instant, integerParameter, timestamp, wordParameter } from './shared.ts';

/** Calendar periods of a report: the present one up to now, and the last one that is closed. */
export const periods = [
  'day',
  'week',
  'month',
  'quarter',
  'year',
  'last_day',
  'last_week',
  'last_month',
  'last_quarter',
  'last_year',
] as const;
export type Period = (typeof periods)[number];

/** Days that a window of a report has at most: a leap year, and what people add to a year. */
export const longestWindowDays = 400;
/** Hours that a report goes back when nothing else is said. */
export const defaultHours = 24;

/** The window of a report: hours, two instants, or a calendar period. @param mostHours that `hours` takes */
export function windowQuery(mostHours: number) {
  return {
    hours: integerParameter(1, mostHours)
      .optional()
      .meta({ default: defaultHours })
      .describe('Counts back from `end_time`, or from now where that is earlier. Not beside `start_time` or `period`.'),
    start_time: instant.optional().describe(`Inclusive. At most ${longestWindowDays} days before \`end_time\`.`),
    end_time: instant.optional().describe('Exclusive. Default: now.'),
    period: wordParameter(z.enum(periods))
      .optional()
      .describe(
        'A calendar period in `timezone`: the present one up to now, or the last closed one. Not beside `hours`, `start_time` or `end_time`.',
      ),
    timezone: z
      .string()
      .min(1)
      .max(64)
      .default('UTC')
      .describe('IANA time zone, by whose calendar days, weeks, months, quarters and years begin.'),
    week_starts: integerParameter(1, 7).default(1).describe('The day on which weeks begin: 1 is Monday, 7 Sunday.'),
  };
}

/** The window of a report, as a client asks for it. */
export type WindowQuery = {
  readonly hours?: number | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly period?: Period | undefined;
  readonly timezone: string;
  readonly week_starts: number;
};

/** Fields of every answer that reports on a window. */
export const windowFields = {
  hours: z
    .number()
    .int()
    .nullable()
    .describe('What was asked for; null where `start_time` or `period` said the window.'),
  period: z.enum(periods).nullable().describe('What was asked for.'),
  timezone: z.string().describe('The time zone by whose calendar the period was found.'),
  requested_from: timestamp,
  requested_to: timestamp.describe('Later than `to` where the window has not ended.'),
  from: timestamp.describe('Inclusive. Days and times are in UTC everywhere.'),
  to: timestamp.describe(
    'Exclusive. At most how far results are evaluated, normally a few seconds ago; now, when that is more than a minute ago, and what lies ' +
      'between counts as unknown.',
  ),
  clamped_by: z
    .enum(['creation', 'reset'])
    .nullable()
    .describe('Why the window begins later than asked: nothing is known from before the creation or the last reset.'),
};
