import fc from '@parallax/testkit/fast-check';
import type { Outcome } from '@parallax/checks';
import { timeline } from '../../batch.ts';
import { at, inputsOf, result, seats, told } from '../../test-support.ts';
import type { Segment, StoredResult } from '../../types.ts';
import { life, overS } from '../lives.ts';
import { bad, good, holds, isDown, isFailure, second, tell, toRows } from './property.ts';
import type { Property } from './property.ts';

/* What the results of one voter say (rules 1 to 3, 11 and 15). */

const alone = (confirmations: number) =>
  inputsOf({
    assignments: seats('eu'),
    configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy: 'majority' }],
  });

/** Results of one voter a minute apart, the first of which answered. */
const stream = (outcomes: readonly Outcome[]): StoredResult[] =>
  ['ok' as const, ...outcomes].map((outcome, index) => result(1, index * 60, outcome));

/** Rounds of three voters in which the chosen ones fail, in every other round. */
const blips = fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { minLength: 2, maxLength: 9 });

function isInvisible(chosen: readonly (readonly boolean[])[], outcome: Outcome): boolean {
  const list = chosen.map((round, index) =>
    round.map((isBlip): Outcome => (index % 2 === 1 && isBlip ? outcome : 'ok')),
  );
  const { segments } = timeline(inputsOf(), toRows(list), at(6), at(list.length * 60));
  return segments.length === 1 && segments[0]?.status === 'UP';
}

/** A timeline and the same with more rows are one. */
const isNeutral = (
  given: { inputs: Parameters<typeof tell>[0]; rows: readonly StoredResult[] },
  more: readonly StoredResult[],
): boolean => told(tell(given.inputs, given.rows)) === told(tell(given.inputs, [...given.rows, ...more]));

const places = fc.array(fc.tuple(second, fc.integer({ min: 0, max: 4 })), { minLength: 1, maxLength: 6 });
const failures = fc.integer({ min: 1, max: 6 });
const confirmations = fc.integer({ min: 1, max: 5 });

export const voteProperties: readonly Property[] = [
  holds(
    'one blip is invisible with two confirmations',
    fc.property(blips, bad, (chosen, outcome) => isInvisible(chosen, outcome)),
  ),
  holds(
    'a blip of all probes at once is invisible with two confirmations',
    fc.property(fc.integer({ min: 2, max: 9 }), bad, (n, outcome) =>
      isInvisible(
        Array.from({ length: n }, () => [true, true, true]),
        outcome,
      ),
    ),
  ),
  holds(
    'fewer failures in a row than confirmations carry the vote before them',
    fc.property(confirmations, failures, good, (needed, failed, first) => {
      const rows = [
        result(1, 0, first),
        ...Array.from({ length: failed }, (_, index) => result(1, 60 + index * 60, 'fail')),
      ];
      const { segments } = timeline(alone(needed), rows, at(0), at(failed * 60 + 30));
      const statuses = segments.map(({ status }) => status);
      const before = { ok: 'UP', slow: 'DEGRADED', warn: 'WARNING' }[first as 'ok' | 'slow' | 'warn'];
      return failed < needed ? statuses.join() === before : statuses.join() === `${before},DOWN`;
    }),
  ),
  holds(
    'a confirmed streak votes from its first failure on',
    fc.property(confirmations, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 3 }), (needed, calm, more) => {
      const outcomes = [
        ...Array.from({ length: calm }, (): Outcome => 'ok'),
        ...Array.from({ length: needed + more }, (): Outcome => 'fail'),
      ];
      const { segments } = timeline(alone(needed), stream(outcomes), at(0), at(outcomes.length * 60 + 30));
      return segments.at(-1)?.status === 'DOWN' && segments.at(-1)?.fromUs === at((calm + 1) * 60);
    }),
  ),
  holds(
    'a streak votes TIMEOUT until its first fail, and DOWN from it on',
    fc.property(fc.array(bad, { minLength: 2, maxLength: 6 }), (outcomes) => {
      const { segments } = timeline(alone(2), stream(outcomes), at(60), at(outcomes.length * 60 + 30));
      const firstFail = outcomes.indexOf('fail');
      const wanted = outcomes.map((_, index) => (firstFail >= 0 && index >= firstFail ? 'DOWN' : 'TIMEOUT'));
      return outcomes.every(
        (_, index) =>
          segments.find(({ fromUs, toUs }) => fromUs <= at((index + 1) * 60) && at((index + 1) * 60) < toUs)?.status ===
          wanted[index],
      );
    }),
  ),
  holds(
    'manual results are neutral',
    fc.property(life, places, bad, (given, where, outcome) =>
      isNeutral(
        given,
        where.map(([s, voter]) => result(voter, s, outcome, { kind: 'manual', probeRevision: 9 })),
      ),
    ),
  ),
  holds(
    'skipped results are neutral',
    fc.property(life, places, (given, where) =>
      isNeutral(
        given,
        where.map(([s, voter]) => result(voter, s, 'skipped', { probeRevision: 9 })),
      ),
    ),
  ),
  holds(
    'the own error of a probe ends its vote and neither extends nor breaks its streak',
    fc.property(fc.integer({ min: 1, max: 59 }), bad, (afterS, outcome) => {
      const error = result(1, 60 + afterS, 'probe_error');
      const rows = [result(1, 0, 'ok'), result(1, 60, outcome), result(1, 120, outcome)];
      const { segments } = timeline(alone(2), [...rows, error], at(0), at(150));
      const shown = segments.map(({ status, fromUs }) => `${status} ${fromUs - at(0)}`).join();
      const failed = outcome === 'fail' ? 'DOWN' : 'TIMEOUT';
      const wanted = ['UP 0', `${failed} 60000000`, `UNKNOWN ${(60 + afterS) * 1_000_000}`, `${failed} 120000000`];
      const once = timeline(alone(2), [result(1, 60, outcome), error], at(0), at(150)).segments;
      return shown === wanted.join() && !once.some(({ status }) => isDown(status));
    }),
  ),
  holds(
    'results of an older revision do not vote',
    fc.property(life, fc.integer({ min: 1, max: 5 }), (given, by) => {
      const { inputs, rows } = given;
      const raised = {
        ...inputs,
        configurations: inputs.configurations.map((event) => ({ ...event, probeRevision: event.probeRevision + 10 })),
      };
      return isNeutral({ inputs: raised, rows: [] }, rows.slice(0, rows.length - (by % 2)));
    }),
  ),
  holds(
    'what was received more than 49 h late counts nowhere',
    fc.property(
      life,
      places,
      fc.constantFrom<Outcome>('ok', 'fail', 'timeout', 'probe_error'),
      (given, where, outcome) =>
        isNeutral(
          given,
          where.map(([s, voter]) =>
            result(voter, s, outcome, { probeRevision: 9, receivedUs: at(s) + 49 * 3_600_000_000 + 1 }),
          ),
        ),
    ),
  ),
  holds(
    'nothing is known after the last result and its freshness',
    fc.property(life, ({ inputs, rows }) => {
      const endUs = Math.max(at(0), ...rows.map((row) => row.eUs + row.freshS * 1_000_000));
      const { segments } = timeline(inputs, rows, endUs, endUs + 1_000_000);
      return segments.length === 1 && segments[0]?.status === 'UNKNOWN';
    }),
  ),
  holds(
    'a voter says something only within the freshness of a result of its own',
    fc.property(life, ({ inputs, rows }) => {
      const { perVoter } = timeline(inputs, rows, at(0), at(overS));
      return [...perVoter].every(([voter, segments]) => {
        const own = rows.filter((row) => row.voter === voter).sort((a, b) => a.eUs - b.eUs);
        return segments.every((segment) => segment.status === 'UNKNOWN' || isCovered(segment, own));
      });
    }),
  ),
  holds(
    'a voter that says DOWN has failed as often in a row as it must',
    fc.property(life, ({ inputs, rows }) => {
      const least = Math.min(...inputs.configurations.map((event) => event.confirmations));
      const { perVoter } = timeline(inputs, rows, at(0), at(overS));
      return [...perVoter].every(([voter, segments]) => {
        const failed = rows.filter((row) => row.voter === voter && isFailure(row) && row.kind !== 'manual');
        return segments.every(({ status, fromUs }) => {
          if (!isDown(status)) return true;
          return failed.some(({ eUs }) => eUs === fromUs) && new Set(failed.map(({ eUs }) => eUs)).size >= least;
        });
      });
    }),
  ),
];

/** Rows that reach, one after another, from the start of a segment to its end. */
function isCovered({ fromUs, toUs }: Segment, own: readonly StoredResult[]): boolean {
  let reachedUs = fromUs;
  for (const row of own) {
    if (row.eUs > reachedUs) break;
    reachedUs = Math.max(reachedUs, row.eUs + row.freshS * 1_000_000);
  }
  return reachedUs >= toUs && own.some(({ eUs }) => eUs <= fromUs);
}
