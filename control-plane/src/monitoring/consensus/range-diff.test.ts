import t from 'tap';
import { editsBetween, reaching, wantedRanges } from './range-diff.ts';
import type { WantedRange } from './range-diff.ts';
import type { RangeEvidence, RangeRun, RangeStatus, StoredRange } from './types.ts';

const why = (rule: RangeEvidence['rule'] = 'answered'): RangeEvidence => ({ rule, quorum: 2, voters: [], missing: [] });
const stored = (startedUs: number, endedUs: number | null, status: RangeStatus = 'UP'): StoredRange => ({
  voter: null,
  startedUs,
  endedUs,
  status,
});
const wanted = (startedUs: number, endedUs: number | null, status: RangeStatus = 'UP'): WantedRange => ({
  startedUs,
  endedUs,
  status,
  evidence: why(),
});
const run = (fromUs: number, toUs: number, status: RangeStatus = 'UP'): RangeRun => ({
  fromUs,
  toUs,
  status,
  evidence: why(),
});

type Options = { isLate?: boolean; toldUntilUs?: number; floorUs?: number };
const edits = (
  before: readonly StoredRange[],
  after: readonly WantedRange[],
  { isLate = false, toldUntilUs = 1_000, floorUs = 0 }: Options = {},
) => editsBetween(7, null, before, after, isLate, toldUntilUs, floorUs);
const key = { monitorId: 7, voter: null };

t.test('what reaches a time is open, or ended then or later', async (t) => {
  const list = [stored(0, 9), stored(9, 10), stored(10, 20), stored(20, null)];
  t.same(reaching(list, 10), list.slice(1));
  t.equal(reaching(list, 9), list, 'the same array when it is all of them');
});

t.test('runs are wanted as they are, the one that lasts open', async (t) => {
  t.same(wantedRanges([], [run(0, 10), run(10, 20, 'DOWN')], 0, 20, 0), [wanted(0, 10), wanted(10, null, 'DOWN')]);
  t.same(wantedRanges([], [run(0, 19)], 0, 20, 0), [wanted(0, 19)]);
});

t.test('a stored range keeps its beginning from before the runs', async (t) => {
  t.same(wantedRanges([stored(-5, null)], [run(10, 20)], 10, 20, -100), [wanted(-5, null)], 'and goes on');
  const ended = { ...wanted(-5, 10), evidence: { rule: 'no_votes', quorum: 0, voters: [], missing: [] } };
  t.same(
    wantedRanges([stored(-5, null)], [run(10, 20, 'DOWN')], 10, 20, -100),
    [ended, wanted(10, null, 'DOWN')],
    'or ends with another status',
  );
  t.same(wantedRanges([stored(-5, null)], [run(12, 20)], 10, 20, -100), [ended, wanted(12, null)], 'or with a gap');
  t.same(wantedRanges([stored(-5, null)], [], 10, 20, -100), [ended]);
  t.same(wantedRanges([stored(-5, 10)], [run(10, 20)], 10, 20, -100), [wanted(-5, null)], 'also one that ended there');
  t.same(wantedRanges([stored(-5, 9)], [run(10, 20)], 10, 20, -100), [wanted(10, null)], 'not one that ended before');
  t.same(wantedRanges([stored(10, null)], [run(10, 20, 'DOWN')], 10, 20, -100), [wanted(10, null, 'DOWN')]);
  t.same(wantedRanges([stored(-5, null)], [run(10, 20)], 10, 20, 10), [wanted(10, null)], 'nor one that is void');
  t.same(wantedRanges([stored(-5, null)], [run(10, 20)], 10, 20, 9), [wanted(-5, null)]);
});

t.test('equal ranges need no edit', async (t) => {
  t.same(edits([stored(0, 10), stored(10, null, 'DOWN')], [wanted(0, 10), wanted(10, null, 'DOWN')]), []);
});

t.test('a range of equal start is the same one, whatever else of it is another', async (t) => {
  t.same(edits([stored(0, null)], [wanted(0, 10), wanted(10, null, 'DOWN')]), [
    { ...key, op: 'update', startedUs: 0, endedUs: 10, revised: false },
    { ...key, op: 'insert', ...wanted(10, null, 'DOWN'), revised: false },
  ]);
  t.same(edits([stored(0, null)], [wanted(0, null, 'DOWN')]), [
    { ...key, op: 'update', startedUs: 0, endedUs: null, status: 'DOWN', evidence: why(), revised: false },
  ]);
});

t.test('a range of equal status that overlaps is the same one with another start', async (t) => {
  t.same(edits([stored(5, 20)], [wanted(0, 15)]), [
    { ...key, op: 'update', startedUs: 5, newStartedUs: 0, endedUs: 15, revised: false },
  ]);
  t.same(edits([stored(5, null)], [wanted(9, null)]), [
    { ...key, op: 'update', startedUs: 5, newStartedUs: 9, endedUs: null, revised: false },
  ]);
  const replaced = (from: StoredRange, to: WantedRange, options: Options = {}) => {
    t.same(edits([from], [to], options), [
      { ...key, op: 'delete', startedUs: from.startedUs },
      { ...key, op: 'insert', ...to, revised: false },
    ]);
  };
  replaced(stored(0, 10), wanted(10, 20));
  replaced(stored(10, 20), wanted(0, 10));
  replaced(stored(0, 10), wanted(15, 20));
  replaced(stored(15, 20), wanted(0, 10));
  replaced(stored(0, 10), wanted(5, 15, 'DOWN'));
  replaced(stored(5, 20), wanted(6, 15), { floorUs: 6 });
  t.match(edits([stored(5, 20)], [wanted(6, 15)], { floorUs: 5 }), [{ op: 'update' }]);
});

t.test('of several that overlap the first is taken, and every one once', async (t) => {
  t.same(edits([stored(0, 10), stored(12, 20)], [wanted(5, 15)]), [
    { ...key, op: 'delete', startedUs: 12 },
    { ...key, op: 'update', startedUs: 0, newStartedUs: 5, endedUs: 15, revised: false },
  ]);
  t.same(edits([stored(0, 10), stored(12, 20)], [wanted(5, 14), wanted(16, 30)]), [
    { ...key, op: 'update', startedUs: 0, newStartedUs: 5, endedUs: 14, revised: false },
    { ...key, op: 'update', startedUs: 12, newStartedUs: 16, endedUs: 30, revised: false },
  ]);
  t.same(edits([stored(0, 30)], [wanted(1, 10), wanted(12, 20)]), [
    { ...key, op: 'update', startedUs: 0, newStartedUs: 1, endedUs: 10, revised: false },
    { ...key, op: 'insert', ...wanted(12, 20), revised: false },
  ]);
});

t.test('what goes or closes comes before what opens', async (t) => {
  const list = edits(
    [stored(0, null), stored(-30, -20), stored(-10, -5, 'DOWN')],
    [wanted(-40, -35), wanted(-10, -4, 'DOWN'), wanted(0, 10), wanted(20, null)],
  );
  t.same(
    list.map(({ op, startedUs }) => [op, startedUs]),
    [
      ['delete', -30],
      ['update', 0],
      ['update', -10],
      ['insert', -40],
      ['insert', 20],
    ],
  );
  t.same(
    edits([stored(0, 10)], [wanted(0, null)]).map(({ op }) => op),
    ['update'],
  );
});

t.test('what a late result changes of the past is a revision', async (t) => {
  const revised = (before: readonly StoredRange[], after: readonly WantedRange[], options: Options = {}) =>
    edits(before, after, { isLate: true, ...options }).map((edit) => edit.op !== 'delete' && edit.revised);
  t.same(revised([stored(0, null)], [wanted(0, 10)]), [false], 'the end of the last range is no past');
  t.same(revised([stored(0, 20)], [wanted(0, 10)]), [true]);
  t.same(revised([stored(0, 20)], [wanted(0, null)]), [true]);
  t.same(revised([stored(0, null)], [wanted(0, null, 'DOWN')]), [true]);
  t.same(revised([stored(5, null)], [wanted(0, null)]), [true]);
  t.same(revised([], [wanted(999, null)]), [true]);
  t.same(revised([], [wanted(1_000, null)]), [false], 'nothing was told of it yet');
  t.same(revised([stored(0, 20)], [wanted(0, 10)], { isLate: false }), [false]);
  t.same(revised([], [wanted(999, null)], { isLate: false }), [false]);
});
