import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { timeline, ranges } from './batch.ts';
import { createMonitorFold } from './increment.ts';
import { arbitraryHistory, play } from './test-histories.ts';
import { at, fresh, Ingester, inputsOf, result, seats, three } from './test-support.ts';
import type { RangeEdit, StoredResult } from './types.ts';

const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500);

const shown = (edits: readonly RangeEdit[]) =>
  edits
    .filter(({ voter }) => voter === null)
    .map((edit) => ({
      op: edit.op,
      startedS: (edit.startedUs - at(0)) / 1_000_000,
      ...(edit.op === 'delete'
        ? {}
        : { endedS: edit.endedUs === null ? null : (edit.endedUs - at(0)) / 1_000_000, revised: edit.revised }),
      ...(edit.op === 'insert' ? { status: edit.status } : {}),
      ...(edit.op === 'update' && edit.newStartedUs !== undefined
        ? { newS: (edit.newStartedUs - at(0)) / 1_000_000 }
        : {}),
      ...(edit.op === 'update' && edit.status !== undefined ? { status: edit.status } : {}),
    }));

void t.test(
  'the increment tells what the batch tells: late, twice, split, restarted, reconfigured, at any moment',
  async (t) => {
    const seen = { rebuilds: 0, down: 0, partial: 0, revised: 0, resets: 0 };
    fc.assert(
      fc.property(arbitraryHistory, (history) => {
        const ingester = play(history);
        for (const voter of [null, 0, 1, 2, 3, 4]) {
          const { stored, batch } = ingester.compare(voter);
          if (stored !== batch) throw new Error(`voter ${voter}\nstored ${stored}\nbatch  ${batch}`);
        }
        if (ingester.status !== ingester.statusNow())
          throw new Error(`${ingester.status}, not ${ingester.statusNow()}`);
        seen.rebuilds += ingester.rebuilds;
        seen.down += ingester.ranges.of(null).filter(({ status }) => status === 'DOWN' || status === 'TIMEOUT').length;
        seen.partial += ingester.transitions.filter(({ to }) => to === 'PARTIAL').length;
        if (ingester.inputs.resetUs !== null) seen.resets += 1;
        seen.revised += ingester.ranges.of(null).filter(({ revised }) => revised).length;
      }),
      { numRuns },
    );
    // The property is worth what the histories contain.
    for (const [what, count] of Object.entries(seen)) t.ok(count > numRuns / 10, `histories with ${what}: ${count}`);
  },
);

void t.test(
  'made from all rows at once, the increment tells the same ranges with the same evidence as the batch',
  async () => {
    fc.assert(
      fc.property(arbitraryHistory, ({ inputs, arrivals }) => {
        const rows = arrivals.map(({ row }) => row);
        // No row may lie after the present.
        const nowUs = rows.reduce((latest, row) => Math.max(latest, row.eUs), at(600));
        const { edits } = createMonitorFold(fresh(inputs, { results: rows, nowUs })).take();
        const batch = ranges(timeline(inputs, rows, at(-10), nowUs + 1).segments);
        const own = edits.filter(({ voter }) => voter === null);
        const evidence = own.map((edit) =>
          edit.op === 'insert' ? [edit.startedUs, edit.status, edit.evidence] : edit,
        );
        const wanted = batch.map((run) => [run.fromUs, run.status, run.evidence]);
        if (JSON.stringify(evidence) !== JSON.stringify(wanted)) {
          throw new Error(`${JSON.stringify(evidence)}\n${JSON.stringify(wanted)}`);
        }
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  },
);

void t.test('a first result opens ranges, a repetition writes nothing, silence closes them', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  t.equal(fold.apply([result(1, 10, 'ok')]), 'folded');
  const first = fold.take();
  t.same(shown(first.edits), [{ op: 'insert', startedS: 10, endedS: null, status: 'UP', revised: false }]);
  t.equal(first.edits.length, 2, 'the monitor and its voter');
  t.match(first.transitions, [{ monitorId: 7, from: 'UNKNOWN', to: 'UP', atUs: at(10) }]);
  t.same([first.status, first.statusSinceUs], ['UP', at(10)]);

  fold.apply([result(1, 70, 'ok')]);
  const second = fold.take();
  t.same([second.edits, second.transitions, second.rechecks], [[], [], []]);
  t.equal(second.status, 'UP');
  t.equal(fold.take(), second, 'not even an object is made');

  t.equal(fold.nextExpiryUs <= at(230), true);
  fold.advance(at(229));
  t.same(fold.take().edits, []);
  fold.advance(at(230));
  const last = fold.take();
  t.same(shown(last.edits), [{ op: 'update', startedS: 10, endedS: 230, revised: false }]);
  t.match(last.transitions, [{ from: 'UP', to: 'UNKNOWN', atUs: at(230) }]);
  t.equal(fold.nextExpiryUs, Number.POSITIVE_INFINITY);
});

void t.test('a late result that makes a vote end sooner changes the past, however little of it is kept', async (t) => {
  const ingester = new Ingester(inputsOf(), at(0), { keepUs: 20_000_000, compactFrom: 2 });
  // The second voter's results move the horizon on; the first one's vote lasts.
  ingester.apply([result(1, 10, 'ok', { freshS: 200 })]);
  for (let atS = 12; atS <= 120; atS += 6) {
    ingester.advance(at(atS));
    ingester.apply([result(2, atS, 'ok', { freshS: 10 })]);
    ingester.take();
  }
  ingester.apply([result(1, 20, 'ok', { freshS: 10 })]);
  ingester.advance(at(121));
  ingester.take();
  t.equal(ingester.rebuilds, 1, 'it reaches back beyond what is in memory');
  const { stored, batch } = ingester.compare(1);
  t.equal(stored, batch);
  t.match(ingester.ranges.of(1), [{ startedUs: at(10), endedUs: at(30) }]);
});

void t.test('time never goes backwards', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([result(1, 10, 'ok')], at(200));
  fold.take();
  fold.advance(at(50));
  t.equal(fold.take().status, 'UNKNOWN');
});

void t.test('a confirmed outage is dated back to its onset in one transition', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'ok'), result(1, 60, 'fail'), result(2, 65, 'fail')], at(66));
  t.equal(fold.take().status, 'UP');
  fold.apply([result(1, 70, 'fail', { error: 20 }), result(2, 75, 'fail')], at(76));
  const { transitions, edits, statusSinceUs } = fold.take();
  t.match(transitions, [{ from: 'UP', to: 'DOWN', atUs: at(65), detectedUs: at(76) }]);
  t.match(transitions[0]?.evidence, { rule: 'quorum_failing', quorum: 2, missing: [] });
  t.equal(statusSinceUs, at(65));
  t.same(shown(edits), [
    { op: 'update', startedS: 0, endedS: 60, revised: false },
    { op: 'insert', startedS: 60, endedS: 65, status: 'DEGRADED', revised: false },
    { op: 'insert', startedS: 65, endedS: null, status: 'DOWN', revised: false },
  ]);
});

void t.test('results of one round make one transition, however they are split', async (t) => {
  const rows = [...three(0, 'ok'), ...three(60, 'fail'), ...three(66, 'fail')];
  for (let size = 1; size <= rows.length; size += 1) {
    const ingester = new Ingester(inputsOf(), at(0));
    for (let index = 0; index < rows.length; index += size) {
      ingester.apply(rows.slice(index, index + size));
      ingester.take();
    }
    ingester.apply(rows);
    ingester.take();
    t.equal(ingester.transitions.filter(({ to }) => to === 'DOWN').length, 1, `by ${size}`);
    t.equal(ingester.transitions.find(({ to }) => to === 'DOWN')?.atUs, at(60));
  }
});

void t.test(
  'a result that comes late moves the onset of a range that stays the same row, and marks it as revised',
  async (t) => {
    const fold = createMonitorFold(fresh(inputsOf({ assignments: seats('eu') })));
    const failing = [60, 70, 80, 90].map((s) => result(1, s, 'fail'));
    fold.apply([result(1, 0, 'ok'), ...failing], at(91));
    fold.take();
    fold.apply([result(1, 50, 'fail')]);
    t.same(shown(fold.take().edits), [
      { op: 'update', startedS: 0, endedS: 50, revised: true },
      { op: 'update', startedS: 60, newS: 50, endedS: null, revised: true },
    ]);
  },
);

void t.test('what fills a gap that was told is a revision, also when it comes in order', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf({ assignments: seats('eu') })));
  fold.apply([result(1, 0, 'ok')], at(600));
  fold.take();
  fold.apply([result(1, 200, 'ok')]);
  fold.apply([result(1, 260, 'ok')]);
  t.same(shown(fold.take().edits), [{ op: 'insert', startedS: 200, endedS: 420, status: 'UP', revised: true }]);
  fold.apply([result(1, 590, 'ok')], at(601));
  t.same(shown(fold.take().edits), [{ op: 'insert', startedS: 590, endedS: null, status: 'UP', revised: false }]);
  fold.advance(at(800));
  fold.take();
  fold.toldUntil(at(1_600));
  fold.apply([result(1, 1_000, 'ok')]);
  t.match(
    shown(fold.take().edits),
    [{ op: 'insert', startedS: 1_000, revised: true }],
    'of a time at which nothing happened',
  );
});

void t.test('what comes only a little late is no revision', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf({ assignments: seats('eu') })));
  fold.apply([result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 65, 'fail')], at(66));
  fold.take();
  fold.apply([result(1, 52, 'fail')]);
  t.same(
    fold.take().edits.filter((edit) => edit.op !== 'delete' && edit.revised),
    [],
  );
});

void t.test('a late result that takes an outage back leaves no trace of it', async (t) => {
  const ingester = new Ingester(inputsOf({ assignments: seats('eu') }), at(0));
  ingester.apply([result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 90, 'fail'), result(1, 120, 'ok')]);
  ingester.advance(at(130));
  ingester.take();
  t.equal(ingester.compare(null).stored, 'UP 0–60, DOWN 60–120, UP 120–130.000001');
  ingester.apply([result(1, 75, 'ok')]);
  ingester.take();
  t.equal(ingester.compare(null).stored, 'UP 0–130.000001');
});

void t.test('a streak that is not yet confirmed is kept, however long ago it began', async (t) => {
  const inputs = inputsOf({
    assignments: seats('eu', 'us'),
    configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'any' }],
  });
  const ingester = new Ingester(inputs, at(0));
  ingester.apply([result(1, 0, 'ok', { freshS: 9000 }), result(1, 100, 'fail', { freshS: 9000 })]);
  for (let s = 0; s < 6000; s += 10) {
    ingester.apply([result(2, s, 'ok')]);
    ingester.advance(at(s));
    ingester.take();
  }
  ingester.apply([result(1, 6000, 'fail', { freshS: 9000 })]);
  ingester.advance(at(6001));
  ingester.take();
  t.equal(ingester.rebuilds, 0);
  t.equal(ingester.compare(null).stored, 'UP 0–100, DOWN 100–6001.000001');
});

void t.test('a result that is fresh for less makes the vote end earlier than the one before it', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([result(1, 0, 'ok')], at(1));
  fold.take();
  fold.apply([result(1, 10, 'ok', { freshS: 20 })], at(11));
  t.equal(fold.nextExpiryUs, at(30));
  fold.advance(at(30));
  t.equal(fold.take().status, 'UNKNOWN');
});

void t.test('what looks like a repetition but does not count is none', async (t) => {
  const inputs = inputsOf({
    assignments: seats('eu'),
    configurations: [{ fromUs: at(0), probeRevision: 2, confirmations: 2, policy: 'majority' }],
  });
  const others: Partial<StoredResult>[] = [
    { probeRevision: 1 },
    { kind: 'manual' },
    { outcome: 'skipped' },
    { receivedUs: at(100 + 50 * 3600) },
  ];
  for (const changes of others) {
    const fold = createMonitorFold(fresh(inputs));
    fold.apply([result(1, 0, 'ok', { probeRevision: 2 })]);
    fold.take();
    fold.apply([result(1, 100, 'ok', { probeRevision: 2, ...changes })], at(170));
    t.equal(fold.take().status, 'UNKNOWN', JSON.stringify(changes));
  }
});

void t.test('an outage longer than what is kept goes on as one, also after it was repeated many times', async (t) => {
  const ingester = new Ingester(inputsOf({ assignments: seats('eu') }), at(0));
  ingester.apply([result(1, 0, 'ok')]);
  for (let s = 60; s < 6000; s += 60) {
    ingester.apply([result(1, s, s % 1200 === 0 ? 'fail' : 'timeout')]);
    ingester.advance(at(s + 1));
    ingester.take();
  }
  ingester.apply([result(1, 5990, 'probe_error'), result(1, 6000, 'timeout')]);
  ingester.advance(at(6010));
  ingester.take();
  t.equal(ingester.rebuilds, 0);
  t.equal(ingester.compare(1).stored, ingester.compare(1).batch);
  t.equal(ingester.compare(1).stored, 'UP 0–60, TIMEOUT 60–1200, DOWN 1200–5990, DOWN 6000–6010.000001');
});

void t.test('results in reverse order tell the same', async (t) => {
  const rows = [...three(0, 'ok'), ...three(60, 'fail'), ...three(66, 'fail'), ...three(90, 'ok')];
  const ingester = new Ingester(inputsOf(), at(0));
  for (const row of rows.reverse()) {
    ingester.apply([row]);
    ingester.take();
  }
  ingester.advance(at(100));
  ingester.take();
  t.equal(ingester.compare(null).stored, 'UP 0–60, DOWN 60–90, UP 90–100.000001');
});
