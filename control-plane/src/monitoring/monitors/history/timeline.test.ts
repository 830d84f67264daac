import t from 'tap';
import { mergedEntries, timelineSource } from './timeline.ts';
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

void t.test('neighbours that look the same become one entry with their count and mean time', async (t) => {
  const entries = mergedEntries([
    row(0, { responseTimeMs: 1 }),
    row(1_000, { responseTimeMs: 2 }),
    row(2_000, { responseTimeMs: null }),
    row(3_000, { status: 'transient', responseTimeMs: null }),
    row(4_000),
    row(5_000, { isManual: true }),
    row(6_000, { isManual: true, probeId: 2 }),
  ]);
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
  const entries = mergedEntries(rows);
  t.equal(
    entries.reduce((sum, entry) => sum + entry.count, 0),
    1_000,
  );
  t.notOk(entries.some((entry, index) => index > 0 && entries[index - 1]?.status === entry.status));
});

void t.test('a timeline is of the consensus only with two probes and none named', async (t) => {
  t.equal(timelineSource(0, undefined), 'results');
  t.equal(timelineSource(1, undefined), 'results');
  t.equal(timelineSource(2, undefined), 'consensus');
  t.equal(timelineSource(3, 7), 'results');
});
