import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { bundle, digestEveryMs, gatherMs, ownPerMinute } from './bundle.ts';
import type { Waiting } from './bundle.ts';

const waiting = (count: number, dueMs: number, more: Partial<Waiting> = {}): Waiting[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, dueMs, afterQuiet: false, ...more }));
const lately = { own: 0, digestMs: null };

void t.test('five a minute go alone, the rest gathers', async (t) => {
  t.equal(bundle(waiting(5, 0), lately, true, 0).bundles.length, 5);
  const many = bundle(waiting(8, 0), lately, true, 0);
  t.same([many.bundles.length, many.waitUntilMs], [5, gatherMs]);
  const rest = waiting(3, 0);
  t.same(bundle(rest, { own: 5, digestMs: null }, true, gatherMs), {
    bundles: [{ kind: 'digest', ids: [1, 2, 3] }],
    waitUntilMs: null,
  });
  t.equal(bundle(rest, { own: 5, digestMs: 10_000 }, true, gatherMs).waitUntilMs, 10_000 + digestEveryMs);
});

void t.test('what ends quiet hours comes together, unless it is alone', async (t) => {
  const quiet = waiting(3, 0, { afterQuiet: true });
  t.same(bundle(quiet, lately, true, 0).bundles, [{ kind: 'after_quiet', ids: [1, 2, 3] }]);
  t.same(bundle(quiet.slice(0, 1), lately, true, 0).bundles, [{ kind: 'own', ids: [1] }]);
});

void t.test('a service that keeps alarms open gets each', async (t) => {
  t.equal(bundle(waiting(50, 0), lately, false, 0).bundles.length, 50);
});

void t.test(
  'whatever comes whenever, everything is told within a minute, with five of its own and one digest a minute',
  async () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 60 }), (seconds) => {
        let left: Waiting[] = seconds
          .toSorted((a, b) => a - b)
          .map((second, id) => ({ id, dueMs: second * 1_000, afterQuiet: false }));
        const made: { readonly kind: string; readonly atMs: number; readonly ids: readonly number[] }[] = [];
        for (let nowMs = 0; nowMs <= 400_000; nowMs += 500) {
          const due = left.filter(({ dueMs }) => dueMs <= nowMs);
          if (due.length === 0) continue;
          const recent = made.filter(({ atMs }) => atMs > nowMs - 60_000);
          const digests = recent.filter(({ kind }) => kind === 'digest').map(({ atMs }) => atMs);
          const { bundles } = bundle(
            due,
            { own: recent.length - digests.length, digestMs: digests.length === 0 ? null : Math.max(...digests) },
            true,
            nowMs,
          );
          for (const { kind, ids } of bundles) {
            for (const id of ids) {
              const one = left.find((each) => each.id === id);
              if (one === undefined || nowMs - one.dueMs > 61_000) return false;
            }
            made.push({ kind, atMs: nowMs, ids });
          }
          const taken = new Set(bundles.flatMap(({ ids }) => ids));
          left = left.filter(({ id }) => !taken.has(id));
          const minute = made.filter(({ atMs }) => atMs > nowMs - 60_000);
          if (minute.filter(({ kind }) => kind === 'own').length > ownPerMinute + 1) return false;
          if (minute.filter(({ kind }) => kind === 'digest').length > 1) return false;
        }
        return left.length === 0;
      }),
    );
  },
);
