import fc from '@parallax/testkit/fast-check';
import { ranges, timeline } from '../../batch.ts';
import { at } from '../../test-support.ts';
import type { Interval } from '../../types.ts';
import { uptime } from '../../uptime.ts';
import type { Uptime, UptimeInputs } from '../../uptime.ts';
import { life, overS } from '../lives.ts';
import type { Life } from '../lives.ts';
import { holds } from './property.ts';
import type { Property } from './property.ts';

/* What is counted of a timeline. */

const interval = fc
  .tuple(fc.integer({ min: 0, max: overS }), fc.option(fc.integer({ min: 0, max: 300 }), { freq: 4 }))
  .map(([fromS, length]): Interval => ({ fromUs: at(fromS), toUs: length === null ? null : at(fromS + length) }));
const maintenance = fc.array(interval, { maxLength: 3 });
const window = fc
  .tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 300 }))
  .map(([fromS, length]) => ({ fromS, toS: fromS + length }));

/** What a window of a life is counted from. */
function inputsOf(
  { inputs, rows }: Life,
  given: { fromS: number; toS: number },
  planned: readonly Interval[],
): UptimeInputs {
  const runs = ranges(timeline(inputs, rows, at(0), at(overS)).segments);
  return {
    ranges: runs.map(({ fromUs, toUs, status }) => ({
      startedUs: fromUs,
      endedUs: toUs >= at(overS) ? null : toUs,
      status,
    })),
    pauses: inputs.pauses,
    maintenance: planned,
    windowFromUs: at(given.fromS),
    windowToUs: at(given.toS),
    openUntilUs: at(overS),
  };
}

const parts = ({ upUs, degradedUs, downUs, timeoutUs, unknownUs, pausedUs, maintenanceUs }: Uptime): number[] => [
  upUs,
  degradedUs,
  downUs,
  timeoutUs,
  unknownUs,
  pausedUs,
  maintenanceUs,
];
const sum = (list: readonly number[]): number => list.reduce((total, part) => total + part, 0);

export const uptimeProperties: readonly Property[] = [
  holds(
    'seconds of uptime, downtime, unknown, pause and maintenance sum to the window',
    fc.property(life, window, maintenance, (given, chosen, planned) => {
      const counted = parts(uptime(inputsOf(given, chosen, planned)));
      return counted.every((part) => part >= 0) && sum(counted) === (chosen.toS - chosen.fromS) * 1_000_000;
    }),
  ),
  holds(
    'uptime lies between 0 and 1, and is nothing when nothing was measured',
    fc.property(life, window, maintenance, (given, chosen, planned) => {
      const counted = uptime(inputsOf(given, chosen, planned));
      const measured = counted.upUs + counted.degradedUs + counted.downUs + counted.timeoutUs;
      return measured === 0
        ? counted.uptime === null
        : counted.uptime !== null && counted.uptime >= 0 && counted.uptime <= 1;
    }),
  ),
  holds(
    'two windows that adjoin count what the window of both counts',
    fc.property(life, window, fc.nat(), maintenance, (given, chosen, cut, planned) => {
      const middleS = chosen.fromS + (cut % (chosen.toS - chosen.fromS + 1));
      const count = (part: { fromS: number; toS: number }) => parts(uptime(inputsOf(given, part, planned)));
      const first = count({ ...chosen, toS: middleS });
      const second = count({ ...chosen, fromS: middleS });
      return count(chosen).every((part, index) => part === (first[index] ?? 0) + (second[index] ?? 0));
    }),
  ),
  holds(
    'a maintenance only takes time out, from good and bad alike, and a pause covers it',
    fc.property(life, window, maintenance, (given, chosen, planned) => {
      const without = uptime(inputsOf(given, chosen, []));
      const with_ = uptime(inputsOf(given, chosen, planned));
      return (
        with_.upUs <= without.upUs &&
        with_.downUs <= without.downUs &&
        with_.timeoutUs <= without.timeoutUs &&
        with_.degradedUs <= without.degradedUs &&
        with_.pausedUs === without.pausedUs
      );
    }),
  ),
  holds(
    'every second counts as what covers it first: a pause, a maintenance, the status, or nothing',
    fc.property(life, window, maintenance, (given, chosen, planned) => {
      const inputs = inputsOf(given, chosen, planned);
      const covers = (list: readonly Interval[], t: number): boolean =>
        list.some(({ fromUs, toUs }) => fromUs <= t && (toUs === null || t < toUs));
      const counted = { UP: 0, DEGRADED: 0, DOWN: 0, TIMEOUT: 0, UNKNOWN: 0, PAUSED: 0, MAINTENANCE: 0 };
      for (let s = chosen.fromS; s < chosen.toS; s += 1) {
        const range = inputs.ranges.find((each) => covers([{ fromUs: each.startedUs, toUs: each.endedUs }], at(s)));
        const status = range?.status ?? 'UNKNOWN';
        counted[covers(inputs.pauses, at(s)) ? 'PAUSED' : covers(planned, at(s)) ? 'MAINTENANCE' : status] += 1_000_000;
      }
      const { UP, DEGRADED, DOWN, TIMEOUT, UNKNOWN, PAUSED, MAINTENANCE } = counted;
      return parts(uptime(inputs)).join() === [UP, DEGRADED, DOWN, TIMEOUT, UNKNOWN, PAUSED, MAINTENANCE].join();
    }),
  ),
  holds(
    'an outage never raises the uptime',
    fc.property(life, window, fc.nat(), (given, chosen, which) => {
      const before = inputsOf(given, chosen, []);
      const turned = which % Math.max(1, before.ranges.length);
      const after = {
        ...before,
        ranges: before.ranges.map((range, index) => (index === turned ? { ...range, status: 'DOWN' as const } : range)),
      };
      return (uptime(after).uptime ?? 0) <= (uptime(before).uptime ?? 0);
    }),
  ),
  holds(
    'what is not folded yet earns no uptime',
    fc.property(life, window, fc.integer({ min: 0, max: overS }), (given, chosen, foldedS) => {
      const inputs = inputsOf(given, chosen, []);
      const open = inputs.ranges.find(({ endedUs }) => endedUs === null);
      const told = uptime({ ...inputs, openUntilUs: at(foldedS) });
      const beyond = Math.max(
        0,
        Math.min(at(chosen.toS), at(overS)) - Math.max(at(foldedS), at(chosen.fromS), open?.startedUs ?? 0),
      );
      return open === undefined || told.unknownUs + told.pausedUs >= beyond;
    }),
  ),
];
