import { percentOf } from '../../../platform/figures.ts';
import type { SimulatedOutcome, Simulation as SimulationAnswer } from '@parallax/api-contract';
import { countedTime } from '../../consensus/index.ts';
import type { Interval } from '../../consensus/index.ts';
import type { Played } from './simulation.ts';

/** The window of a simulation, microseconds; half-open. */
export type SimulatedWindow = {
  readonly fromUs: number;
  readonly untilUs: number;
  readonly pauses: readonly Interval[];
};

/** A run of failing ranges that touch. */
export type SimulatedOutage = {
  /** Cut to the window. */
  readonly startedUs: number;
  readonly endedUs: number | null;
  readonly status: 'DOWN' | 'TIMEOUT';
  readonly rule: string;
  /** It began within the window. */
  readonly isWhole: boolean;
  readonly announcedUs: number | null;
};

/** Entries of a list in the answer. */
const mostListed = 1_000;

const iso = (us: number): string => new Date(us / 1_000).toISOString();
const isoOrNull = (us: number | null): string | null => (us === null ? null : iso(us));
/** Whole milliseconds. */
const seconds = (us: number): number => Math.round(us / 1_000) / 1_000;

const isFailing = (status: string): status is 'DOWN' | 'TIMEOUT' => status === 'DOWN' || status === 'TIMEOUT';

/** Outages of a course with when they were told: the first time that something failing was told of it and was news. */
export function outagesOf({ ranges, told }: Played, { fromUs }: SimulatedWindow): SimulatedOutage[] {
  const outages: SimulatedOutage[] = [];
  for (const { startedUs, endedUs, status, evidence } of ranges) {
    if (!isFailing(status)) continue;
    const last = outages.at(-1);
    if (last !== undefined && last.endedUs === startedUs) {
      outages[outages.length - 1] = { ...last, endedUs };
    } else {
      outages.push({ startedUs, endedUs, status, rule: evidence.rule, isWhole: startedUs > fromUs, announcedUs: null });
    }
  }
  const alarms = told.filter(({ from, to }) => isFailing(to) && !isFailing(from));
  let next = 0;
  return outages.map((outage) => {
    const endUs = outage.endedUs ?? Number.POSITIVE_INFINITY;
    // Told of an outage before this one, of which nothing is left.
    while ((alarms[next]?.toldUs ?? Number.POSITIVE_INFINITY) < outage.startedUs) next += 1;
    const alarm = alarms[next];
    if (alarm === undefined || alarm.sinceUs >= endUs) return outage;
    next += 1;
    return { ...outage, announcedUs: alarm.toldUs };
  });
}

/** One side of the answer. */
export function outcomeOf(
  played: Played,
  window: SimulatedWindow,
  settings: SimulatedOutcome['settings'],
): SimulatedOutcome {
  const outages = outagesOf(played, window);
  const delays = delaysUs(outages);
  const spent = spentUs(played, window);
  const measured = spent.UP + spent.DEGRADED + spent.DOWN + spent.TIMEOUT;
  return {
    settings,
    results: played.results,
    announcements: played.told.slice(0, mostListed).map(({ toldUs, from, to, sinceUs, evidence }) => ({
      at: iso(toldUs),
      from,
      to,
      since: iso(sinceUs),
      rule: evidence.rule,
    })),
    announcements_total: played.told.length,
    outages: outages.slice(0, mostListed).map((outage) => ({
      started_at: iso(outage.startedUs),
      ended_at: isoOrNull(outage.endedUs),
      duration_seconds: seconds(lengthUs(outage, window)),
      status: outage.status,
      rule: outage.rule,
      announced_at: isoOrNull(outage.announcedUs),
      detection_delay_seconds: secondsOrNull(delayUs(outage)),
    })),
    outages_total: outages.length,
    detection_delay:
      delays.length === 0
        ? null
        : {
            mean_seconds: seconds(meanOf(delays)),
            p50_seconds: seconds(delays[Math.ceil(delays.length / 2) - 1] ?? 0),
            max_seconds: seconds(delays.at(-1) ?? 0),
          },
    uptime_percent: percentOf(measured === 0 ? null : (spent.UP + spent.DEGRADED) / measured),
    seconds: {
      up: seconds(spent.UP),
      degraded: seconds(spent.DEGRADED),
      down: seconds(spent.DOWN),
      timeout: seconds(spent.TIMEOUT),
      unknown: seconds(spent.UNKNOWN),
      paused: seconds(spent.PAUSED),
    },
  };
}

/** What the proposed settings would have done better and worse. */
export function comparisonOf(
  present: Played,
  proposed: Played,
  window: SimulatedWindow,
): SimulationAnswer['comparison'] {
  const before = outagesOf(present, window);
  const after = outagesOf(proposed, window);
  const avoided = alarmsWithout(before, after);
  const added = alarmsWithout(after, before);
  const delaysBefore = delaysUs(before);
  const delaysAfter = delaysUs(after);
  return {
    alarms_avoided: avoided.slice(0, mostListed).map(alarmOf),
    alarms_added: added.slice(0, mostListed).map(alarmOf),
    alarms_avoided_total: avoided.length,
    alarms_added_total: added.length,
    downtime_seconds: seconds(downtimeUs(after, window) - downtimeUs(before, window)),
    mean_detection_delay_seconds:
      delaysBefore.length === 0 || delaysAfter.length === 0
        ? null
        : seconds(meanOf(delaysAfter) - meanOf(delaysBefore)),
  };
}

/** Outages that were told and that overlap none of the others. Both are in order of time and disjoint. */
function alarmsWithout(outages: readonly SimulatedOutage[], others: readonly SimulatedOutage[]): SimulatedOutage[] {
  const endOf = ({ endedUs }: SimulatedOutage): number => endedUs ?? Number.POSITIVE_INFINITY;
  let next = 0;
  return outages.filter((outage) => {
    for (let other = others[next]; other !== undefined && endOf(other) <= outage.startedUs; other = others[next])
      next += 1;
    const other = others[next];
    return outage.announcedUs !== null && (other === undefined || other.startedUs >= endOf(outage));
  });
}

function alarmOf({ startedUs, endedUs, announcedUs }: SimulatedOutage) {
  return { started_at: iso(startedUs), ended_at: isoOrNull(endedUs), announced_at: iso(announcedUs ?? startedUs) };
}

const lengthUs = ({ startedUs, endedUs }: SimulatedOutage, { untilUs }: SimulatedWindow): number =>
  (endedUs ?? untilUs) - startedUs;

const downtimeUs = (outages: readonly SimulatedOutage[], window: SimulatedWindow): number =>
  outages.reduce((sum, outage) => sum + lengthUs(outage, window), 0);

const delayUs = ({ isWhole, announcedUs, startedUs }: SimulatedOutage): number | null =>
  isWhole && announcedUs !== null ? Math.max(0, announcedUs - startedUs) : null;

/** Ascending. */
const delaysUs = (outages: readonly SimulatedOutage[]): number[] =>
  outages.flatMap((outage) => delayUs(outage) ?? []).sort((a, b) => a - b);

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const secondsOrNull = (us: number | null): number | null => (us === null ? null : seconds(us));

function spentUs({ ranges }: Played, { fromUs, untilUs, pauses }: SimulatedWindow) {
  const spent = { UP: 0, DEGRADED: 0, DOWN: 0, TIMEOUT: 0, UNKNOWN: 0, PAUSED: 0, MAINTENANCE: 0 };
  const spans = countedTime({
    ranges,
    pauses,
    maintenance: [],
    windowFromUs: fromUs,
    windowToUs: untilUs,
    openUntilUs: untilUs,
  });
  for (const span of spans) spent[span.counts] += span.toUs - span.fromUs;
  return spent;
}
