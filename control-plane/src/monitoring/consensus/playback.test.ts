import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { ranges, timeline } from './batch.ts';
import { Playback } from './playback.ts';
import type { PlaybackOptions } from './playback.ts';
import { arbitraryHistory } from './test-histories.ts';
import { at, inputsOf, result, three } from './test-support.ts';
import type { MonitorInputs, StoredResult } from './types.ts';

const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500);

const playback = (more: Partial<PlaybackOptions> = {}): Playback =>
  new Playback({ inputs: inputsOf(), fromUs: at(-10), before: [], votesBefore: new Map(), lingerUs: 250_000, ...more });

function played(playback: Playback, rows: readonly StoredResult[], untilS: number): Playback {
  playback.add(rows);
  for (const _ of playback.finish(at(untilS)));
  return playback;
}

/** The same in readings of so many seconds each. */
function playedInParts(playback: Playback, rows: readonly StoredResult[], partS: number, untilS: number): Playback {
  for (let s = 0; s < untilS; s += partS) {
    playback.add(rows.filter((row) => row.eUs >= at(s) && row.eUs < at(s + partS)));
    for (const _ of playback.playUntil(at(s + partS)));
  }
  return played(playback, [], untilS);
}

const told = (playback: Playback) =>
  playback.told.map(({ toldUs, from, to, sinceUs }) => [(toldUs - at(0)) / 1e6, from, to, (sinceUs - at(0)) / 1e6]);

void t.test('an outage that is seen before anybody holds a vote is told as DOWN alone', async (t) => {
  const failing = [200, 200.6, 201.2].flatMap((s, index) => [
    result(index + 1, s, 'fail'),
    result(index + 1, s + 5.2, 'fail'),
  ]);
  const [rules] = inputsOf().configurations;
  if (rules === undefined) return;
  const ok = three(10, 'ok');
  const seen = (inputs: Partial<MonitorInputs>, before: readonly StoredResult[] = []): unknown[] =>
    told(played(playback({ inputs: inputsOf(inputs) }), [...before, ...failing], 230))
      .filter(([toldS]) => Number(toldS) > 200)
      .map(([, ...rest]) => rest);
  const down = (from: string): unknown[] => [[from, 'DOWN', 200.6]];
  t.same(seen({ createdUs: at(195) }), down('UNKNOWN'), 'new');
  t.same(seen({ pauses: [{ fromUs: at(50), toUs: at(195) }] }, ok), down('UNKNOWN'), 'resumed');
  t.same(seen({ resetUs: at(195) }, ok), down('UNKNOWN'), 'reset');
  const changed = { ...rules, fromUs: at(195), probeRevision: 2 };
  const anew = failing.map((row) => ({ ...row, probeRevision: 2 }));
  const readdressed = played(
    playback({ inputs: inputsOf({ configurations: [rules, changed] }) }),
    [...ok, ...anew],
    230,
  );
  t.same(told(readdressed).at(-1)?.slice(1), ['UNKNOWN', 'DOWN', 200.6], 're-addressed');
  t.notOk(readdressed.told.some(({ to }) => to === 'PARTIAL'));
  t.same(seen({}, three(10, 'ok', { freshS: 100 })), down('UNKNOWN'), 'after silence');
});

void t.test('whatever the results and however they are read, the ranges are those of the batch form', async (t) => {
  let restarts = 0;
  fc.assert(
    fc.property(arbitraryHistory, fc.integer({ min: 5, max: 900 }), fc.boolean(), (history, sliceS, isSmall) => {
      const { inputs, arrivals } = history;
      const rows = arrivals.map(({ row }) => row).filter((row) => row.receivedUs < at(2_000));
      const limits = isSmall ? { limits: { keepUs: 20_000_000, compactFrom: 4 } } : {};
      const playing = playedInParts(playback({ inputs, ...limits }), rows, sliceS, 1_000);
      const untilUs = at(1_000) + 1;
      const expected = ranges(timeline(inputs, rows, at(-10), untilUs).segments).map(
        ({ fromUs, toUs, status }) => `${status} ${fromUs} ${toUs >= untilUs ? 'open' : toUs}`,
      );
      const found = playing
        .ranges()
        .map(({ startedUs, endedUs, status }) => `${status} ${startedUs} ${endedUs ?? 'open'}`);
      if (found.join() !== expected.join()) throw new Error(`found    ${found.join()}\nexpected ${expected.join()}`);
      for (const [index, one] of playing.told.entries()) {
        const before = playing.told[index - 1];
        if (one.from !== (before?.to ?? 'UNKNOWN'))
          throw new Error('what is told does not continue what was told before');
        if (before !== undefined && before.toldUs > one.toldUs) throw new Error('told out of order');
        if (one.sinceUs > one.toldUs) throw new Error('told before it was');
      }
      if (rows.some((row, index) => index > 0 && row.receivedUs - row.eUs > 30_000_000)) restarts += 1;
    }),
    { numRuns },
  );
  t.ok(restarts > numRuns / 10, `histories with late results: ${restarts}`);
});

void t.test('how the results are cut into readings changes nothing of what is told', async () => {
  fc.assert(
    fc.property(arbitraryHistory, fc.integer({ min: 5, max: 900 }), (history, sliceS) => {
      const rows = history.arrivals.map(({ row }) => row).filter((row) => row.receivedUs < at(2_000));
      const whole = played(playback({ inputs: history.inputs }), rows, 1_000);
      const cut = playedInParts(playback({ inputs: history.inputs }), rows, sliceS, 1_000);
      if (JSON.stringify(told(whole)) !== JSON.stringify(told(cut))) {
        throw new Error(`whole ${JSON.stringify(told(whole))}\ncut   ${JSON.stringify(told(cut))}`);
      }
    }),
    { numRuns },
  );
});

void t.test('a change is told when the results that say so were received, not when they were measured', async (t) => {
  const late = (rows: StoredResult[], seconds: number) =>
    rows.map((row) => ({ ...row, receivedUs: row.eUs + seconds * 1_000_000 }));
  const rows = [
    ...three(0, 'ok'),
    ...late([...three(60, 'fail', { error: 20 }), ...three(66, 'fail', { error: 20 })], 10),
  ];
  const playing = played(playback(), [...rows, ...three(90, 'ok'), ...three(95, 'ok')], 100);
  t.same(told(playing), [
    [0.55, 'UNKNOWN', 'UP', 0],
    [76.25, 'UP', 'DOWN', 60],
    [90.55, 'DOWN', 'UP', 90],
  ]);
  t.equal(playing.told[1]?.evidence.rule, 'quorum_failing');
});

void t.test('a first failure makes a round of its own, other results wait for company', async (t) => {
  const inputs = inputsOf({
    configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 1, policy: 'any', intervalS: 60 }],
  });
  const rows = [...three(0, 'ok'), result(1, 60, 'fail', { error: 20 }), result(2, 60.1, 'ok')];
  const playing = played(playback({ inputs }), rows, 61);
  t.same(told(playing).at(-1), [60.3, 'UP', 'DOWN', 60]);
});

void t.test('votes end without results, and changes that wait are told in their time', async (t) => {
  const playing = played(playback(), [result(1, 0, 'ok')], 300);
  t.same(told(playing), [
    [0.55, 'UNKNOWN', 'UP', 0],
    [160, 'UP', 'UNKNOWN', 160],
  ]);
  const rows = [...three(0, 'ok'), ...three(60, 'fail'), ...three(65, 'fail'), result(1, 90, 'ok')];
  const waiting = told(
    played(playback({ inputs: inputsOf({ assignments: inputsOf().assignments.slice(0, 1) }) }), rows, 200),
  );
  t.same(waiting.at(-1)?.slice(1), ['DOWN', 'UP', 90]);
  t.ok(Math.abs(Number(waiting.at(-1)?.[0]) - 150.55) <= 1, 'a recovery that nobody confirms is told after a minute');
});

void t.test('it begins with what was voted before it', async (t) => {
  const before = [
    ...three(-200, 'fail'),
    ...three(-140, 'timeout'),
    ...three(-80, 'timeout'),
    ...three(-20, 'timeout'),
  ];
  const options = {
    inputs: inputsOf({
      createdUs: at(-10_000),
      assignments: inputsOf().assignments.map((row) => ({ ...row, fromUs: at(-10_000) })),
    }),
  };
  const votesBefore = new Map([1, 2, 3].map((voter) => [voter, 'DOWN'] as const));
  const playing = played(playback({ ...options, before, votesBefore }), three(40, 'timeout'), 60);
  t.same(told(playing), [], 'that it lasts is no news');
  t.match(playing.ranges(), [{ status: 'DOWN', startedUs: at(-10), endedUs: null }]);
});

void t.test('what is left out was never there', async (t) => {
  const admit = (row: StoredResult) => (row.voter === 1 ? undefined : { ...row, freshS: 30 });
  const playing = played(playback({ admit }), [...three(0, 'ok'), result(1, 20, 'ok')], 100);
  t.same(told(playing), [
    [0.55, 'UNKNOWN', 'UP', 0],
    [30, 'UP', 'UNKNOWN', 30],
  ]);
});
