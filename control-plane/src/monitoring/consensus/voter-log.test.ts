import t from 'tap';
import { PreparedInputs } from './prepared-inputs.ts';
import { at, inputsOf, result } from './test-support.ts';
import type { MonitorInputs, RangeStatus, StoredRange, StoredResult } from './types.ts';
import { VoterLog } from './voter-log.ts';

/* The rows of one voter: what they say, and what may be let go of them. Seconds count from the origin. */

const prepared = (changes: Partial<MonitorInputs> = {}) => new PreparedInputs(inputsOf(changes));
const inputs = prepared();

function logOf(...rows: readonly StoredResult[]): VoterLog {
  const log = new VoterLog(1);
  for (const row of rows) log.rows.insert(row);
  return log;
}

const secondsOf = (us: number): number => (us - at(0)) / 1_000_000;
const rowsOf = (log: VoterLog): number[] => [...log.rows].map(({ eUs }) => secondsOf(eUs));
const told = (log: VoterLog, given = inputs): string[] =>
  log
    .walk(given)
    .pieces.map(
      ({ fromUs, toUs, vote, sinceUs }) =>
        `${vote} ${secondsOf(fromUs)}–${secondsOf(toUs)} since ${secondsOf(sinceUs)}`,
    );
const stored = (startedS: number, endedS: number | null, status: RangeStatus): StoredRange => ({
  voter: 1,
  startedUs: at(startedS),
  endedUs: endedS === null ? null : at(endedS),
  status,
});

t.test('a row says something until the next one, its freshness or the end of the right to vote', async (t) => {
  t.same(told(logOf(result(1, 0, 'ok'), result(1, 60, 'slow'), result(1, 300, 'ok'))), [
    'UP 0–60 since 0',
    'DEGRADED 60–220 since 60',
    'UP 300–460 since 300',
  ]);
  t.same(told(logOf(result(1, 0, 'ok')), prepared({ pauses: [{ fromUs: at(50), toUs: null }] })), ['UP 0–50 since 0']);
  t.same(told(logOf(result(1, 0, 'ok', { freshS: 0 }))), [], 'nothing is empty');
  t.same(told(logOf()), []);
  t.equal(logOf().walk(inputs).final, null);
});

t.test('neighbours of one vote share their beginning, unless there was a break between them', async (t) => {
  t.same(told(logOf(result(1, 0, 'ok'), result(1, 160, 'ok'), result(1, 320.000001, 'ok'))), [
    'UP 0–160 since 0',
    'UP 160–320 since 0',
    'UP 320.000001–480.000001 since 320.000001',
  ]);
});

t.test('a confirmed streak votes from its first failure on, what came before it stays', async (t) => {
  t.same(told(logOf(result(1, 0, 'ok'), result(1, 60, 'timeout'), result(1, 120, 'fail'), result(1, 180, 'fail'))), [
    'UP 0–60 since 0',
    'TIMEOUT 60–120 since 60',
    'DOWN 120–180 since 120',
    'DOWN 180–340 since 120',
  ]);
  const two = [result(1, 0, 'fail'), result(1, 10, 'ok'), result(1, 20, 'fail'), result(1, 30, 'fail')];
  t.same(told(logOf(...two)), ['UP 10–20 since 10', 'DOWN 20–30 since 20', 'DOWN 30–190 since 20']);
  const between = [result(1, 0, 'fail'), result(1, 10, 'probe_error'), result(1, 20, 'fail')];
  t.same(told(logOf(...between)), ['DOWN 0–10 since 0', 'DOWN 20–180 since 20'], 'its own error votes for nothing');
});

t.test('the state before a time is of the rows that count and came before it', async (t) => {
  const log = logOf(result(1, 0, 'ok'), result(1, 60, 'slow', { probeRevision: 0 }), result(1, 120, 'warn'));
  t.equal(log.stateBefore(at(0), inputs), null);
  t.equal(log.stateBefore(at(0.000001), inputs)?.vote, 'UP');
  t.equal(log.stateBefore(at(120), inputs)?.vote, 'UP', 'another revision does not count');
  t.equal(log.stateBefore(Number.POSITIVE_INFINITY, inputs)?.vote, 'WARNING');
  log.compact(inputs, at(120));
  t.equal(log.stateBefore(at(0), inputs)?.vote, 'WARNING', 'before all rows that are left there is the base');
});

t.test('rows are let go up to the last settled one that is old enough', async (t) => {
  const compacted = (keepFromS: number, ...rows: readonly StoredResult[]) => {
    const log = logOf(...rows);
    log.compact(inputs, at(keepFromS));
    return [secondsOf(log.baseUs), ...rowsOf(log)];
  };
  const none = Number.NEGATIVE_INFINITY;
  const up = [result(1, 0, 'ok'), result(1, 60, 'ok'), result(1, 120, 'ok')];
  t.same(compacted(-1, ...up), [none, 0, 60, 120]);
  t.same(compacted(59.999999, ...up), [0, 60, 120]);
  t.same(compacted(60, ...up), [60, 120]);
  t.same(compacted(1_000, ...up), [120]);
  const waiting = [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 300, 'ok')];
  t.same(compacted(100, ...waiting), [0, 60, 300], 'a failure that waits for its confirmation is kept');
  const confirmed = [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 120, 'fail')];
  t.same(compacted(200, ...confirmed), [120]);
  const log = logOf(...up);
  log.compact(inputs, at(60));
  log.compact(inputs, at(30));
  t.same([secondsOf(log.baseUs), ...rowsOf(log)], [60, 120], 'a base does not go back');
});

t.test('what was let go is remembered by the base: the vote, since when, and the streak', async (t) => {
  const rows = [result(1, 0, 'timeout'), result(1, 60, 'fail'), result(1, 120, 'fail'), result(1, 180, 'fail')];
  const log = logOf(...rows);
  log.compact(inputs, at(120));
  t.same(told(log), ['DOWN 120–180 since 60', 'DOWN 180–340 since 60']);
  t.match(log.base?.state.streak, { startUs: at(0), firstFailUs: at(60), count: 3, confirmed: true });
  const good = logOf(result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 70, 'fail'));
  good.compact(inputs, at(0));
  t.same(told(good), ['UP 0–60 since 0', 'DOWN 60–70 since 60', 'DOWN 70–230 since 60']);
});

t.test('a restore begins with the last settled row of before the horizon', async (t) => {
  const anchored = (horizonS: number, ...rows: readonly StoredResult[]) => {
    const log = logOf(...rows);
    log.anchor(inputs, at(horizonS), undefined, []);
    return [secondsOf(log.baseUs), ...rowsOf(log)];
  };
  const up = [result(1, 0, 'ok'), result(1, 60, 'ok'), result(1, 120, 'ok')];
  t.same(anchored(60, ...up), [0, 60, 120]);
  t.same(anchored(60.000001, ...up), [60, 120]);
  t.same(anchored(0, ...up), [Number.NEGATIVE_INFINITY, 0, 60, 120]);
});

t.test('a stored range tells since when the base votes so, if it is the one that holds there', async (t) => {
  const since = (...ranges: readonly StoredRange[]) => {
    const log = logOf(result(1, 0, 'ok'), result(1, 60, 'ok'));
    log.anchor(inputs, at(61), undefined, ranges);
    return log.base === null ? undefined : secondsOf(log.base.sinceUs);
  };
  t.equal(since(), 0);
  t.equal(since(stored(-100, null, 'UP')), -100);
  t.equal(since(stored(-100, 60.000001, 'UP')), -100);
  t.equal(since(stored(-100, 60, 'UP')), 0, 'one that ended is another');
  t.equal(since(stored(-100, null, 'DOWN')), 0, 'another status as well');
  t.equal(since(stored(60, null, 'UP')), 0, 'the earlier of both');
  t.equal(since(stored(61, null, 'UP')), 0, 'one that began later does not hold there');
  t.equal(since(stored(-100, -50, 'UP'), stored(-50, null, 'UP')), -50);
  const silent = logOf(result(1, 0, 'probe_error'));
  silent.anchor(inputs, at(1), undefined, [stored(-100, null, 'UP')]);
  t.equal(silent.base?.sinceUs, at(0), 'who says nothing has no range');
});

t.test('a fail of before what is known is told by the stored vote', async (t) => {
  const anchored = (voted: 'DOWN' | 'TIMEOUT' | undefined, ...rows: readonly StoredResult[]) => {
    const log = logOf(...rows);
    log.anchor(inputs, at(61), voted, []);
    return log;
  };
  const timeouts = [result(1, 0, 'timeout'), result(1, 60, 'timeout'), result(1, 120, 'timeout')];
  t.equal(anchored('TIMEOUT', ...timeouts).base?.state.vote, 'TIMEOUT');
  t.equal(anchored(undefined, ...timeouts).base?.state.vote, 'TIMEOUT');
  const down = anchored('DOWN', ...timeouts);
  t.match(down.base, {
    state: { vote: 'DOWN', streak: { firstFailUs: Number.NEGATIVE_INFINITY, startUs: at(0) } },
    sinceUs: at(0),
  });
  t.same(told(down), ['DOWN 60–120 since 0', 'DOWN 120–280 since 0']);
  const failed = anchored('DOWN', result(1, 0, 'timeout'), result(1, 60, 'fail'));
  t.equal(failed.base?.state.streak?.firstFailUs, at(60), 'it is known');
  const unconfirmed = anchored('DOWN', result(1, 0, 'ok'), result(1, 60, 'timeout'));
  t.equal(unconfirmed.base?.state.vote, 'UP');
  const silent = anchored('DOWN', ...timeouts.slice(0, 2), result(1, 60.5, 'probe_error'));
  t.equal(silent.base?.state.vote, null, 'who says nothing now does not say DOWN');
  t.equal(silent.base?.state.streak?.firstFailUs, Number.NEGATIVE_INFINITY);
  t.equal(anchored('DOWN').base, null);
});

t.test('a base ends where the changed inputs end it', async (t) => {
  const ends = (changes: Partial<MonitorInputs>) => {
    const log = logOf(result(1, 0, 'ok'));
    log.compact(inputs, at(0));
    log.reconfigure(prepared(changes));
    return log.base === null ? undefined : secondsOf(log.base.state.endsUs);
  };
  t.equal(ends({}), 160);
  t.equal(ends({ pauses: [{ fromUs: at(70), toUs: null }] }), 70);
  const rules = { confirmations: 2, policy: 'majority', fromUs: at(0), probeRevision: 1 } as const;
  t.equal(ends({ configurations: [rules, { ...rules, fromUs: at(80), probeRevision: 2 }] }), 80);
  const log = logOf();
  log.reconfigure(inputs);
  t.equal(log.base, null);
});
