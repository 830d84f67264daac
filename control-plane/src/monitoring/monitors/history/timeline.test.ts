import t from 'tap';
import { TimelineBuilder, timelineSource } from './timeline.ts';
import type { TimelineRow } from './timeline.ts';

const row = (atMs: number, more: Partial<TimelineRow> = {}): TimelineRow => ({
  atMs,
  status: 'UP',
  responseTimeMs: 10,
  probeId: 1,
  isManual: false,
  isFallback: false,
  ...more,
});

const timelineOf = (rows: readonly TimelineRow[], ...limits: number[]) => {
  const builder = new TimelineBuilder(...limits);
  for (const each of rows) builder.add(each);
  return builder.timeline();
};

void t.test('neighbours that look the same become one entry with their count and mean time', async (t) => {
  const { entries, isMerged, fromMs } = timelineOf(
    [
      row(0, { responseTimeMs: 1 }),
      row(1_000, { responseTimeMs: 2 }),
      row(2_000, { responseTimeMs: null }),
      row(3_000, { status: 'transient', responseTimeMs: null }),
      row(4_000),
      row(5_000, { isManual: true }),
      row(6_000, { isManual: true, probeId: 2 }),
    ],
    3,
  );
  t.ok(isMerged);
  t.equal(fromMs, undefined);
  t.same(
    entries.map((entry) => [
      entry.started_at.slice(17, 19),
      entry.ended_at?.slice(17, 19),
      entry.status,
      entry.count,
      entry.response_time_ms,
    ]),
    [
      ['00', '02', 'UP', 3, 1.5],
      ['03', '03', 'transient', 1, null],
      ['04', '04', 'UP', 1, 10],
      ['05', '05', 'UP', 1, 10],
      ['06', '06', 'UP', 1, 10],
    ],
  );
});

void t.test('every result is in exactly one entry', async (t) => {
  const rows = Array.from({ length: 1_000 }, (_, index) => row(index, { status: index % 7 < 3 ? 'UP' : 'DOWN' }));
  const { entries } = timelineOf(rows, 0);
  t.equal(
    entries.reduce((sum, entry) => sum + entry.count, 0),
    1_000,
  );
  t.notOk(entries.some((entry, index) => index > 0 && entries[index - 1]?.status === entry.status));
});

void t.test('a timeline is merged only when it has more results than are shown one by one', async (t) => {
  const rows = Array.from({ length: 5 }, (_, index) => row(index));
  t.match(timelineOf(rows, 5), { isMerged: false, entries: { length: 5 }, fromMs: undefined });
  t.match(timelineOf(rows, 4), { isMerged: true, entries: { length: 1 } });
  t.match(timelineOf([], 4), { isMerged: false, entries: { length: 0 } });
});

void t.test('the oldest entries are left out when there are too many, and it says where it begins then', async (t) => {
  const rows = Array.from({ length: 1_000 }, (_, index) => row(index * 1_000, { probeId: index }));
  for (const limits of [
    [0, 300],
    [0, 999],
    [2_000, 300],
  ]) {
    const { entries, fromMs } = timelineOf(rows, ...limits);
    const most = limits[1] ?? 0;
    t.equal(entries.length, most);
    t.equal(entries.at(-1)?.probe_id, 999);
    t.equal(entries[0]?.probe_id, 1_000 - most);
    t.equal(fromMs, (1_000 - most) * 1_000);
  }
  t.equal(timelineOf(rows, 0, 1_000).fromMs, undefined);
});

void t.test('a timeline is of the consensus only with two probes and none named', async (t) => {
  t.equal(timelineSource(0, undefined), 'results');
  t.equal(timelineSource(1, undefined), 'results');
  t.equal(timelineSource(2, undefined), 'consensus');
  t.equal(timelineSource(3, 7), 'results');
});
