import t from 'tap';
import { countedTime } from './uptime.ts';
import type { UptimeInputs } from './uptime.ts';

type Range = UptimeInputs['ranges'][number];

const range = (startedUs: number, endedUs: number | null, status: Range['status'] = 'UP'): Range => ({
  startedUs,
  endedUs,
  status,
});
const window = { pauses: [], maintenance: [], windowFromUs: 0, windowToUs: 100, openUntilUs: 100 };
const spansOf = (inputs: Partial<UptimeInputs>) =>
  countedTime({ ranges: [], ...window, ...inputs }).map(({ fromUs, toUs, counts, range }) => [
    fromUs,
    toUs,
    counts,
    range,
  ]);

t.test('an empty window has no spans, and one that nothing covers has one', async (t) => {
  t.same(spansOf({ windowToUs: 0 }), []);
  t.same(spansOf({}), [[0, 100, 'UNKNOWN', null]]);
});

t.test('nothing is empty where several things begin and end at once', async (t) => {
  const inputs = {
    ranges: [range(0, 50), range(50, 100, 'DOWN')],
    pauses: [{ fromUs: 50, toUs: 60 }],
    maintenance: [{ fromUs: 60, toUs: 100 }],
  };
  t.same(spansOf(inputs), [
    [0, 50, 'UP', 0],
    [50, 60, 'PAUSED', 1],
    [60, 100, 'MAINTENANCE', 1],
  ]);
});

t.test('what counts as one thing and is one range is one span', async (t) => {
  const pauses = [
    { fromUs: 10, toUs: 40 },
    { fromUs: 20, toUs: 30 },
    { fromUs: 40, toUs: 50 },
  ];
  t.same(spansOf({ pauses }), [
    [0, 10, 'UNKNOWN', null],
    [10, 50, 'PAUSED', null],
    [50, 100, 'UNKNOWN', null],
  ]);
  t.same(spansOf({ ranges: [range(0, 20), range(20, 100)] }), [
    [0, 20, 'UP', 0],
    [20, 100, 'UP', 1],
  ]);
  t.same(
    spansOf({ ranges: [range(0, 100)], maintenance: [{ fromUs: 10, toUs: 20 }], pauses: [{ fromUs: 10, toUs: 20 }] }),
    [
      [0, 10, 'UP', 0],
      [10, 20, 'PAUSED', 0],
      [20, 100, 'UP', 0],
    ],
  );
});

t.test('ranges may be given in any order, also those that touch one another or the window', async (t) => {
  const ranges = [range(50, 100, 'DOWN'), range(0, 50), range(-50, 0, 'TIMEOUT'), range(100, null, 'DEGRADED')];
  t.same(spansOf({ ranges }), [
    [0, 50, 'UP', 1],
    [50, 100, 'DOWN', 0],
  ]);
});

t.test('an open range lasts as far as is known, a pause and a maintenance to the end of the window', async (t) => {
  t.same(spansOf({ ranges: [range(10, null)], openUntilUs: 40 }), [
    [0, 10, 'UNKNOWN', null],
    [10, 40, 'UP', 0],
    [40, 100, 'UNKNOWN', null],
  ]);
  t.same(spansOf({ pauses: [{ fromUs: 30, toUs: null }], openUntilUs: 40 }), [
    [0, 30, 'UNKNOWN', null],
    [30, 100, 'PAUSED', null],
  ]);
  t.same(spansOf({ maintenance: [{ fromUs: 30, toUs: null }], openUntilUs: 40 }), [
    [0, 30, 'UNKNOWN', null],
    [30, 100, 'MAINTENANCE', null],
  ]);
});
