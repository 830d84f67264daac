import fc from 'fast-check';
import t from 'tap';
import { timeline, ranges } from './batch.ts';
import { foldLimits } from './fold.ts';
import type { FoldRestore } from './fold.ts';
import { createMonitorFold } from './increment.ts';
import { arbitraryHistory, play } from './test-histories.ts';
import { at, Ingester, inputsOf, result, seats } from './test-support.ts';
import type { MonitorInputs, RangeEdit, StoredResult } from './types.ts';

const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500);

const three = (seconds: number, outcome: StoredResult['outcome']) =>
  [1, 2, 3].map((voter) => result(voter, seconds, outcome));

function fresh(inputs: MonitorInputs, changes: Partial<FoldRestore> = {}): FoldRestore {
  return {
    inputs,
    before: [],
    votesAtHorizon: new Map(),
    results: [],
    storedRanges: [],
    storedProbeRanges: [],
    horizonUs: at(-10),
    nowUs: at(0),
    ...changes,
  };
}

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
    const seen = { rebuilds: 0, down: 0, partial: 0, revised: 0 };
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
        const nowUs = at(600);
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

void t.test('what comes only a little late is no revision', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf({ assignments: seats('eu') })));
  fold.apply([result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 65, 'fail')], at(66));
  fold.take();
  fold.apply([result(1, 50, 'fail')]);
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

void t.test('what is older than what is kept asks for a rebuild, which the rows of the database answer', async (t) => {
  const ingester = new Ingester(inputsOf({ assignments: seats('eu') }), at(0));
  for (let s = 0; s < 3000; s += 60) {
    ingester.apply([result(1, s, 'ok')]);
    ingester.advance(at(s + 1));
    ingester.take();
  }
  t.equal(ingester.rebuilds, 0);
  ingester.apply([result(1, 610, 'fail'), result(1, 630, 'fail')]);
  ingester.take();
  t.ok(ingester.rebuilds >= 1);
  t.equal(ingester.compare(null).stored, 'UP 0–610, DOWN 610–660, UP 660–2941.000001');
  t.same(
    ingester.ranges.of(null).map(({ revised }) => revised),
    [false, true, true],
  );
  t.equal(ingester.status, 'UP');
  t.same(
    ingester.transitions.map(({ to }) => to),
    ['UP'],
    'what is over is no transition',
  );
});

void t.test('a result of before the horizon that does not count asks for nothing', async (t) => {
  const ingester = new Ingester(inputsOf({ assignments: seats('eu') }), at(0));
  for (let s = 0; s < 3000; s += 60) {
    ingester.apply([result(1, s, 'ok')]);
    ingester.take();
  }
  ingester.apply([
    result(1, 610, 'fail', { kind: 'manual' }),
    result(1, 611, 'skipped'),
    result(1, 612, 'fail', { probeRevision: 0 }),
    result(9, 613, 'fail'),
  ]);
  t.equal(ingester.rebuilds, 0);
});

void t.test('memory is bounded: a long quiet life keeps few rows', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf({ assignments: seats('eu') })));
  for (let s = 0; s < 60_000; s += 60) {
    fold.apply([result(1, s, 'ok')], at(s));
    fold.take();
  }
  const keptS = (foldLimits.keepUs / 1_000_000 + foldLimits.compactFrom * 60) * 2;
  t.not(fold.apply([result(1, 60_000 - keptS + 1, 'fail')]), 'folded');
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

void t.test('a restart from what is stored writes nothing when nothing has changed', async (t) => {
  const ingester = new Ingester(inputsOf(), at(0));
  for (let s = 0; s < 600; s += 60) ingester.apply(three(s, s < 300 ? 'ok' : 'timeout'));
  ingester.advance(at(545));
  ingester.take();
  const count = ingester.transitions.length;
  ingester.restart(100);
  const { edits, status, statusSinceUs } = ingester.take();
  t.same(edits, []);
  t.same([status, statusSinceUs], ['TIMEOUT', at(300)]);
  t.equal(ingester.transitions.length, count);
});

void t.test('after a restart a streak that began long before stays what it was', async (t) => {
  const ingester = new Ingester(inputsOf({ assignments: seats('eu') }), at(0));
  ingester.apply([result(1, 0, 'ok'), result(1, 60, 'fail')]);
  for (let s = 120; s < 2000; s += 60) ingester.apply([result(1, s, 'timeout')]);
  ingester.advance(at(1990));
  ingester.take();
  ingester.restart(0);
  ingester.apply([result(1, 2000, 'timeout')]);
  ingester.advance(at(2001));
  t.same(ingester.take().edits, []);
  t.equal(ingester.compare(1).stored, 'UP 0–60, DOWN 60–2001.000001');
});

void t.test('a fold restored without the written status takes it from the open range', async (t) => {
  const open = { startedUs: at(0), endedUs: null, status: 'DEGRADED' } as const;
  const restore = fresh(inputsOf(), {
    before: [result(1, 90, 'warn')],
    storedRanges: [{ ...open, voter: null }],
    storedProbeRanges: [{ ...open, voter: 1 }],
    horizonUs: at(100),
    nowUs: at(101),
  });
  const taken = createMonitorFold(restore).take();
  t.same([taken.edits, taken.transitions, taken.status], [[], [], 'WARNING']);
  const later = createMonitorFold({ ...restore, nowUs: at(300) }).take();
  t.match(later.transitions, [{ from: 'DEGRADED', to: 'UNKNOWN', atUs: at(250) }]);
});

void t.test('a pause that becomes known a little later takes effect at its own time', async (t) => {
  const ingester = new Ingester(inputsOf(), at(0));
  ingester.apply([...three(0, 'ok'), ...three(60, 'ok')]);
  ingester.advance(at(62));
  ingester.take();
  ingester.reconfigure(inputsOf({ pauses: [{ fromUs: at(50), toUs: null }] }), at(50));
  ingester.take();
  t.equal(ingester.compare(null).stored, 'UP 0–50');
  t.match(ingester.transitions.at(-1), { from: 'UP', to: 'UNKNOWN', atUs: at(50) });
});

void t.test('a reset asks for a rebuild from it', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply(three(0, 'ok'));
  fold.take();
  t.same(fold.reconfigure(inputsOf({ resetUs: at(30) })), { rebuildFromUs: at(30) });
});

void t.test('an end of an assignment that lies ahead is waited for', async (t) => {
  const [seat] = seats('eu');
  if (seat === undefined) throw new Error('no seat');
  const fold = createMonitorFold(fresh(inputsOf({ assignments: [{ ...seat, toUs: at(50) }] })));
  fold.apply([result(1, 10, 'ok')], at(11));
  fold.take();
  t.equal(fold.nextExpiryUs, at(50));
  fold.advance(at(50));
  t.equal(fold.take().status, 'UNKNOWN');
});

void t.test(
  'rechecks: a first failure asks for the second opinions that a quorum needs, other regions first',
  async (t) => {
    const inputs = inputsOf({ assignments: seats('eu', 'eu', 'us', 'ap', 'eu') });
    const fold = createMonitorFold(fresh(inputs));
    fold.apply(
      [1, 2, 3, 5].map((voter) => result(voter, 0, 'ok')),
      at(1),
    );
    t.same(fold.take().rechecks, []);
    fold.apply([result(1, 20, 'fail')], at(21));
    t.same(fold.take().rechecks, [{ monitorId: 7, voters: [3, 4], reason: 'first_failure' }]);
    fold.apply([result(1, 25, 'fail')], at(26));
    t.same(fold.take().rechecks, [], 'only the first of a streak asks');
  },
);

void t.test('rechecks: a first failure older than a minute asks nobody', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'ok'), result(1, 20, 'fail')], at(81));
  t.same(fold.take().rechecks, []);
});

void t.test('rechecks: a first good result asks those that still fail', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'fail'), ...three(10, 'fail')], at(11));
  fold.take();
  fold.apply([result(2, 20, 'ok')], at(21));
  t.same(fold.take().rechecks, [{ monitorId: 7, voters: [1, 3], reason: 'first_good' }]);
});

void t.test(
  'rechecks: while a voter fails each voter is asked whenever its last check is half a minute old',
  async (t) => {
    const fold = createMonitorFold(fresh(inputsOf()));
    fold.apply([...three(0, 'ok'), result(1, 10, 'fail'), result(1, 15, 'fail')], at(16));
    t.same(
      fold.take().rechecks.map(({ reason, voters }) => [reason, voters]),
      [['first_failure', [2]]],
    );
    t.equal(fold.nextExpiryUs, at(30), 'the third was last seen at 0');
    fold.advance(at(30));
    t.same(fold.take().rechecks, [{ monitorId: 7, voters: [3], reason: 'while_failing' }]);
    t.equal(fold.nextExpiryUs, at(45));
    fold.apply([result(1, 40, 'fail')]);
    fold.advance(at(46));
    t.same(fold.take().rechecks, [{ monitorId: 7, voters: [2], reason: 'while_failing' }]);
    fold.apply([result(1, 50, 'ok')], at(51));
    fold.take();
    fold.advance(at(100));
    t.same(fold.take().rechecks, [], 'nobody fails any more');
  },
);

void t.test('rechecks: intervals of half a minute and less need none', async (t) => {
  const inputs = inputsOf({
    configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'majority', intervalS: 30 }],
  });
  const fold = createMonitorFold(fresh(inputs));
  fold.apply([...three(0, 'ok'), result(1, 10, 'fail')], at(11));
  fold.take();
  fold.advance(at(45));
  t.same(fold.take().rechecks, []);
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

void t.test(
  'a failure that joins one from before the horizon at the very end of its reach asks for a rebuild',
  async (t) => {
    const fold = createMonitorFold(
      fresh(inputsOf({ assignments: seats('eu') }), {
        before: [result(1, 90, 'ok'), result(1, 100, 'fail', { freshS: 50 })],
        horizonUs: at(120),
        nowUs: at(121),
      }),
    );
    t.same(fold.apply([result(1, 150, 'fail')]), { rebuildFromUs: at(100) });
  },
);

void t.test('a pause known later ends the vote of a voter that has said nothing since', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu', 'us') });
  const ingester = new Ingester(inputs, at(0));
  ingester.apply([result(2, 0, 'slow', { freshS: 9000 })]);
  for (let s = 0; s < 3000; s += 20) {
    ingester.apply([result(1, s, 'ok')]);
    ingester.advance(at(s));
    ingester.take();
  }
  ingester.reconfigure({ ...inputs, pauses: [{ fromUs: at(2950), toUs: at(2955) }] }, at(2950));
  ingester.advance(at(2990));
  ingester.take();
  t.equal(ingester.rebuilds, 0);
  t.equal(ingester.compare(2).stored, 'DEGRADED 0–2950');
  t.equal(ingester.compare(null).stored, 'DEGRADED 0–2950, UP 2960–2990.000001');
});

void t.test('a pause from the very instant of the oldest row that is kept voids it', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu') });
  for (let pauseS = 600; pauseS <= 960; pauseS += 60) {
    const ingester = new Ingester(inputs, at(0));
    for (let s = 0; s <= 960; s += 60) {
      ingester.apply([result(1, s, 'ok')]);
      ingester.advance(at(s));
      ingester.take();
    }
    ingester.reconfigure({ ...inputs, pauses: [{ fromUs: at(pauseS), toUs: at(pauseS + 1) }] }, at(pauseS));
    ingester.take();
    t.equal(ingester.compare(1).stored, ingester.compare(1).batch, `paused at ${pauseS}`);
  }
});

void t.test('an end of an assignment known ahead bounds a vote that was repeated many times', async (t) => {
  const [seat] = seats('eu');
  if (seat === undefined) throw new Error('no seat');
  const inputs = inputsOf({ assignments: [{ ...seat, toUs: at(2000) }] });
  const ingester = new Ingester(inputs, at(0));
  for (let s = 0; s <= 1980; s += 20) {
    ingester.apply([result(1, s, 'ok')]);
    ingester.take();
  }
  ingester.advance(at(2050));
  ingester.take();
  t.equal(ingester.compare(1).stored, 'UP 0–2000');
});

void t.test('nor does a base that stands for repetitions outlive an end known ahead', async (t) => {
  const [first, second] = seats('eu', 'us');
  if (first === undefined || second === undefined) throw new Error('no seats');
  const ingester = new Ingester(inputsOf({ assignments: [first, { ...second, toUs: at(3000) }] }), at(0));
  ingester.apply([result(1, 0, 'ok'), result(2, 0, 'ok', { freshS: 9000 })]);
  ingester.take();
  ingester.apply([result(2, 20, 'ok', { freshS: 9000 })]);
  for (let s = 20; s <= 3100; s += 20) {
    ingester.apply([result(1, s, 'ok')]);
    ingester.advance(at(s));
    ingester.take();
  }
  t.equal(ingester.compare(2).stored, 'UP 0–3000');
});

void t.test('a new revision from the very instant of the oldest row that is kept ends its vote', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu') });
  for (let changeS = 600; changeS <= 960; changeS += 60) {
    const ingester = new Ingester(inputs, at(0));
    for (let s = 0; s <= 960; s += 60) {
      ingester.apply([result(1, s, 'ok')]);
      ingester.advance(at(s));
      ingester.take();
    }
    const [before] = inputs.configurations;
    if (before === undefined) throw new Error('no configuration');
    const after = { ...before, fromUs: at(changeS), probeRevision: 2 };
    ingester.reconfigure({ ...inputs, configurations: [before, after] }, at(changeS));
    ingester.take();
    t.equal(ingester.compare(1).stored, `UP 0–${changeS}`);
  }
});

void t.test('an end that becomes known long after it asks for a rebuild', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu') });
  const ingester = new Ingester(inputs, at(0));
  for (let s = 0; s <= 3000; s += 60) {
    ingester.apply([result(1, s, 'ok')]);
    ingester.advance(at(s));
    ingester.take();
  }
  const assignments = inputs.assignments.map((row) => ({ ...row, toUs: at(900) }));
  ingester.reconfigure({ ...inputs, assignments }, at(900));
  ingester.take();
  t.equal(ingester.rebuilds, 1);
  t.equal(ingester.compare(1).stored, 'UP 0–900');
});

void t.test('made anew at a reset, a fold takes back what was stored of before it', async (t) => {
  const open = { startedUs: at(0), endedUs: null, status: 'UP' } as const;
  const fold = createMonitorFold(
    fresh(inputsOf({ resetUs: at(100) }), {
      before: [result(1, 90, 'ok')],
      storedRanges: [{ ...open, voter: null }],
      storedProbeRanges: [{ ...open, voter: 1 }],
      horizonUs: at(100),
      nowUs: at(101),
    }),
  );
  const { edits, status } = fold.take();
  t.same(
    edits.map(({ op, voter, startedUs }) => [op, voter, startedUs]),
    [
      ['delete', null, at(0)],
      ['delete', 1, at(0)],
    ],
  );
  t.equal(status, 'UNKNOWN');
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
