import fc from '@parallax/testkit/fast-check';
import { ranges, timeline } from '../../batch.ts';
import { at, told } from '../../test-support.ts';
import type { MonitorInputs, Segment } from '../../types.ts';
import { life, overS } from '../lives.ts';
import type { Life } from '../lives.ts';
import { holds, tell } from './property.ts';
import type { Property } from './property.ts';

/* What must not matter, and the form of what is told. */

function shuffled<Item>(items: readonly Item[], keys: readonly number[]): Item[] {
  return items
    .map((item, index) => ({ item, key: keys[index % keys.length] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

const keys = fc.array(fc.nat(), { minLength: 7, maxLength: 13 });

/** The monitor's own timeline and those of its voters. */
function everyTimeline({ inputs, rows }: Pick<Life, 'inputs' | 'rows'>): (readonly Segment[])[] {
  const { segments, perVoter } = timeline(inputs, rows, at(0), at(overS));
  return [segments, ...perVoter.values()];
}

const rangeOf = {
  DEGRADED: 'DEGRADED',
  PARTIAL: 'DEGRADED',
  WARNING: 'DEGRADED',
  UP: 'UP',
  DOWN: 'DOWN',
  TIMEOUT: 'TIMEOUT',
};

export const orderProperties: readonly Property[] = [
  holds(
    'the order of the results changes nothing',
    fc.property(life, keys, ({ inputs, rows }, order) => {
      return told(tell(inputs, rows)) === told(tell(inputs, shuffled(rows, order)));
    }),
  ),
  holds(
    'duplicates change nothing',
    fc.property(life, fc.nat(), fc.nat(), ({ inputs, rows }, from, count) => {
      const twice = rows.slice(from % (rows.length + 1)).slice(0, 1 + (count % 9));
      return told(tell(inputs, rows)) === told(tell(inputs, [...rows, ...twice]));
    }),
  ),
  holds(
    'the order in which the inputs are read changes nothing',
    fc.property(life, ({ inputs, rows }) => {
      const turned: MonitorInputs = {
        ...inputs,
        assignments: inputs.assignments.toReversed(),
        pauses: inputs.pauses.toReversed(),
        quarantines: inputs.quarantines.toReversed(),
      };
      return told(tell(inputs, rows)) === told(tell(turned, rows));
    }),
  ),
  holds(
    'segments and gaps partition time',
    fc.property(life, (given) =>
      everyTimeline(given).every((segments) => {
        const ends = [at(0), ...segments.map(({ toUs }) => toUs)];
        return segments.every(({ fromUs }, index) => fromUs === ends[index]) && ends.at(-1) === at(overS);
      }),
    ),
  ),
  holds(
    'no two neighbours are equal, neither segments nor ranges',
    fc.property(life, (given) =>
      everyTimeline(given).every((segments) => {
        const runs = ranges(segments);
        return (
          segments.every(({ status }, index) => status !== segments[index - 1]?.status) &&
          runs.every((run, index) => {
            const before = runs[index - 1];
            return before === undefined || before.toUs < run.fromUs || before.status !== run.status;
          })
        );
      }),
    ),
  ),
  holds(
    'no segment is empty and no range is',
    fc.property(life, (given) =>
      everyTimeline(given).every((segments) =>
        [...segments, ...ranges(segments)].every(({ fromUs, toUs }) => fromUs < toUs),
      ),
    ),
  ),
  holds(
    'ranges say what the segments say: PARTIAL and WARNING as DEGRADED, and a gap for UNKNOWN',
    fc.property(life, (given) =>
      everyTimeline(given).every((segments) => {
        const runs = ranges(segments);
        return segments.every(({ fromUs, status }) => {
          const run = runs.find((each) => each.fromUs <= fromUs && fromUs < each.toUs);
          return status === 'UNKNOWN' ? run === undefined : run?.status === rangeOf[status];
        });
      }),
    ),
  ),
  holds(
    'a window tells what the whole tells of it',
    fc.property(life, fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 300 }), (given, fromS, lengthS) => {
      const { inputs, rows } = given;
      const toS = fromS + lengthS;
      const whole = tell(inputs, rows)
        .filter((segment) => segment.toUs > at(fromS) && segment.fromUs < at(toS))
        .map(({ status, fromUs, toUs }) => ({
          status,
          fromUs: Math.max(fromUs, at(fromS)),
          toUs: Math.min(toUs, at(toS)),
        }));
      return told(whole) === told(timeline(inputs, rows, at(fromS), at(toS)).segments);
    }),
  ),
];
