import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { cursorKey, trim } from './trim.ts';
import type { Cursors } from './trim.ts';

const place = (firstSeq: number, lastSeq: number, epoch = 1) => ({ probeId: 1, epoch, firstSeq, lastSeq });

t.test('an epoch that was never seen begins at 1', async (t) => {
  t.same(trim(new Map(), place(1, 5)), { type: 'take', skip: 0 });
  t.same(trim(new Map(), place(2, 5)), { type: 'gap', resendFrom: 1 });
});

t.test('what is committed is a duplicate, what overlaps is cut, what is missing is asked for', async (t) => {
  const cursors: Cursors = new Map([[cursorKey(place(1, 1)), 10]]);
  t.same(trim(cursors, place(1, 10)), { type: 'duplicate' });
  t.same(trim(cursors, place(8, 12)), { type: 'take', skip: 3 });
  t.same(trim(cursors, place(11, 12)), { type: 'take', skip: 0 });
  t.same(trim(cursors, place(12, 12)), { type: 'gap', resendFrom: 11 });
  t.same(trim(cursors, place(12, 12, 2)), { type: 'gap', resendFrom: 1 }, 'another epoch has a cursor of its own');
});

t.test(
  'whatever is delivered, each sequence number is taken at most once and in order; resending what is asked for takes all',
  async () => {
    const deliveries = fc.array(
      fc.record({ first: fc.integer({ min: 1, max: 60 }), length: fc.integer({ min: 1, max: 20 }) }),
    );
    fc.assert(
      fc.property(deliveries, (batches) => {
        const cursors: Cursors = new Map();
        const taken: number[] = [];
        const deliver = (firstSeq: number, lastSeq: number) => {
          const trimmed = trim(cursors, place(firstSeq, lastSeq));
          if (trimmed.type === 'take') {
            for (let seq = firstSeq + trimmed.skip; seq <= lastSeq; seq += 1) taken.push(seq);
            cursors.set(cursorKey(place(1, 1)), lastSeq);
          }
          return trimmed;
        };
        for (const { first, length } of batches) deliver(first, first + length - 1);
        const missing = deliver(1_000, 1_000);
        if (missing.type === 'gap') deliver(missing.resendFrom, 1_000);
        return taken.length === 1_000 && taken.every((seq, index) => seq === index + 1);
      }),
      { numRuns: 500 },
    );
  },
);
