import { periods } from '../../../packages/api-contract/src/index.ts';
import { hourMs } from './things.ts';
import type { Asked, EndpointTrials, Trial } from './trial.ts';

/** The window that an answer reports on, as text. */
export type Reported = { readonly from: string; readonly to: string };

const iso = (ms: number): string => new Date(ms).toISOString();
const dayMs = 24 * hourMs;

/** The first day of a period in UTC, by the plainest way. */
function beginOf(unit: string, date: Date): Date {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === 'year') return new Date(Date.UTC(year, 0));
  if (unit === 'quarter') return new Date(Date.UTC(year, Math.floor(month / 3) * 3));
  if (unit === 'month') return new Date(Date.UTC(year, month));
  const back = unit === 'week' ? (date.getUTCDay() + 6) % 7 : 0;
  return new Date(Date.UTC(year, month, day - back));
}

function isPeriod({ t, value }: Asked, { from, to }: Reported): void {
  const unit = value.replace('last_', '');
  const present = beginOf(unit, new Date());
  if (!value.startsWith('last_')) {
    t.equal(from, present.toISOString(), `${value} begins`);
    t.ok(Math.abs(Date.parse(to) - Date.now()) < 120_000, `${value} goes up to now: ${to}`);
    return;
  }
  const last = beginOf(unit, new Date(present.getTime() - dayMs));
  t.same([from, to], [last.toISOString(), present.toISOString()], value);
}

function isMidnight({ t, value }: Asked, { from }: Reported): void {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: value, hour: '2-digit', minute: '2-digit' });
  t.equal(clock.format(new Date(from)), '00:00', `${from} is midnight in ${value}`);
}

/** Trials of the parameters that say the window of a report, but for `hours`. */
export function windowTrials(
  of: (query: string) => EndpointTrials['of'],
  reported: (asked: Asked, name: string) => Reported | Promise<Reported>,
): Readonly<Record<string, Trial>> {
  return {
    start_time: {
      bounds: { kind: 'instant' },
      more: ({ nowMs }) => [iso(nowMs - 30 * dayMs), iso(nowMs - 7 * hourMs - 1).replace('Z', '+00:00')],
      effect: async (asked) =>
        asked.t.equal((await reported(asked, 'start_time')).from, iso(Date.parse(asked.value)), asked.value),
    },
    end_time: {
      bounds: { kind: 'instant' },
      of: of('hours=24'),
      more: ({ nowMs }) => [iso(nowMs - 30 * dayMs), iso(nowMs - 7 * hourMs - 1).replace('Z', '+00:00')],
      effect: async (asked) => {
        const endMs = Date.parse(asked.value);
        asked.t.match(await reported(asked, 'end_time'), { from: iso(endMs - dayMs), to: iso(endMs) }, asked.value);
      },
    },
    period: {
      bounds: { kind: 'words', words: periods, anyCase: true },
      effect: async (asked) => isPeriod(asked, await reported(asked, 'period')),
    },
    timezone: {
      bounds: { kind: 'zone', byDefault: 'UTC' },
      of: of('period=last_day'),
      effect: async (asked) => isMidnight(asked, await reported(asked, 'timezone')),
    },
    week_starts: {
      bounds: { kind: 'integer', least: 1, most: 7, byDefault: 1 },
      of: of('period=last_week'),
      effect: async (asked) => {
        const { from } = await reported(asked, 'week_starts');
        asked.t.equal(new Date(from).getUTCDay(), Number(asked.value) % 7, `a week from day ${asked.value}`);
      },
    },
  };
}

/** The window that a JSON answer names. */
export function reportedIn({ answer }: Asked): Reported {
  return { from: String(answer.body['from']), to: String(answer.body['to']) };
}
