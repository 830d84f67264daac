import t from 'tap';
import type { PlannedChange } from '../runner/plan.ts';
import { anAssignment } from '../testing/control-plane.ts';
import { placesOf, Shares, workerOf } from './share.ts';

const change = (urls: Readonly<Record<number, string>>, removed: readonly number[] = []): PlannedChange => ({
  set: Object.entries(urls).map(([id, url]) => ({
    assignment: anAssignment({ monitorId: Number(id), url }),
    first: 'at_once',
  })),
  removed,
  isPresumedGood: true,
});

const idsOf = (part: PlannedChange | undefined): readonly number[] | undefined =>
  part?.set.map(({ assignment }) => assignment.monitorId);

t.test('a host has one worker, however its targets are written, and hosts are spread evenly', async (t) => {
  const forms = ['https://example.org/a', 'http://user@EXAMPLE.org:8080/b?c', 'example.org:25', 'tcp://example.org:1'];
  for (const count of [1, 2, 3, 7]) t.equal(new Set(forms.map((url) => workerOf(url, count))).size, 1);
  const counts = [0, 0, 0, 0];
  for (let index = 0; index < 4_000; index += 1) {
    const worker = workerOf(`https://host-${index}.example.org/`, 4);
    counts[worker] = (counts[worker] ?? 0) + 1;
  }
  t.ok(Math.max(...counts) < 1_150 && Math.min(...counts) > 850, counts.join(', '));
});

t.test('all places are given out', async (t) => {
  t.strictSame(placesOf(10, 3), [4, 3, 3]);
  t.strictSame(placesOf(2, 2), [1, 1]);
});

t.test('each worker gets its part of a change, and who moves is removed from where it was', async (t) => {
  const urls = Array.from({ length: 50 }, (_, index) => `http://h${index}.test/`);
  const [first = '', second = ''] = [0, 1].map((worker) => urls.find((url) => workerOf(url, 2) === worker));
  const shares = new Shares(2);
  const begun = shares.divide(change({ 1: first, 2: second, 3: first }));
  t.strictSame([idsOf(begun.get(0)), idsOf(begun.get(1))], [[1, 3], [2]]);
  t.strictSame([shares.of(1), shares.of(2), shares.of(4)], [0, 1, undefined]);
  const moved = shares.divide(change({ 1: second }));
  t.strictSame([moved.get(0)?.removed, idsOf(moved.get(0)), idsOf(moved.get(1))], [[1], [], [1]]);
  t.match(moved.get(1), { removed: [], isPresumedGood: true, set: [{ first: 'at_once' }] });
  const removed = shares.divide(change({}, [1, 3, 9]));
  t.strictSame([removed.get(0)?.removed, removed.get(1)?.removed], [[3], [1]]);
  t.equal(shares.of(1), undefined);
  const stays = shares.divide(change({ 2: second }));
  t.strictSame([...stays.keys()], [1], 'a worker that is not concerned hears nothing');
});
