import type { CronExpression } from '../cron-expression.ts';

/**
 * The main loop of Debian's cron(8) (version 3.0pl1, cron.c), minute by minute: its virtual clock, its kinds of wake-ups and its rule of days. Slow
 * and obvious; knows nothing of how `next` is computed.
 * @param offsetAt distance of local time from UTC in minutes, at a minute since the epoch
 * @returns the minutes since the epoch at which each job was run
 */
export function runCron(
  jobs: readonly CronExpression[],
  offsetAt: (minute: number) => number,
  fromMinute: number,
  toMinute: number,
): number[][] {
  const runs = jobs.map((): number[] => []);
  const find = (now: number, local: number, doWild: boolean, doNonWild: boolean): void => {
    const date = new Date(local * 60_000);
    for (const [index, job] of jobs.entries()) {
      if (job.isWild ? !doWild : !doNonWild) continue;
      if (job.minutes[date.getUTCMinutes()] !== 1 || job.hours[date.getUTCHours()] !== 1) continue;
      if (job.months[date.getUTCMonth() + 1] !== 1) continue;
      const isDay = job.days[date.getUTCDate()] === 1;
      const isWeekday = job.weekdays[date.getUTCDay()] === 1;
      if (!(job.needsBothDays ? isDay && isWeekday : isDay || isWeekday)) continue;
      // One run in a minute is as good as two.
      if (runs[index]?.at(-1) !== now) runs[index]?.push(now);
    }
  };
  let virtual = fromMinute + offsetAt(fromMinute);
  for (let now = fromMinute + 1; now <= toMinute; now += 1) {
    const local = now + offsetAt(now);
    const difference = local - virtual;
    if (difference === 1) {
      virtual = local;
      find(now, virtual, true, true);
    } else if (difference > 0 && difference <= 5) {
      while (virtual < local) find(now, (virtual += 1), true, true);
    } else if (difference > 5 && difference <= 180) {
      find(now, local, true, false);
      while (virtual < local) find(now, (virtual += 1), false, true);
    } else if (difference <= 0 && difference > -180) {
      find(now, local, true, false);
    } else {
      virtual = local;
      find(now, virtual, true, true);
    }
  }
  return runs;
}
