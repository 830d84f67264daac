import t from 'tap';
import { createMonitorFold } from './increment.ts';
import { at, fresh, Ingester, inputsOf, result, seats, three } from './test-support.ts';
import type { FoldRestore, Taken } from './fold.ts';
import type { MonitorInputs, StoredRange } from './types.ts';

/* What a fold says right after it was made, of what is late, and after it let go of rows: the edges of what it knows. */

const single = inputsOf({ assignments: seats('eu') });
const range = (fromS: number, toS: number | null, status: StoredRange['status'], voter: number | null = null) => ({
  voter,
  startedUs: at(fromS),
  endedUs: toS === null ? null : at(toS),
  status,
});
const madeFrom = (changes: Partial<FoldRestore>, inputs: MonitorInputs = single) =>
  createMonitorFold(fresh(inputs, { horizonUs: at(100), nowUs: at(200), ...changes }));
const revisedOf = ({ edits }: Taken): boolean[] =>
  edits.flatMap((edit) => (edit.op === 'delete' ? [] : [edit.revised]));

t.test(
  'what a fold is made with is no revision, no news to recheck, and no transition unless it was told otherwise',
  async (t) => {
    const results = [result(1, 100, 'ok'), result(1, 150, 'fail'), result(1, 160, 'fail'), result(1, 170, 'fail')];
    const taken = madeFrom({ results, storedRanges: [range(100, null, 'UP')], status: 'UP' }).take();
    t.same(revisedOf(taken), [false, false, false, false]);
    t.same(taken.rechecks, []);
    t.match(taken.transitions, [{ from: 'UP', to: 'DOWN', atUs: at(150), detectedUs: at(200) }]);
    t.equal(taken.transitions.length, 1);
    const first = madeFrom({ results: [result(1, 100, 'ok'), result(1, 190, 'fail')] }).take();
    t.same(first.rechecks, [], 'an unconfirmed failure of before');
    t.same(
      madeFrom({ results, storedRanges: [range(150, null, 'DOWN')] }).take().transitions,
      [],
      'the open range says it',
    );
    const kinds = madeFrom({ results: [result(1, 190, 'warn')], storedRanges: [range(190, null, 'DEGRADED')] }).take();
    t.same([kinds.transitions, kinds.status], [[], 'WARNING'], 'DEGRADED says not which of its kinds it was');
    const known = madeFrom({
      results: [result(1, 190, 'warn')],
      storedRanges: [range(190, null, 'DEGRADED')],
      status: 'DEGRADED',
    }).take();
    t.match(known.transitions, [{ from: 'DEGRADED', to: 'WARNING' }]);
  },
);

t.test('a status that began before what is kept is as old as what is stored says', async (t) => {
  const results = [result(1, 100, 'ok'), result(1, 190, 'ok')];
  const before = [result(1, 40, 'ok')];
  const sinceS = (changes: Partial<FoldRestore>): number =>
    (madeFrom({ results, before, ...changes }).take().statusSinceUs - at(0)) / 1_000_000;
  t.equal(sinceS({ storedRanges: [range(40, null, 'UP')] }), 40);
  t.equal(sinceS({ storedRanges: [range(40, 100, 'UP')] }), 40, 'one that ended just there');
  t.equal(sinceS({ storedRanges: [range(40, 99, 'UP')] }), 100, 'one that ended before');
  t.equal(sinceS({ storedRanges: [range(40, null, 'DOWN')] }), 100, 'one that says something else');
  t.equal(sinceS({ storedRanges: [range(100, null, 'UP')] }), 100);
  t.equal(sinceS({ storedRanges: [range(100, null, 'UP'), range(40, 100, 'UP')] }), 40, 'in whatever order');
  t.equal(sinceS({ status: 'UP', statusSinceUs: at(30) }), 30);
  t.equal(sinceS({ status: 'UP', statusSinceUs: at(30), storedRanges: [range(40, null, 'UP')] }), 30);
  t.equal(sinceS({ status: 'UP', storedRanges: [range(40, null, 'UP')] }), 40);
  t.equal(sinceS({ status: 'UP', statusSinceUs: at(100), storedRanges: [range(40, null, 'UP')] }), 40);
  t.equal(sinceS({ status: 'DOWN', statusSinceUs: at(30), storedRanges: [range(40, null, 'UP')] }), 100);
});

t.test('a result is late by 15 s, one that timed out by 75 s, before what is newest or was told', async (t) => {
  const revised = (lateS: number, outcome: 'ok' | 'timeout', toldS: number): boolean => {
    const fold = madeFrom({ results: [result(1, 100, 'ok')], nowUs: at(101) });
    fold.take();
    fold.apply([result(1, 200, 'ok', { freshS: 10 })]);
    fold.advance(at(210));
    fold.take();
    fold.toldUntil(at(toldS));
    fold.apply([
      result(1, toldS - lateS, outcome, { freshS: 2 }),
      result(1, toldS - lateS + 1, outcome, { freshS: 2 }),
    ]);
    return revisedOf(fold.take()).some(Boolean);
  };
  t.same(
    [15, 16].map((s) => revised(s, 'ok', 300)),
    [false, true],
  );
  t.same(
    [75, 76].map((s) => revised(s, 'timeout', 300)),
    [false, true],
  );
});

t.test('voters are told in their order, however they came', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'ok')].reverse());
  const [edit] = fold.take().edits;
  t.same(edit?.op === 'insert' && edit.evidence.voters.map(({ voter }) => voter), [1, 2, 3]);
});

t.test('what it let go of is still how old the status is', async (t) => {
  const fold = createMonitorFold(fresh(single, { limits: { keepUs: 60_000_000, compactFrom: 4 } }));
  const sinceS: number[] = [];
  for (let s = 0; s < 1_200; s += 20) {
    // Unconfirmed failures change no status, but have all computed anew.
    const outcome = s === 600 || s === 1_000 ? 'fail' : s >= 300 && s < 700 ? 'slow' : 'ok';
    fold.apply([result(1, s, outcome)], at(s));
    sinceS.push((fold.take().statusSinceUs - at(0)) / 1_000_000);
  }
  t.same([...new Set(sinceS)], [0, 300, 700]);
  t.match(fold.apply([result(1, 500, 'fail')]), { rebuildFromUs: at(500) });
});

t.test(
  'rows of before the horizon vote only if they may, and a failure of before is no news to other probes',
  async (t) => {
    const before = [result(1, 80, 'ok'), result(1, 90, 'fail', { kind: 'manual' })];
    const fold = madeFrom({ before, results: [result(1, 105, 'fail')], nowUs: at(110) });
    t.equal(fold.take().status, 'UP');
    const results = [1, 2, 3].map((voter) => result(voter, 100, 'ok')).concat(result(1, 190, 'fail'));
    t.same(madeFrom({ results }, inputsOf()).take().rechecks, []);
  },
);

t.test('rows that lie ahead of the time of the restart are its present', async (t) => {
  const results = [result(1, 100, 'ok'), result(1, 200, 'ok')];
  const ahead = madeFrom({ results, nowUs: at(150), status: 'UNKNOWN' }).take();
  t.match(ahead.transitions, [{ detectedUs: at(200) }]);
  const revised = (lateS: number): boolean => {
    const fold = madeFrom({ results, nowUs: at(150) });
    fold.take();
    const rows = [0, 1].map((s) => result(1, 200 - lateS + s, 'timeout', { freshS: 2 }));
    fold.apply(rows);
    return revisedOf(fold.take()).some(Boolean);
  };
  t.same([15, 16].map(revised), [false, true], 'also what timed out, beside the newest');
});

t.test('time does not go back, nor does what was told', async (t) => {
  const fold = madeFrom({ results: [result(1, 100, 'ok')], nowUs: at(101) });
  fold.advance(at(300));
  t.equal(fold.take().status, 'UNKNOWN');
  fold.advance(at(200));
  t.same(fold.take(), { ...fold.take(), status: 'UNKNOWN', edits: [], transitions: [] });
  fold.toldUntil(at(400));
  fold.toldUntil(at(350));
  fold.apply([result(1, 384, 'ok', { freshS: 2 })]);
  t.same(revisedOf(fold.take()), [true, true]);
  const later = madeFrom({ nowUs: at(300) });
  later.take();
  later.advance(at(200));
  later.apply([result(1, 290, 'ok')]);
  t.match(later.take().transitions, [{ to: 'UP', detectedUs: at(300) }]);
  const quiet = madeFrom({ results: [result(1, 100, 'ok')], nowUs: at(101) });
  quiet.take();
  quiet.apply([result(1, 200, 'ok')]);
  quiet.take();
  quiet.apply([result(1, 121, 'timeout', { freshS: 2 }), result(1, 122, 'timeout', { freshS: 2 })]);
  t.ok(revisedOf(quiet.take()).some(Boolean), 'a take without anything new has told as much');
});

t.test('a fold says when it must be woken, and until then which results only repeat what is said', async (t) => {
  const fold = madeFrom({ results: [result(1, 100, 'ok')], nowUs: at(101) });
  t.equal(fold.nextExpiryUs, at(260));
  t.notOk(fold.repeat(result(1, 110, 'ok')), 'there is something to take yet');
  fold.take();
  t.ok(fold.repeat(result(1, 200, 'ok')));
  t.notOk(fold.repeat(result(1, 210, 'slow')));
  t.notOk(fold.repeat(result(2, 210, 'ok')), 'of another voter');
  t.notOk(fold.repeat(result(1, 260, 'ok')), 'when it must be woken');
  t.ok(fold.repeat(result(1, 259, 'ok')));
  fold.apply([result(1, 261, 'warn')]);
  t.notOk(fold.repeat(result(1, 262, 'warn')), 'before it was computed');
  fold.take();
  t.ok(fold.repeat(result(1, 263, 'warn')));
  fold.advance(at(422));
  t.notOk(fold.nextExpiryUs < at(423));
  t.ok(fold.repeat(result(1, 422.5, 'warn')), 'nothing was computed anew');
  t.equal(fold.nextExpiryUs, at(423));
  fold.advance(at(423));
  t.equal(fold.nextExpiryUs, at(582.5));
  t.equal(fold.apply([result(1, 600, 'warn')]), 'folded');
});

t.test('what stands is that of the present, the same until it changes', async (t) => {
  const fold = madeFrom({ results: three(100, 'ok'), nowUs: at(101) }, inputsOf());
  const first = fold.standing;
  t.same(first.missing, []);
  t.equal(fold.standing, first);
  fold.apply([result(2, 150, 'probe_error')]);
  t.same(fold.standing.missing, [2]);
  fold.advance(at(270));
  t.same(fold.standing.missing, [1, 2, 3]);
});

t.test('inputs that change before what is kept ask for six freshness windows more', async (t) => {
  const paused = (fromS: number): MonitorInputs => ({
    ...single,
    pauses: [{ fromUs: at(fromS), toUs: at(fromS + 1) }],
  });
  const rebuild = (changes: Partial<FoldRestore>, fromS: number): number | string => {
    const folded = madeFrom(changes).reconfigure(paused(fromS));
    return typeof folded === 'string' ? folded : (folded.rebuildFromUs - at(0)) / 1_000_000;
  };
  const results = [result(1, 100, 'ok', { freshS: 70 }), result(1, 150, 'ok', { freshS: 40 })];
  t.equal(rebuild({}, 50), 50, 'without any row there is none');
  t.equal(rebuild({ results }, 150), 'folded');
  t.equal(rebuild({ results }, 100), 'folded');
  t.equal(rebuild({ results }, 99), 99 - 6 * 70);
  t.equal(
    rebuild({ results, before: [result(1, 40, 'ok', { freshS: 90 })] }, 50),
    50 - 6 * 90,
    'of before the horizon too',
  );
  const failing = (freshS: number) => ({ before: [result(1, 90, 'fail', { freshS })], results: [] });
  t.equal(rebuild(failing(60), 150), 100 - 6 * 60, 'a streak that may yet be confirmed began before');
  t.equal(rebuild(failing(59), 150), 'folded', 'out of its reach');
  const settled = [result(1, 80, 'fail', { freshS: 60 }), result(1, 90, 'fail', { freshS: 60 })];
  t.equal(
    rebuild({ before: settled, results: [], votesAtHorizon: new Map([[1, 'DOWN']]) }, 150),
    'folded',
    'confirmed',
  );
});

t.test('rows are let go by a take when there are enough, then when there are twice as many as were left', async (t) => {
  const asks = (count: number, second: number): boolean => {
    const fold = createMonitorFold(fresh(single, { limits: { keepUs: 60_000_000, compactFrom: 4 } }));
    for (let index = 0; index < count; index += 1) {
      const second = 100 + index * 20;
      fold.apply([result(1, second, index % 2 === 0 ? 'ok' : 'slow')], at(second));
      fold.take();
    }
    return typeof fold.apply([result(1, second, 'warn')]) === 'object';
  };
  const counts = [3, 4, 5, 6, 7, 8, 9, 10, 11];
  t.same(
    [95, 115, 170].map((second) => counts.find((count) => asks(count, second))),
    [4, 7, 10],
  );
});

t.test('what only repeats is the newest result too, and the present', async (t) => {
  const made = () => {
    const fold = madeFrom({ results: three(100, 'ok'), nowUs: at(101) }, inputsOf());
    fold.take();
    t.ok([result(1, 200, 'ok'), result(2, 190, 'ok')].every((row) => fold.repeat(row)));
    fold.toldUntil(at(200));
    return fold;
  };
  const late = made();
  late.apply([0, 1].map((s) => result(3, 184 + s, 'timeout', { freshS: 2 })));
  t.ok(revisedOf(late.take()).some(Boolean), 'more than 15 s before the newest');
  const inTime = made();
  inTime.apply([0, 1].map((s) => result(3, 185 + s, 'timeout', { freshS: 2 })));
  t.notOk(revisedOf(inTime.take()).some(Boolean));
  const present = made();
  present.apply([result(3, 195, 'warn')]);
  t.match(present.take().transitions, [{ to: 'WARNING', detectedUs: at(200) }]);
});

t.test('the outlook is that of the present', async (t) => {
  const [asked, taken] = [0, 1].map(() => madeFrom({ results: three(100, 'ok'), nowUs: at(101) }, inputsOf()));
  for (const fold of [asked, taken])
    fold?.apply([1, 2].flatMap((voter) => [result(voter, 150, 'fail'), result(voter, 151, 'fail')]));
  taken?.take();
  t.same(asked?.outlook, taken?.outlook);
});

t.test('that a probe has joined outlives its votes, what is kept of them, and a restart', async (t) => {
  const [first, second] = seats('eu', 'us');
  if (first === undefined || second === undefined) return;
  const inputs = inputsOf({ assignments: [first, { ...second, fromUs: at(10), countsByUs: at(1_000) }] });
  const ingester = new Ingester(inputs, at(0), { keepUs: 40_000_000, compactFrom: 4 });
  const failing = Array.from({ length: 32 }, (_, index) => result(1, index * 10, 'fail'));
  // Failures too far apart to be confirmed: of the vote before them nothing is among the rows that are read again.
  const alone = [60, 90, 120, 150, 180, 210].map((s) => result(2, s, 'fail', { freshS: 20 }));
  const rows = [...failing, result(2, 12, 'ok', { freshS: 20 }), ...alone].sort((a, b) => a.eUs - b.eUs);
  for (const row of rows) {
    ingester.advance(row.eUs);
    ingester.apply([row]);
    ingester.take();
  }
  t.equal(ingester.status, 'PARTIAL', 'one of two seats fails, whoever is silent');
  ingester.restart(0);
  ingester.take();
  t.equal(ingester.status, 'PARTIAL');
  const { stored, batch } = ingester.compare(null);
  t.equal(stored, batch);
});

t.test('a result of the very instant up to which rows were let go asks for a rebuild from there', async (t) => {
  for (const other of ['ok', 'slow'] as const) {
    const ingester = new Ingester(single, at(0), { keepUs: 60_000_000, compactFrom: 4 });
    for (const [index, s] of [100, 120, 140, 160].entries()) {
      ingester.advance(at(s));
      ingester.apply([result(1, s, index % 2 === 0 ? 'ok' : other)]);
      ingester.take();
    }
    // The horizon is at 100 now, with the row of that instant as base. Between two rows of one instant the failure counts.
    ingester.apply([result(1, 100, 'fail')]);
    ingester.take();
    t.equal(ingester.rebuilds, 1, other);
    for (const voter of [null, 1]) t.equal(ingester.compare(voter).stored, ingester.compare(voter).batch);
  }
});
