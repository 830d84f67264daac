import t from 'tap';
import type { RangeEdit } from '../consensus/index.ts';
import { layersOf } from './write-edits.ts';

const edit = (monitorId: number, voter: number | null, startedUs: number): RangeEdit => ({
  monitorId,
  voter,
  op: 'delete',
  startedUs,
});
const placesOf = (edits: readonly RangeEdit[]) =>
  layersOf(edits).map((layer) => layer.map(({ startedUs }) => startedUs));

t.test('a third edit of one monitor is in a third layer', async (t) => {
  t.same(placesOf([edit(1, null, 1), edit(1, null, 2), edit(1, null, 3), edit(1, null, 4)]), [[1], [2], [3], [4]]);
});

t.test('a monitor, its voters and the control plane as one of them have sequences of their own', async (t) => {
  t.same(placesOf([edit(1, null, 1), edit(1, 0, 2), edit(1, 2, 3), edit(12, null, 4), edit(1, 2, 5)]), [
    [1, 2, 3, 4],
    [5],
  ]);
});

t.test('what comes later fills the layers from the first one on', async (t) => {
  const edits = [
    edit(1, null, 1),
    edit(1, null, 2),
    edit(1, null, 3),
    edit(2, null, 4),
    edit(2, null, 5),
    edit(2, null, 6),
  ];
  t.same(placesOf(edits), [
    [1, 4],
    [2, 5],
    [3, 6],
  ]);
});

t.test('of nothing there are no layers', async (t) => {
  t.same(layersOf([]), []);
});
