import t from 'tap';
import { availabilityOf, noTime } from '../../statistics/index.ts';
import type { AvailabilityReport } from '../../statistics/index.ts';
import type { Correction } from '../report.ts';
import { canonicalJson } from './canonical.ts';
import { entryOfDay } from './closing/plan.ts';
import { correctionEntry, dayEntry, daySummary, saysTheSame } from './entry.ts';
import type { DaySummary } from './entry.ts';

/* What an entry says is signed and kept for ever: its text is written out here, byte by byte. */

const fromMs = Date.parse('2026-03-01T00:00:00Z');
const toMs = Date.parse('2026-03-02T00:00:00Z');
const time = {
  upMs: 1,
  degradedMs: 2,
  downMs: 3,
  timeoutMs: 4,
  unknownMs: 5,
  maintenanceMs: 6,
  pausedMs: 7,
  excludedMs: 8,
};
const summary: DaySummary = { day: '2026-03-01', fromMs, toMs, time, outages: 9 };
const place = { monitorId: 11, chain: 2, seq: 31, atMs: toMs + 5_000 };

const timeText =
  '"degraded_ms":2,"down_ms":3,"excluded_ms":8,"from":"2026-03-01T00:00:00.000Z","kind":"KIND","maintenance_ms":6,"monitor_id":11,' +
  '"outages":9,"paused_ms":7,"seq":31,"timeout_ms":4,"to":"2026-03-02T00:00:00.000Z","unknown_ms":5,"up_ms":1';
const textOf = (kind: string) =>
  `{"at":"2026-03-02T00:00:05.000Z","chain":2,"day":"2026-03-01",${timeText.replace('KIND', kind)}}`;

t.test('the text of a day and of its revision', async (t) => {
  t.equal(dayEntry('day', summary, place), textOf('day'));
  t.equal(dayEntry('revision', summary, place), textOf('revision'));
});

t.test('the text of a correction', async (t) => {
  const correction: Correction = {
    id: 5,
    startedMs: fromMs,
    endedMs: fromMs + 1,
    countedAs: 'EXCLUDED',
    reason: 'why',
    by: 'Somebody',
    userId: null,
    createdMs: toMs,
    before: time,
    after: { ...time, upMs: 10 },
  };
  const figures =
    '"degraded_ms":2,"down_ms":3,"excluded_ms":8,"maintenance_ms":6,"paused_ms":7,"timeout_ms":4,"unknown_ms":5';
  t.equal(
    correctionEntry(correction, place),
    `{"after":{${figures},"up_ms":10},"at":"2026-03-02T00:00:05.000Z","before":{${figures},"up_ms":1},"chain":2,"correction_id":5,` +
      '"counted_as":"EXCLUDED","ended_at":"2026-03-01T00:00:00.001Z","kind":"correction","monitor_id":11,"reason":"why","seq":31,' +
      '"started_at":"2026-03-01T00:00:00.000Z","user":"Somebody","user_id":null}',
  );
});

t.test('an entry says the same when all of its figures are, whatever else it says', async (t) => {
  t.ok(saysTheSame(textOf('day'), summary));
  t.ok(saysTheSame(dayEntry('revision', summary, { ...place, seq: 99, atMs: 0 }), summary));
  for (const other of [
    { ...summary, day: '2026-03-02' },
    { ...summary, outages: 8 },
    { ...summary, toMs: toMs - 1 },
    { ...summary, time: { ...time, excludedMs: 9 } },
  ])
    t.notOk(saysTheSame(textOf('day'), other));
  for (const strange of ['null', '7', '"text"', '{}', '[]']) t.notOk(saysTheSame(strange, summary), strange);
});

t.test('a summary has what was measured and the outages that began on the day', async (t) => {
  const measured = availabilityOf({ ...noTime(), upMs: 70, downMs: 30 });
  const availability = availabilityOf({ ...noTime(), upMs: 100 });
  const days = [{ ...availability, day: '2026-03-01', fromMs, toMs, outages: 4 }];
  const report = { measured, availability, days } as unknown as AvailabilityReport;
  t.same(daySummary('2026-03-01', { fromMs, toMs }, report), {
    day: '2026-03-01',
    fromMs,
    toMs,
    time: measured,
    outages: 4,
  });
  t.equal(daySummary('2026-03-01', { fromMs, toMs }, { ...report, days: [] }).outages, 0);
});

t.test('a day is closed once; it is revised where the ledger says something else', async (t) => {
  const monitor = (lastEntry: string | null) => ({ id: 11, chain: 2, lastEntry });
  const nowMs = place.atMs;
  const closed = entryOfDay('close', monitor(null), summary, nowMs);
  t.match(closed, { monitorId: 11, chain: 2, kind: 'day', day: '2026-03-01' });
  t.equal(closed?.text(31), textOf('day'));
  t.equal(entryOfDay('close', monitor(textOf('day')), { ...summary, outages: 0 }, nowMs), null, 'closed already');
  t.equal(entryOfDay('settle', monitor(null), summary, nowMs), null, 'never closed');
  t.equal(entryOfDay('settle', monitor(textOf('day')), summary, nowMs), null, 'the same');
  const revised = entryOfDay('settle', monitor(textOf('day').replace('"outages":9', '"outages":1')), summary, nowMs);
  t.match(revised, { monitorId: 11, chain: 2, kind: 'revision', day: '2026-03-01' });
  t.equal(revised?.text(31), textOf('revision'));
});

t.test('keys are in order whatever order they were given in, and at every depth', async (t) => {
  const text = '{"a":[{"x":1,"y":null},true],"b":"ä","c":{"d":-1,"e":{}}}';
  t.equal(canonicalJson({ c: { e: {}, d: -1 }, b: 'ä', a: [{ y: null, x: 1 }, true] }), text);
  t.equal(canonicalJson({ a: [{ x: 1, y: null }, true], b: 'ä', c: { d: -1, e: {} } }), text);
  t.equal(canonicalJson({ 3: 0, 20: 0, b: 0, a: 0, B: 0 }), '{"20":0,"3":0,"B":0,"a":0,"b":0}');
  t.throws(() => canonicalJson({ a: 0.5 }), /0\.5 is no whole number/);
  t.throws(() => canonicalJson([2 ** 53]), RangeError);
});
