import t from 'tap';
import { isClean, isUnfit, testify } from './judge.ts';
import type { Look, SeenMonitor, Tally } from './judge.ts';

/* The rule to the millisecond and to the one monitor that decides. */

const intervalMs = 60_000;
const untilMs = 1_000_000_000;
const middleMs = untilMs - intervalMs;
const regions = new Map([
  [1, 'eu'],
  [2, 'us'],
  [3, 'ap'],
]);

const look = (probeId: number, atMs: number, answer: 'ok' | 'fail', isScheduled = true): Look => ({
  probeId,
  atMs,
  isFailing: answer === 'fail',
  isScheduled,
});
const monitor = (looks: readonly Look[], workspaceId = 1): SeenMonitor => ({
  workspaceId,
  intervalMs,
  untilMs,
  looks,
});
const tallyOf = (...monitors: readonly SeenMonitor[]) => testify(1, monitors, regions);
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

/** Others that say the same from the first of these times to the last. */
const others = (answer: 'ok' | 'fail', fromMs: number, toMs: number): Look[] =>
  [2, 3].flatMap((id) => [look(id, fromMs, answer), look(id, toMs, answer)]);

t.test('a look counts up to that of the last witness', async (t) => {
  const alone = (atMs: number) =>
    tallyOf(monitor([look(1, atMs, 'fail'), ...others('ok', untilMs - 100_000, untilMs - 10)])).alone;
  t.equal(alone(untilMs - 10), 1);
  t.equal(alone(untilMs - 9), 0, 'it may be the first to know');
});

t.test('where others fail it counts from that of the first witness on', async (t) => {
  const alone = (atMs: number) =>
    tallyOf(monitor([look(1, atMs, 'ok'), ...others('fail', untilMs - 100_000, untilMs)])).alone;
  t.equal(alone(untilMs - 100_000), 1);
  t.equal(alone(untilMs - 100_001), 0, 'it may be the last to have seen it up');
  const failing = (atMs: number) =>
    tallyOf(monitor([look(1, atMs, 'fail'), ...others('ok', untilMs - 100_000, untilMs)])).alone;
  t.equal(failing(untilMs - 100_001), 1, 'where they are fine one answer proves it');
});

t.test('the middle belongs to the first interval', async (t) => {
  const again = (firstMs: number, secondMs: number) =>
    tallyOf(monitor([look(1, firstMs, 'fail'), look(1, secondMs, 'fail'), ...others('ok', untilMs - 100_000, untilMs)]))
      .again;
  t.equal(again(middleMs, middleMs + 1), 1);
  t.equal(again(middleMs - 1, middleMs), 0, 'both in the first');
  t.equal(again(middleMs + 1, middleMs + 2), 0, 'both in the second');
});

t.test('what it did not look at itself is not checked', async (t) => {
  const unseen = monitor(others('ok', untilMs - 100_000, untilMs));
  const rechecked = monitor([look(1, untilMs - 50_000, 'fail', false), ...others('ok', untilMs - 100_000, untilMs)]);
  t.same(tallyOf(unseen, rechecked), { checked: 0, alone: 0, again: 0, elsewhere: null });
});

t.test('one look is enough to have checked, and to stand alone', async (t) => {
  const wrong = monitor([look(1, untilMs - 50_000, 'fail'), ...others('ok', untilMs - 100_000, untilMs)]);
  t.match(tallyOf(wrong), { checked: 1, alone: 1, again: 0 });
});

t.test('that it is up two witnesses of one region may say; that it is down they may not', async (t) => {
  const twoOfUs = new Map([
    [1, 'eu'],
    [2, 'us'],
    [3, 'us'],
  ]);
  const alone = (own: 'ok' | 'fail', answer: 'ok' | 'fail') =>
    testify(1, [monitor([look(1, untilMs - 50_000, own), ...others(answer, untilMs - 100_000, untilMs)])], twoOfUs)
      .alone;
  t.equal(alone('fail', 'ok'), 1);
  t.equal(alone('ok', 'fail'), 0);
});

t.test('two monitors of the one that it is judged by say what is said of all but the worst workspace', async (t) => {
  const at = (own: 'ok' | 'fail', workspaceId: number) =>
    monitor(
      [look(1, untilMs - 90_000, own), look(1, untilMs - 30_000, own), ...others('ok', untilMs - 100_000, untilMs)],
      workspaceId,
    );
  // Workspace 7 comes first and is wrong once, 8 twice, 9 never.
  const testimony = tallyOf(at('fail', 7), at('ok', 7), at('fail', 8), at('fail', 8), at('ok', 9), at('ok', 9));
  t.same(testimony, { checked: 6, alone: 3, again: 3, elsewhere: { checked: 4, alone: 1, again: 1 } });
  t.same(
    tallyOf(at('fail', 8), at('fail', 8), at('fail', 7), at('ok', 9)).elsewhere,
    { checked: 2, alone: 1, again: 1 },
    'whatever the order',
  );
  t.same(tallyOf(at('ok', 7), at('ok', 7), at('fail', 8)).elsewhere, { checked: 2, alone: 0, again: 0 });
});

t.test('alone in the first interval on one and in the second on another is the worst on both', async (t) => {
  const at = (atMs: number, workspaceId: number) =>
    monitor([look(1, atMs, 'fail'), ...others('ok', untilMs - 100_000, untilMs)], workspaceId);
  const both = (workspaceId: number) =>
    monitor(
      [
        look(1, untilMs - 90_000, 'fail'),
        look(1, untilMs - 30_000, 'fail'),
        ...others('ok', untilMs - 100_000, untilMs),
      ],
      workspaceId,
    );
  // Workspace 8 is wrong three times, though never in both intervals; 7 twice and in both.
  const { elsewhere } = tallyOf(
    both(7),
    both(7),
    at(untilMs - 90_000, 8),
    at(untilMs - 30_000, 8),
    at(untilMs - 90_000, 8),
  );
  t.same(elsewhere, { checked: 2, alone: 2, again: 2 });
});

const tally = (checked: number, alone: number, again = alone): Tally => ({ checked, alone, again });

t.test('half of what is elsewhere decides', async (t) => {
  const isGuilty = (checked: number, alone: number) => isUnfit({ ...tally(20, 20), elsewhere: tally(checked, alone) });
  t.ok(isGuilty(4, 2));
  t.notOk(isGuilty(5, 2));
  t.ok(isGuilty(5, 3));
  t.notOk(isGuilty(1, 0));
  t.ok(isGuilty(1, 1));
});

t.test('clean is who is alone on fewer than five, or on less than a quarter, of some', async (t) => {
  t.notOk(isClean(tally(0, 0)));
  t.ok(isClean(tally(1, 0)));
  t.ok(isClean(tally(1, 1)));
  t.ok(isClean(tally(4, 4)));
  t.notOk(isClean(tally(5, 5)));
  t.notOk(isClean(tally(20, 5)));
  t.ok(isClean(tally(21, 5)));
});

t.test('nobody is judged by nothing', async (t) => {
  t.same(tallyOf(), { checked: 0, alone: 0, again: 0, elsewhere: null });
  t.same(tallyOf(...times(3, monitor([]))), { checked: 0, alone: 0, again: 0, elsewhere: null });
});
