import t from 'tap';
import { dayEdges, windowEnd, worstOf } from './uptime.ts';

const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString();

t.test('a window is divided at the midnights in it, and its last day is whole', (t) => {
  t.same(dayEdges(at('2026-03-01T13:00:00Z'), at('2026-03-02T13:00:00Z')).map(iso), [
    '2026-03-01T13:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
    '2026-03-03T00:00:00.000Z',
  ]);
  t.same(
    dayEdges(at('2026-03-01T00:00:00Z'), at('2026-03-02T00:00:00Z')).map(iso),
    ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    'no day is empty',
  );
  t.end();
});

t.test('a window ends where evaluation is, or now where it stands still', (t) => {
  t.equal(windowEnd([], 100_000, 60_000), 100_000, 'without any round');
  t.equal(windowEnd([95_000.7], 100_000, 60_000), 95_000);
  t.equal(windowEnd([95_000, 97_000], 100_000, 60_000), 97_000);
  t.equal(windowEnd([95_000, 39_000], 100_000, 60_000), 100_000);
  t.equal(windowEnd([101_000], 100_000, 60_000), 100_000, 'never in the future');
  t.end();
});

t.test('the worst have the lowest uptime, and downtime at all', (t) => {
  const monitor = (id: number, uptime: number | null, downtimeMs: number) => ({ id, uptime, downtimeMs });
  const all = [monitor(1, 1, 0), monitor(2, 0.5, 10), monitor(3, 0, 5), monitor(4, 0.5, 20), monitor(5, null, 0)];
  t.same(
    worstOf(all, 3).map(({ id }) => id),
    [3, 4, 2],
  );
  t.same(
    worstOf(all, 1).map(({ id }) => id),
    [3],
  );
  t.end();
});
