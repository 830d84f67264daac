import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { RangeEdit } from '../../consensus/index.ts';
import { layersOf } from '../../status-ranges/write-edits.ts';
import { acknowledgements, wishesByProbe } from './answer.ts';
import { cleanEvidence, cleanMessage } from './clean-evidence.ts';
import { createExpiryHeap } from '../../../platform/heap/expiry-heap.ts';

const edit = (monitorId: number, voter: number | null, startedUs: number): RangeEdit => ({
  monitorId,
  voter,
  op: 'delete',
  startedUs,
});

t.test('the heap gives what is due in order of time, and skips what is outdated', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 1_000 }), fc.boolean())),
      fc.integer({ min: 0, max: 1_000 }),
      (items, nowUs) => {
        const heap = createExpiryHeap<{ at: number; isCurrent: boolean }>();
        for (const [at, isCurrent] of items) heap.push(at, { at, isCurrent });
        const popped: number[] = [];
        for (;;) {
          const item = heap.popDue(nowUs, (_, { isCurrent }) => isCurrent);
          if (item === undefined) break;
          popped.push(item.at);
        }
        const expected = items.filter(([at, isCurrent]) => isCurrent && at <= nowUs).map(([at]) => at);
        expected.sort((a, b) => a - b);
        return popped.join() === expected.join() && heap.nextUs() > nowUs;
      },
    ),
  );
});

t.test('whatever a probe calls evidence becomes JSON that the database takes', async () => {
  const json = fc.oneof(
    fc.json(),
    fc.string(),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify({ [text]: text })),
  );
  fc.assert(
    fc.property(json, (text) => {
      const clean = cleanEvidence(text);
      JSON.parse(clean);
      return !clean.includes('\\u0000') && !/\\ud[89a-f]/i.test(clean);
    }),
  );
  t.equal(cleanEvidence('{"a":{"b":[1,"x",null,true]}}'), '{"a":{"b":[1,"x",null,true]}}');
  t.equal(cleanEvidence('{"a":[[[[[[[1]]]]]]]}'), '{"a":[[[[[null]]]]]}', 'what is nested too deeply is cut');
  t.equal(cleanMessage('a\0\ud800b'), 'a\ufffdb');
});

t.test('edits keep their order within a monitor and voter, and share layers across them', async (t) => {
  const layers = layersOf([edit(1, null, 1), edit(1, null, 2), edit(1, 5, 3), edit(2, null, 4), edit(1, null, 5)]);
  t.same(
    layers.map((layer) => layer.map((one) => one.startedUs)),
    [[1, 3, 4], [2], [5]],
  );
});

t.test('a probe is told the newest position of each epoch, also of what it sent twice', async (t) => {
  const told = acknowledgements({
    moves: new Map([['1:7', { probeId: 1, epoch: 7, from: 3, to: 9 }]]),
    duplicates: [
      { probeId: 1, epoch: 7, seq: 3 },
      { probeId: 2, epoch: 1, seq: 4 },
      { probeId: 3, epoch: 1, seq: 0 },
    ],
  });
  t.same(
    [...told],
    [
      [1, [{ probeId: 1, epoch: 7, seq: 9 }]],
      [2, [{ probeId: 2, epoch: 1, seq: 4 }]],
    ],
  );
});

t.test('wishes for rechecks are gathered by probe, without the control plane itself and without repeats', async (t) => {
  const asked = wishesByProbe([
    { monitorId: 1, voters: [2, 0, 3], reason: 'first_failure' },
    { monitorId: 1, voters: [2], reason: 'while_failing' },
    { monitorId: 4, voters: [2], reason: 'first_good' },
  ]);
  t.same(
    [...asked],
    [
      [2, [1, 4]],
      [3, [1]],
    ],
  );
});
