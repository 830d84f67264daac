import fc from 'fast-check';
import t from 'tap';
import { announcementsOf, mergedOf } from './announcements.ts';
import type { Announcement, Edge, Window } from './announcements.ts';
import { change, release, well } from './hold.ts';

/** The same change by change, as the consumer and the job do it. */
function stepByStep(edges: readonly Edge[], windows: readonly Window[]): Announcement[] {
  const merged = mergedOf(windows);
  const events = [
    ...merged.map(({ toMs }) => ({ atMs: toMs, kind: 'release' as const, to: 'up' as const })),
    ...edges.map(({ atMs, to }) => ({ atMs, kind: 'edge' as const, to })),
  ].sort((one, other) => one.atMs - other.atMs);
  const told: Announcement[] = [];
  let state = well;
  for (const { atMs, kind, to } of events) {
    const isHeld = merged.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    const step = kind === 'release' ? release(state) : change(state, to, atMs, isHeld);
    ({ state } = step);
    if (step.tell !== null) told.push({ atMs, kind: step.tell });
  }
  return told;
}

const edgesOf = fc
  .uniqueArray(fc.integer({ min: 0, max: 200 }), { maxLength: 14 })
  .chain((times) =>
    fc.tuple(
      fc.constant(times.toSorted((one, other) => one - other)),
      fc.array(fc.constantFrom('up' as const, 'down' as const), { minLength: times.length, maxLength: times.length }),
    ),
  )
  .map(([times, conditions]) => times.map((atMs, index): Edge => ({ atMs, to: conditions[index] ?? 'up' })));
const windowsOf = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 60 }))
    .map(([fromMs, length]): Window => ({ fromMs, toMs: fromMs + length })),
  { maxLength: 4 },
);

void t.test('what is told change by change is what the definition says', (t) => {
  fc.assert(
    fc.property(edgesOf, windowsOf, (edges, windows) => {
      t.same(stepByStep(edges, windows), announcementsOf(edges, windows));
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

void t.test('nothing is told inside a window, nothing twice, and at the end what was told is so', (t) => {
  fc.assert(
    fc.property(edgesOf, windowsOf, (edges, windows) => {
      const told = announcementsOf(edges, windows);
      const merged = mergedOf(windows);
      const inside = (ms: number) => merged.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
      let condition = 'up';
      for (const { atMs, kind } of told) {
        if (inside(atMs)) return false;
        // An outage that nobody heard of may be cleared; one that was told is not told again.
        if (kind !== 'all_clear' && kind === condition) return false;
        condition = kind === 'down' ? 'down' : 'up';
      }
      const lastEnd = Math.max(...merged.map(({ toMs }) => toMs), ...edges.map(({ atMs }) => atMs), 0);
      return edges.length === 0 || lastEnd < 0 || condition === (edges.at(-1)?.to ?? 'up');
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

void t.test('windows without an outage tell nothing, and without windows every change is told', (t) => {
  fc.assert(
    fc.property(edgesOf, windowsOf, (edges, windows) => {
      t.same(announcementsOf([], windows), []);
      const plain = announcementsOf(edges, []);
      t.ok(plain.every(({ kind }) => kind !== 'all_clear'));
      t.equal(plain.length, edges.filter((edge, index) => (edges[index - 1]?.to ?? 'up') !== edge.to).length);
    }),
  );
  t.end();
});

void t.test('the cases by hand', async (t) => {
  const window = [{ fromMs: 10, toMs: 20 }];
  const told = (...edges: Edge[]) => announcementsOf(edges, window);
  t.same(told({ atMs: 12, to: 'down' }), [{ atMs: 20, kind: 'down' }], 'begins inside and lasts');
  t.same(
    told({ atMs: 12, to: 'down' }, { atMs: 15, to: 'up' }, { atMs: 16, to: 'down' }, { atMs: 18, to: 'up' }),
    [{ atMs: 20, kind: 'all_clear' }],
    'two outages inside are one all-clear',
  );
  t.same(
    told({ atMs: 5, to: 'down' }, { atMs: 15, to: 'up' }),
    [
      { atMs: 5, kind: 'down' },
      { atMs: 20, kind: 'all_clear' },
    ],
    'one that was told before ends inside',
  );
  t.same(
    told({ atMs: 5, to: 'down' }, { atMs: 15, to: 'up' }, { atMs: 16, to: 'down' }, { atMs: 30, to: 'up' }),
    [
      { atMs: 5, kind: 'down' },
      { atMs: 30, kind: 'up' },
    ],
    'down before and after is told once',
  );
  t.same(told({ atMs: 10, to: 'down' }), [{ atMs: 20, kind: 'down' }], 'the start belongs to the window');
  t.same(told({ atMs: 20, to: 'down' }), [{ atMs: 20, kind: 'down' }], 'the end does not');
  t.same(
    announcementsOf([{ atMs: 15, to: 'down' }], [...window, { fromMs: 18, toMs: 40 }, { fromMs: 40, toMs: 50 }]),
    [{ atMs: 50, kind: 'down' }],
    'windows that overlap or touch are one',
  );
});
