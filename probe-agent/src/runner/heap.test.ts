import assert from 'node:assert/strict';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { Heap, heapNode } from './heap.ts';

const places = 200;
/** Without -0, which assertions tell from 0. */
const anyKey = fc.double({ min: -1e12, max: 1e15, noNaN: true }).map((key) => key + 0);
const step = fc.oneof(
  fc.record({ place: fc.nat(places - 1), key: anyKey }),
  fc.record({ place: fc.nat(places - 1), key: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ place: fc.nat(places - 1), key: fc.constant(undefined) }),
);

void t.test('the top has the least key, whatever is put in, moved and taken out', async () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
      const heap = new Heap<number>();
      const nodes = Array.from({ length: places }, (_, place) => heapNode(place));
      const present = new Map<number, number>();
      for (const { place, key } of steps) {
        const node = nodes[place];
        assert.ok(node);
        if (key === undefined) {
          heap.delete(node);
          present.delete(place);
          assert.equal(node.index, -1);
        } else {
          heap.set(node, key);
          present.set(place, key);
        }
        assert.equal(heap.size, present.size);
        assert.equal(heap.top?.key, present.size === 0 ? undefined : Math.min(...present.values()));
      }
      const drained: number[] = [];
      for (let top = heap.top; top !== undefined; top = heap.top) {
        assert.equal(top.key, present.get(top.value));
        drained.push(top.key);
        heap.delete(top);
      }
      assert.deepEqual(
        drained,
        [...present.values()].sort((a, b) => a - b),
      );
    }),
    { numRuns: 300 },
  );
});
