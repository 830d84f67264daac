import fc from '@parallax/testkit/fast-check';
import type { Outcome } from '@parallax/checks';
import { timeline } from '../../batch.ts';
import { at, inputsOf, result, seats, told } from '../../test-support.ts';
import type { StoredResult } from '../../types.ts';
import { life, overS } from '../lives.ts';
import { anything, bad, farApart, good, holds, rounds, second, tell, toRows } from './property.ts';
import type { Property } from './property.ts';

/* Pauses, resets, changes of what is checked, and how far a result reaches. */

const lengthS = fc.integer({ min: 1, max: 300 });
const farS = overS + 300;

export const inputProperties: readonly Property[] = [
  holds(
    'a pause covers its interval',
    fc.property(life, second, lengthS, ({ inputs, rows }, fromS, length) => {
      const paused = { ...inputs, pauses: [...inputs.pauses, { fromUs: at(fromS), toUs: at(fromS + length) }] };
      const { segments } = timeline(paused, rows, at(fromS), at(fromS + length));
      return segments.length === 1 && segments[0]?.status === 'UNKNOWN';
    }),
  ),
  holds(
    'after a pause only what came after it is known',
    fc.property(life, second, lengthS, ({ inputs, rows }, fromS, length) => {
      const paused = { ...inputs, pauses: [{ fromUs: at(fromS), toUs: at(fromS + length) }] };
      const young = rows.filter((row) => row.eUs >= at(fromS + length));
      const after = (given: readonly StoredResult[]) =>
        told(timeline(paused, given, at(fromS + length), at(farS)).segments);
      return after(rows) === after(young);
    }),
  ),
  holds(
    'what comes in a pause or after it changes nothing of what was before it',
    fc.property(life, second, lengthS, ({ inputs, rows }, fromS, length) => {
      const paused = { ...inputs, pauses: [{ fromUs: at(fromS), toUs: at(fromS + length) }] };
      const old = rows.filter((row) => row.eUs < at(fromS));
      return fromS === 0 || told(tell(paused, rows, fromS)) === told(tell(paused, old, fromS));
    }),
  ),
  holds(
    'after a reset everything is as if nothing had been before it, whenever that arrives',
    fc.property(life, second, ({ inputs, rows }, resetS) => {
      const reset = { ...inputs, resetUs: at(resetS) };
      const young = rows.filter((row) => row.eUs >= at(resetS));
      const segments = tell(reset, rows);
      const isSilent = segments.every(({ fromUs, status }) => fromUs >= at(resetS) || status === 'UNKNOWN');
      return isSilent && told(segments) === told(tell(reset, young));
    }),
  ),
  holds(
    'what is checked anew starts anew: votes end, and failures of before confirm nothing',
    fc.property(rounds(3, anything), fc.integer({ min: 1, max: 500 }), (list, changeS) => {
      const [first] = inputsOf().configurations;
      if (first === undefined) return false;
      const inputs = inputsOf({ configurations: [first, { ...first, fromUs: at(changeS), probeRevision: 2 }] });
      const rows = toRows(list).map((row) => ({ ...row, probeRevision: row.eUs < at(changeS) ? 1 : 2 }));
      const young = rows.filter((row) => row.eUs >= at(changeS));
      const after = (given: readonly StoredResult[]) => told(timeline(inputs, given, at(changeS), at(farS)).segments);
      return after(rows) === after(young);
    }),
  ),
  holds(
    'another interval or another name changes nothing',
    fc.property(life, second, fc.integer({ min: 1, max: 3_600 }), ({ inputs, rows }, changeS, intervalS) => {
      const current = inputs.configurations.findLast((event) => event.fromUs <= at(changeS));
      if (current === undefined) return false;
      const changed = {
        ...inputs,
        configurations: [...inputs.configurations, { ...current, fromUs: at(changeS), intervalS }],
      };
      const isSameInstant = inputs.configurations.some((event) => event.fromUs === at(changeS));
      return isSameInstant || told(tell(inputs, rows)) === told(tell(changed, rows));
    }),
  ),
  holds(
    'a monitor says nothing before it exists, nor of results from before',
    fc.property(life, second, ({ inputs, rows }, createdS) => {
      const created = { ...inputs, resetUs: null, createdUs: at(createdS) };
      const young = rows.filter((row) => row.eUs >= at(createdS));
      const segments = tell(created, rows);
      const isSilent = segments.every(({ fromUs, status }) => fromUs >= at(createdS) || status === 'UNKNOWN');
      return isSilent && told(segments) === told(tell(created, young));
    }),
  ),
  holds(
    'who is not assigned says nothing',
    fc.property(life, rounds(1, anything), ({ inputs, rows }, strange) => {
      const stranger = toRows(strange).map((row) => ({ ...row, voter: 77 }));
      return told(tell(inputs, rows)) === told(tell(inputs, [...rows, ...stranger]));
    }),
  ),
  holds(
    'a result changes nothing before its streak',
    fc.property(
      rounds(3, anything),
      second,
      fc.integer({ min: 1, max: 3 }),
      fc.oneof(good, bad, fc.constant<Outcome>('probe_error')),
      (list, s, voter, outcome) => {
        const rows = toRows(list).filter((row) => row.voter !== voter || row.eUs !== at(s));
        const own = rows.filter(
          (row) => row.voter === voter && row.eUs < at(s) && row.outcome !== 'skipped' && row.outcome !== 'probe_error',
        );
        // Two confirmations: at most the failure just before it is one that it can confirm or part from the next.
        const last = own.sort((a, b) => b.eUs - a.eUs)[0];
        const isFailing = last?.outcome === 'fail' || last?.outcome === 'timeout';
        const streakUs = last !== undefined && isFailing ? last.eUs : at(s);
        const before = (given: readonly StoredResult[]) => told(timeline(inputsOf(), given, at(0), streakUs).segments);
        return streakUs <= at(0) || before(rows) === before([...rows, result(voter, s, outcome)]);
      },
    ),
  ),
  holds(
    'the onset of DOWN is the first failure of the voter that completes the quorum',
    fc.property(
      fc.integer({ min: 2, max: 5 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 5, maxLength: 5 }),
      fc.integer({ min: 1, max: 4 }),
      (n, offsets, confirmations) => {
        const inputs = inputsOf({
          assignments: seats(...farApart.slice(0, n)),
          configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy: 'majority' }],
        });
        const voters = offsets.slice(0, n);
        const rows = voters.flatMap((offset, index) =>
          [0, 1, 2, 3, 4].map((round) => result(index + 1, round * 60 + offset, round === 0 ? 'ok' : 'fail')),
        );
        const quorum = Math.max(2, Math.floor(n / 2) + 1);
        const onset = [...voters].sort((a, b) => a - b)[quorum - 1] ?? 0;
        const down = timeline(inputs, rows, at(60), at(300)).segments.find(({ status }) => status === 'DOWN');
        return down?.fromUs === at(60 + onset);
      },
    ),
  ),
];
