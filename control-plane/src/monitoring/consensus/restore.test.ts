import t from 'tap';
import { foldLimits } from './fold.ts';
import { createMonitorFold } from './increment.ts';
import { at, fresh, Ingester, inputsOf, result, seats, three } from './test-support.ts';

/* What a fold does when memory does not reach back far enough, when it is made anew, and when its inputs change. */

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
  const { edits, status, statusSinceUs } = fold.take();
  t.same(
    edits.map(({ op, voter, startedUs }) => [op, voter, startedUs]),
    [
      ['delete', null, at(0)],
      ['delete', 1, at(0)],
    ],
  );
  t.same([status, statusSinceUs], ['UNKNOWN', at(100)]);
});
