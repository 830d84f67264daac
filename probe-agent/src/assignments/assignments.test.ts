import fc from '@parallax/testkit/fast-check';
import type { Assignment } from '@parallax/wire';
import t from 'tap';
import { anAssignment } from '../testing/control-plane.ts';
import { applyDelta, applySnapshot, assignmentHash } from './apply.ts';
import { AssignmentStore } from './store.ts';
import type { AppliedChange } from './store.ts';

const state = (revision: bigint, assignments: readonly Assignment[]) => ({
  revision,
  byMonitor: new Map(assignments.map((assignment) => [assignment.monitorId, assignment])),
});
const endOf = (revision: bigint, assignments: readonly Assignment[]) => ({
  revision,
  count: assignments.length,
  hash: assignmentHash(assignments),
  privateTargetsBasis: '1:',
});

void t.test('what a workspace may reach replaces what was held, also under the revision that is known', (t) => {
  const [held] = [anAssignment({ monitorId: 1, revision: 4n })];
  const limited = { ...held, privateTargets: { all: false, ranges: [] } };
  const change = applySnapshot(state(4n, [held]), [limited], endOf(4n, [limited]));
  t.match(change, { set: [{ monitorId: 1, privateTargets: { all: false } }] });
  t.match(applySnapshot(state(4n, [limited]), [{ ...limited }], endOf(4n, [limited])), { set: [] });
  t.end();
});

void t.test('the hash is the one of the wire, whatever the order', (t) => {
  const assignments = [anAssignment({ monitorId: 10, revision: 3n }), anAssignment({ monitorId: 2, revision: 1n })];
  t.equal(assignmentHash(assignments).toString('hex'), assignmentHash([...assignments].reverse()).toString('hex'));
  t.equal(assignmentHash([]).toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  t.end();
});

void t.test('a snapshot replaces everything and names only what differs', (t) => {
  const known = state(5n, [
    anAssignment({ monitorId: 1 }),
    anAssignment({ monitorId: 2 }),
    anAssignment({ monitorId: 3 }),
  ]);
  const next = [
    anAssignment({ monitorId: 1 }),
    anAssignment({ monitorId: 2, revision: 8n }),
    anAssignment({ monitorId: 4, revision: 7n }),
  ];
  const change = applySnapshot(known, next, endOf(8n, next));
  t.match(change, { revision: 8n, removed: [3] });
  t.strictSame(typeof change === 'string' ? [] : change.set.map((assignment) => assignment.monitorId), [2, 4]);
  t.end();
});

void t.test('a snapshot that is not what was announced is refused', (t) => {
  const next = [anAssignment({ monitorId: 1 }), anAssignment({ monitorId: 2 })];
  t.match(applySnapshot(state(0n, []), next.slice(1), endOf(8n, next)), /1 assignments, announced were 2/);
  t.match(applySnapshot(state(0n, []), [next[0], next[0]] as Assignment[], endOf(8n, next)), /twice/);
  t.match(applySnapshot(state(0n, []), next, { ...endOf(8n, next), hash: Buffer.alloc(32) }), /hash/);
  t.end();
});

void t.test('a delta that is known does nothing; an old removal does not undo a later assignment', (t) => {
  const known = state(10n, [anAssignment({ monitorId: 1, revision: 10n })]);
  t.equal(applyDelta(known, { changed: [], removed: [{ monitorId: 1, revision: 9n }], revision: 10n }), undefined);
  t.match(applyDelta(known, { changed: [], removed: [{ monitorId: 1, revision: 9n }], revision: 12n }), {
    removed: [],
    set: [],
    revision: 12n,
  });
  const both = {
    changed: [anAssignment({ monitorId: 1, revision: 12n })],
    removed: [{ monitorId: 1, revision: 11n }],
    revision: 12n,
  };
  t.match(applyDelta(known, both), { removed: [], set: [{ monitorId: 1, revision: 12n }] });
  const removedLater = {
    changed: [anAssignment({ monitorId: 1, revision: 11n })],
    removed: [{ monitorId: 1, revision: 12n }],
    revision: 12n,
  };
  t.match(applyDelta(known, removedLater), { removed: [1], set: [] });
  const tooOld = { changed: [anAssignment({ monitorId: 2, revision: 9n })], removed: [], revision: 12n };
  t.strictSame(applyDelta(known, tooOld)?.set, [], 'an entry that was already known, and removed since');
  t.end();
});

void t.test('however deltas are cut and repeated, the end is the same as a snapshot of it', (t) => {
  const entry = fc.record({ monitorId: fc.integer({ min: 1, max: 6 }), open: fc.boolean() });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), fc.array(fc.nat(40), { maxLength: 12 }), (log, cuts) => {
      const store = new AssignmentStore(() => {});
      store.beginSnapshot({ revision: 0n, count: 0 });
      store.endSnapshot(endOf(0n, []));
      const truth = new Map<number, bigint>();
      log.forEach(({ monitorId, open }, index) => {
        if (open) truth.set(monitorId, BigInt(index + 1));
        else truth.delete(monitorId);
      });
      // A sender gives the latest row of each monitor above what the probe knows, and may repeat itself from anywhere.
      for (const upTo of [...cuts.sort((a, b) => a - b), log.length, log.length]) {
        const known = Math.max(0, Number(store.revision) - (upTo % 3));
        const latest = new Map(
          log
            .slice(known, upTo)
            .map(({ monitorId, open }, index) => [monitorId, { open, revision: BigInt(known + index + 1) }]),
        );
        const changed = [...latest]
          .filter(([, row]) => row.open)
          .map(([monitorId, row]) => anAssignment({ monitorId, revision: row.revision }));
        const removed = [...latest]
          .filter(([, row]) => !row.open)
          .map(([monitorId, row]) => ({ monitorId, revision: row.revision }));
        store.applyDelta({ changed, removed, revision: BigInt(Math.min(upTo, log.length)) });
      }
      return (
        store.size === truth.size &&
        [...truth].every(([monitorId, revision]) => store.get(monitorId)?.revision === revision)
      );
    }),
    { numRuns: 500 },
  );
  t.end();
});

void t.test(
  'the store tells what is first, what is new and what was before, and asks anew after a broken snapshot',
  (t) => {
    const changes: AppliedChange[] = [];
    const store = new AssignmentStore((change) => changes.push(change));
    const first = [anAssignment({ monitorId: 1 })];
    t.match(store.addChunk(first), /without its beginning/);
    store.beginSnapshot({ revision: 4n, count: 1 });
    t.equal(store.addChunk(first), undefined);
    t.equal(store.endSnapshot(endOf(4n, first)), undefined);
    store.applyDelta({
      changed: [anAssignment({ monitorId: 1, revision: 5n, probeRevision: 2 })],
      removed: [],
      revision: 5n,
    });
    t.match(changes, [{ first: true }, { first: false }]);
    t.equal(changes[1]?.previous.get(1)?.probeRevision, 1);
    t.equal(store.revision, 5n);
    store.beginSnapshot({ revision: 6n, count: 1 });
    t.match(store.addChunk([...first, ...first]), /larger than announced/);
    t.match(store.endSnapshot({ ...endOf(6n, first), hash: Buffer.alloc(32) }), /./);
    t.equal(store.revision, 0n);
    t.equal(store.size, 1, 'what is held goes on being checked');
    t.end();
  },
);
