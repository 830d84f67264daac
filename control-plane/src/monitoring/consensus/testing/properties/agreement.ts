import fc from '@parallax/testkit/fast-check';
import type { Outcome } from '@parallax/checks';
import { timeline } from '../../batch.ts';
import { at, inputsOf, result, seats, told } from '../../test-support.ts';
import type { MonitorInputs, Policy, Segment, Status, StoredResult } from '../../types.ts';
import { life, overS } from '../lives.ts';
import {
  anything,
  bad,
  farApart,
  good,
  holds,
  isDown,
  isFailure,
  rounds,
  segmentAt,
  second,
  statusesOf,
  tell,
  toRows,
} from './property.ts';
import type { Property } from './property.ts';

/* What voters make together (rules 4 and 5). */

const rulesOf = (confirmations: number, policy: Policy = 'majority') => [
  { fromUs: at(0), probeRevision: 1, confirmations, policy },
];

/** Three voters of which one says what it likes while the others agree. */
function isUnmoved(lies: readonly (readonly (Outcome | null)[])[], honest: Outcome, liar: number): boolean {
  const rows = lies.flatMap(([lie], index) =>
    [1, 2, 3].map((voter) => result(voter, index * 60, voter === liar ? (lie ?? 'ok') : honest)),
  );
  const { segments } = timeline(inputsOf({ configurations: rulesOf(1) }), rows, at(0), at((lies.length - 1) * 60 + 1));
  return segments.every(({ status }) => isDown(status) === (honest === 'fail'));
}

/** Every seat counts from its opening. */
const withoutJoining = (inputs: MonitorInputs): MonitorInputs => ({
  ...inputs,
  assignments: inputs.assignments.map((row) => ({ ...row, countsByUs: undefined })),
});

const liarAt = fc.integer({ min: 1, max: 3 });
const lies = rounds(1, fc.oneof(good, bad));

/** The status that votes of one instant make, one for each seat. */
function statusOf(votes: readonly Outcome[], policy: Policy = 'majority', regions = farApart): Status {
  const inputs = inputsOf({
    assignments: seats(...regions.slice(0, votes.length)),
    configurations: rulesOf(1, policy),
  });
  const rows = votes.map((outcome, index) => result(index + 1, 0, outcome));
  return timeline(inputs, rows, at(10), at(11)).segments[0]?.status ?? 'UNKNOWN';
}

const badness: Record<Status, number> = {
  UNKNOWN: -1,
  UP: 0,
  WARNING: 1,
  DEGRADED: 2,
  PARTIAL: 3,
  TIMEOUT: 4,
  DOWN: 4,
};
const votes = fc.array(fc.oneof(good, bad), { minLength: 1, maxLength: 5 });
const policies = fc.constantFrom<Policy>('majority', 'any', 'all', 2, 3);
const four = seats(...farApart.slice(0, 4));

export const agreementProperties: readonly Property[] = [
  holds(
    'by majority one probe alone never makes DOWN',
    fc.property(
      fc.integer({ min: 2, max: 5 }),
      rounds(1, anything),
      rounds(4, fc.oneof(good, fc.constant(null))),
      fc.integer({ min: 1, max: 3 }),
      (n, liar, others, confirmations) => {
        const inputs = inputsOf({
          assignments: seats(...farApart.slice(0, n)),
          configurations: rulesOf(confirmations),
        });
        const rows = [...toRows(liar), ...toRows(others.map((round) => [null, ...round.slice(0, n - 1)]))];
        return ![...statusesOf(tell(inputs, rows))].some(isDown);
      },
    ),
  ),
  holds(
    'of three voting probes any one may lie without turning UP into DOWN while the other two agree',
    fc.property(lies, liarAt, (list, liar) => isUnmoved(list, 'ok', liar)),
  ),
  holds(
    'of three voting probes any one may lie without turning DOWN into UP while the other two agree',
    fc.property(lies, liarAt, (list, liar) => isUnmoved(list, 'fail', liar)),
  ),
  holds(
    'a voter that falls silent never makes DOWN out of what was not',
    fc.property(rounds(4, anything), second, fc.integer({ min: 1, max: 4 }), policies, (list, s, voter, policy) => {
      const inputs = inputsOf({ assignments: four, configurations: rulesOf(2, policy) });
      const rows = toRows(list);
      const was = segmentAt(tell(inputs, rows), s)?.status;
      const without = rows.filter((row) => row.voter !== voter);
      return !isDown(segmentAt(tell(inputs, without), s)?.status) || isDown(was);
    }),
  ),
  holds(
    'a voter that is quarantined never makes DOWN out of what was not',
    fc.property(rounds(4, anything), second, fc.integer({ min: 1, max: 4 }), policies, (list, s, voter, policy) => {
      const inputs = inputsOf({ assignments: four, configurations: rulesOf(2, policy) });
      const rows = toRows(list);
      const quarantined = { ...inputs, quarantines: [{ voter, fromUs: at(s), toUs: null }] };
      const was = segmentAt(tell(inputs, rows), s)?.status;
      return !isDown(segmentAt(tell(quarantined, rows), s)?.status) || isDown(was);
    }),
  ),
  holds(
    'a vote that runs out makes no DOWN: one begins with a result or a change of the inputs only',
    fc.property(life, ({ inputs, rows }) => {
      const begins = new Set<number>([
        ...rows.map(({ eUs }) => eUs),
        ...[...inputs.assignments, ...inputs.quarantines, ...inputs.pauses].flatMap(({ fromUs, toUs }) => [
          fromUs,
          toUs ?? fromUs,
        ]),
        ...inputs.configurations.map(({ fromUs }) => fromUs),
        ...inputs.assignments.flatMap(({ countsByUs }) => (countsByUs === undefined ? [] : [countsByUs])),
      ]);
      // Beside a single probe the fallback is heard from where the vote of the probe ends.
      const isFallback = ({ evidence }: Segment): boolean => evidence.voters.every(({ voter }) => voter === 0);
      return tell(inputs, rows).every(
        (segment, index, all) =>
          !isDown(segment.status) ||
          isDown(all[index - 1]?.status) ||
          begins.has(segment.fromUs) ||
          isFallback(segment),
      );
    }),
  ),
  holds(
    'the quorum is of the seats, whoever is present',
    fc.property(life, fc.integer({ min: 0, max: 4 }), (anyLife, silent) => {
      const { rows } = anyLife;
      const inputs = withoutJoining(anyLife.inputs);
      const present = tell(inputs, rows);
      const absent = tell(
        inputs,
        rows.filter(({ voter }) => voter !== silent),
      );
      return present.every(({ fromUs, evidence }) => {
        const other = absent.find((segment) => segment.fromUs <= fromUs && fromUs < segment.toUs);
        // A segment has the evidence of its opening: only those that open at one instant can be compared.
        return other === undefined || other.fromUs !== fromUs || other.evidence.quorum === evidence.quorum;
      });
    }),
  ),
  holds(
    'DOWN rests on a quorum of voters with a fresh failure, in two regions where the seats lie in two',
    fc.property(life, ({ inputs, rows }) =>
      tell(inputs, rows).every(({ status, fromUs, evidence }) => {
        if (!isDown(status)) return true;
        const failing = evidence.voters.filter(({ vote }) => isDown(vote));
        const hasFailed = (voter: number): boolean =>
          rows.some(
            (row) =>
              row.voter === voter && isFailure(row) && row.eUs <= fromUs && fromUs < row.eUs + row.freshS * 1_000_000,
          );
        const open = inputs.assignments.filter(
          (row) => row.fromUs <= fromUs && (row.toUs === null || fromUs < row.toUs),
        );
        const regionsOf = (list: readonly { readonly voter: number; readonly region: string }[]): number =>
          new Set(list.map(({ region }) => region)).size;
        // Seats that join others are not asked for here until their time has come: whether they count is another statement.
        const seatRegions = regionsOf(
          open.filter(({ supplement, countsByUs }) => !supplement && (countsByUs ?? fromUs) <= fromUs),
        );
        const failingRegions = regionsOf(
          failing.map(({ voter }) => ({ voter, region: open.find((row) => row.voter === voter)?.region ?? 'central' })),
        );
        return (
          failing.length >= evidence.quorum &&
          failing.every(({ voter }) => hasFailed(voter)) &&
          failingRegions >= Math.min(2, evidence.quorum, seatRegions)
        );
      }),
    ),
  ),
  holds(
    'a seat that joins others changes nothing before its first vote or its time',
    fc.property(life, second, fc.integer({ min: 0, max: 300 }), bad, ({ inputs, rows }, fromS, joinsForS, outcome) => {
      const others = inputs.assignments.filter(({ supplement }) => !supplement);
      const isBeside = others.some((row) => row.fromUs < at(fromS) && (row.toUs === null || row.toUs > at(fromS)));
      const closings = others.flatMap(({ toUs }) => (toUs === null || toUs < at(fromS) ? [] : [toUs]));
      const countsByUs = at(fromS + joinsForS);
      const joined = { voter: 9, region: 'sa', fromUs: at(fromS), toUs: null, supplement: false, countsByUs };
      const more = { ...inputs, assignments: [...inputs.assignments, joined] };
      const untilUs = Math.min(countsByUs, ...closings, at(overS));
      if (!isBeside || untilUs <= at(0)) return true;
      const before = (given: MonitorInputs, results: readonly StoredResult[]): string =>
        told(timeline(given, results, at(0), untilUs).segments);
      // One failure is no vote yet where more must confirm it, and a manual or skipped result never is.
      const asked = result(9, fromS + 1, outcome, { kind: 'manual' });
      return before(more, rows) === before(inputs, rows) && before(more, [...rows, asked]) === before(inputs, rows);
    }),
  ),
  holds(
    'an outage that everybody sees is one, whoever joins while it lasts',
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ fromS: fc.integer({ min: 20, max: 200 }), afterS: fc.integer({ min: 0, max: 60 }) }), {
        minLength: 1,
        maxLength: 3,
      }),
      bad,
      (n, joiners, outcome) => {
        const joined = joiners.map(({ fromS }, index) => ({
          voter: 10 + index,
          region: `r${index}`,
          fromUs: at(fromS),
          toUs: null,
          supplement: false,
          countsByUs: at(fromS + 70),
        }));
        const inputs = inputsOf({ assignments: [...seats(...farApart.slice(0, n)), ...joined] });
        const failing = (voter: number, fromS: number): StoredResult[] =>
          [0, 5, 60, 120, 180, 240].map((s) => result(voter, fromS + s, outcome));
        const rows = [
          ...farApart.slice(0, n).flatMap((_, index) => failing(index + 1, index)),
          ...joiners.flatMap(({ fromS, afterS }, index) => failing(10 + index, fromS + afterS)),
        ];
        const { segments } = timeline(inputs, rows, at(10), at(240));
        return segments.length === 1 && isDown(segments[0]?.status);
      },
    ),
  ),
  holds(
    'a seat that goes from one probe to another leaves the quorum as it is',
    fc.property(rounds(4, anything), second, fc.integer({ min: 1, max: 4 }), (list, s, voter) => {
      const heir = { voter: 9, region: 'sa', fromUs: at(s), toUs: null, supplement: false, countsByUs: at(s + 70) };
      const handed = four.map((row) => (row.voter === voter ? { ...row, toUs: at(s) } : row));
      const inputs = inputsOf({ assignments: [...handed, heir] });
      return tell(inputs, toRows(list)).every(({ evidence }) => evidence.quorum === 3);
    }),
  ),
  holds(
    'failures of one region alone are PARTIAL where the seats lie in two',
    fc.property(fc.integer({ min: 2, max: 4 }), fc.integer({ min: 1, max: 2 }), bad, (near, far, outcome) => {
      const regions = [...Array.from({ length: near }, () => 'eu'), ...Array.from({ length: far }, () => 'us')];
      const list = regions.map((region) => (region === 'eu' ? outcome : 'ok'));
      return statusOf(list, 'majority', regions) === 'PARTIAL';
    }),
  ),
  holds(
    'four probes, two up and two down, do not flap',
    fc.property(
      fc.integer({ min: 3, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 4, maxLength: 4 }),
      (n, offsets) => {
        const rows = offsets.flatMap((offset, index) =>
          Array.from({ length: n }, (_, round) => result(index + 1, round * 60 + offset, index < 2 ? 'ok' : 'fail')),
        );
        const { segments } = timeline(inputsOf({ assignments: four }), rows, at(60), at(n * 60));
        return segments.length === 1 && segments[0]?.status === 'PARTIAL';
      },
    ),
  ),
  holds(
    'turning a vote from UP to DOWN never improves the status',
    fc.property(votes, fc.nat({ max: 4 }), policies, (list, turned, policy) => {
      const turn = (outcome: Outcome) => list.map((vote, index) => (index === turned % list.length ? outcome : vote));
      return badness[statusOf(turn('fail'), policy)] >= badness[statusOf(turn('ok'), policy)];
    }),
  ),
  holds(
    'all ok gives only UP and UNKNOWN',
    fc.property(rounds(3, fc.constantFrom<Outcome | null>('ok', 'ok', 'skipped', null)), (list) =>
      [...statusesOf(tell(inputsOf(), toRows(list)))].every((status) => status === 'UP' || status === 'UNKNOWN'),
    ),
  ),
  holds(
    'all failing gives DOWN throughout',
    fc.property(fc.integer({ min: 2, max: 10 }), bad, (n, outcome) => {
      const failing = toRows(Array.from({ length: n }, (): Outcome[] => [outcome, outcome, outcome]));
      const { segments } = timeline(inputsOf(), failing, at(6), at((n - 1) * 60 + 7));
      return segments.length === 1 && isDown(segments[0]?.status);
    }),
  ),
  holds(
    'while nobody fails, DEGRADED is said by half of the voters, and a warning shows where fewer are slow',
    fc.property(fc.array(good, { minLength: 1, maxLength: 5 }), (list) => {
      const slow = list.filter((vote) => vote === 'slow').length;
      const wanted = slow * 2 >= list.length ? 'DEGRADED' : list.includes('warn') ? 'WARNING' : 'UP';
      return statusOf(list) === wanted;
    }),
  ),
  holds(
    'an outage is TIMEOUT when more than half of those that fail timed out, else DOWN',
    fc.property(fc.array(bad, { minLength: 2, maxLength: 5 }), (list) => {
      const timedOut = list.filter((vote) => vote === 'timeout').length;
      return statusOf(list) === (timedOut * 2 > list.length ? 'TIMEOUT' : 'DOWN');
    }),
  ),
  holds(
    'a supplement votes and leaves the quorum as it is',
    fc.property(rounds(3, anything), anything, policies, (list, extra, policy) => {
      const inputs = inputsOf({ configurations: rulesOf(1, policy) });
      const supplement = { voter: 9, region: 'sa', fromUs: at(0), toUs: null, supplement: true };
      const more = { ...inputs, assignments: [...inputs.assignments, supplement] };
      const rows = toRows(list);
      const spoken = extra === null ? rows : [...rows, result(9, 1, extra)];
      const quorums = [...tell(inputs, rows), ...tell(more, spoken)].map(({ evidence }) => evidence.quorum);
      const isSame = new Set(quorums.filter((quorum) => quorum > 0)).size <= 1;
      return isSame && told(tell(more, rows)) === told(tell(inputs, rows));
    }),
  ),
  holds(
    'a quarantined probe is as an absent one, and its seat still counts',
    fc.property(rounds(3, anything), liarAt, (list, voter) => {
      const rows = toRows(list);
      const quarantined = inputsOf({ quarantines: [{ voter, fromUs: at(0), toUs: null }] });
      const without = rows.filter((row) => row.voter !== voter);
      return told(tell(quarantined, rows)) === told(tell(inputsOf(), without));
    }),
  ),
  holds(
    'beside a single probe the fallback counts only while the probe has no vote',
    fc.property(rounds(1, anything), rounds(1, anything), (own, fallback) => {
      const inputs = inputsOf({ assignments: seats('eu') });
      const rows = toRows(own);
      const central: StoredResult[] = toRows(fallback).map((row) => ({ ...row, voter: 0, eUs: row.eUs + 20_000_000 }));
      const { segments, perVoter } = timeline(inputs, [...rows, ...central], at(0), at(overS));
      const starts = [...segments, ...(perVoter.get(0) ?? []), ...(perVoter.get(1) ?? [])].map(({ fromUs }) => fromUs);
      const statusAt = (list: readonly Segment[] | undefined, t: number): Status =>
        list?.find(({ fromUs, toUs }) => fromUs <= t && t < toUs)?.status ?? 'UNKNOWN';
      return starts.every((t) => {
        const said = statusAt(perVoter.get(1), t);
        return statusAt(segments, t) === (said === 'UNKNOWN' ? statusAt(perVoter.get(0), t) : said);
      });
    }),
  ),
];
