import t from 'tap';
import { PreparedInputs } from './prepared-inputs.ts';
import { ownRunsOf, runsOf, sweep } from './sweep.ts';
import { at, inputsOf } from './test-support.ts';
import type { Piece, RangeEvidence, Segment, Status, Vote } from './types.ts';

const piece = (fromS: number, toS: number, vote: Vote, sinceS = fromS, error = 0): Piece => ({
  fromUs: at(fromS),
  toUs: at(toS),
  vote,
  sinceUs: at(sinceS),
  error,
});
const own = (vote: Vote, sinceS: number, error = 0): RangeEvidence => ({
  rule: 'own_votes',
  quorum: 0,
  voters: [{ voter: 4, vote, sinceUs: at(sinceS), error }],
  missing: [],
});
const runs = (pieces: readonly Piece[], fromS: number, toS: number) =>
  ownRunsOf({ voter: 4, pieces }, at(fromS), at(toS));

t.test('the ranges of a voter say since when and why it votes so', async (t) => {
  t.same(runs([piece(10, 20, 'DOWN', 3, 12), piece(30, 40, 'UP')], 0, 100), [
    { fromUs: at(10), toUs: at(20), status: 'DOWN', evidence: own('DOWN', 3, 12) },
    { fromUs: at(30), toUs: at(40), status: 'UP', evidence: own('UP', 30) },
  ]);
});

t.test('they are cut to the window, and none of them is empty', async (t) => {
  const pieces = [piece(0, 10, 'UP'), piece(10, 20, 'TIMEOUT'), piece(20, 30, 'UP')];
  t.same(runs(pieces, 10, 20), [{ fromUs: at(10), toUs: at(20), status: 'TIMEOUT', evidence: own('TIMEOUT', 10) }]);
  t.same(
    runs(pieces, 5, 25).map(({ fromUs, toUs }) => [fromUs, toUs]),
    [
      [at(5), at(10)],
      [at(10), at(20)],
      [at(20), at(25)],
    ],
  );
});

t.test('neighbours of one range status are one, with the evidence of the first', async (t) => {
  t.same(runs([piece(0, 10, 'WARNING', 0, 1), piece(10, 20, 'DEGRADED', 10, 2)], 0, 100), [
    { fromUs: at(0), toUs: at(20), status: 'DEGRADED', evidence: own('WARNING', 0, 1) },
  ]);
  t.equal(runs([piece(0, 10, 'UP'), piece(11, 20, 'UP')], 0, 100).length, 2, 'not over a gap');
  t.equal(runs([piece(0, 10, 'UP'), piece(10, 20, 'DOWN')], 0, 100).length, 2);
});

t.test('segments become ranges: UNKNOWN a gap, the three kinds of DEGRADED one', async (t) => {
  const evidence = own('UP', 0);
  const segment = (fromS: number, toS: number, status: Status): Segment => ({
    fromUs: at(fromS),
    toUs: at(toS),
    status,
    evidence,
  });
  const list = [
    segment(0, 10, 'PARTIAL'),
    segment(10, 20, 'WARNING'),
    segment(20, 30, 'DEGRADED'),
    segment(30, 40, 'UNKNOWN'),
    segment(40, 50, 'DEGRADED'),
    segment(50, 60, 'UP'),
  ];
  t.same(runsOf(list), [
    { fromUs: at(0), toUs: at(30), status: 'DEGRADED', evidence },
    { fromUs: at(40), toUs: at(50), status: 'DEGRADED', evidence },
    { fromUs: at(50), toUs: at(60), status: 'UP', evidence },
  ]);
});

t.test('segments partition the window, also where votes and inputs change at its ends', async (t) => {
  const inputs = new PreparedInputs(inputsOf({ pauses: [{ fromUs: at(30), toUs: at(40) }] }));
  const voters = [1, 2, 3].map((voter) => ({ voter, pieces: [piece(0, 10, 'UP'), piece(10, 40, 'DEGRADED')] }));
  const told = (fromS: number, toS: number) =>
    sweep(inputs, voters, at(fromS), at(toS)).map(({ fromUs, toUs, status }) => [
      (fromUs - at(0)) / 1_000_000,
      (toUs - at(0)) / 1_000_000,
      status,
    ]);
  t.same(told(0, 10), [[0, 10, 'UP']]);
  t.same(told(10, 30), [[10, 30, 'DEGRADED']]);
  t.same(told(5, 45), [
    [5, 10, 'UP'],
    [10, 30, 'DEGRADED'],
    [30, 45, 'UNKNOWN'],
  ]);
});
