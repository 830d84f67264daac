import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { uptime } from './uptime.ts';
import type { UptimeInputs } from './uptime.ts';

const window = { pauses: [], maintenance: [], windowFromUs: 0, windowToUs: 100, openUntilUs: 100 };

const toInterval = ([fromUs, length]: [number, number | null]) => ({
  fromUs,
  toUs: length === null ? null : fromUs + length,
});

void t.test('uptime is the share of UP and DEGRADED in what was measured', async (t) => {
  const told = uptime({
    ...window,
    ranges: [
      { startedUs: -50, endedUs: 40, status: 'UP' },
      { startedUs: 40, endedUs: 50, status: 'DEGRADED' },
      { startedUs: 50, endedUs: 60, status: 'DOWN' },
      { startedUs: 70, endedUs: 80, status: 'TIMEOUT' },
      { startedUs: 90, endedUs: null, status: 'UP' },
    ],
  });
  t.same(told, {
    upUs: 50,
    degradedUs: 10,
    downUs: 10,
    timeoutUs: 10,
    unknownUs: 20,
    pausedUs: 0,
    maintenanceUs: 0,
    uptime: 60 / 80,
  });
});

void t.test('nothing measured is null and not 100 %', async (t) => {
  t.equal(uptime({ ...window, ranges: [] }).uptime, null);
  t.equal(
    uptime({
      ...window,
      ranges: [{ startedUs: 0, endedUs: null, status: 'DOWN' }],
      maintenance: [{ fromUs: 0, toUs: null }],
    }).uptime,
    null,
  );
});

void t.test('an open range lasts until what is folded and no longer', async (t) => {
  const told = uptime({ ...window, ranges: [{ startedUs: 0, endedUs: null, status: 'UP' }], openUntilUs: 30 });
  t.same([told.upUs, told.unknownUs, told.uptime], [30, 70, 1]);
});

void t.test('a pause covers a maintenance, which covers the status', async (t) => {
  const told = uptime({
    ...window,
    ranges: [{ startedUs: 0, endedUs: 100, status: 'DOWN' }],
    pauses: [
      { fromUs: 20, toUs: 30 },
      { fromUs: 25, toUs: 35 },
    ],
    maintenance: [{ fromUs: 10, toUs: 40 }],
  });
  t.same([told.downUs, told.pausedUs, told.maintenanceUs], [70, 15, 15]);
});

void t.test('the parts sum to the window, and uptime lies between 0 and 1', async () => {
  const interval = fc.tuple(fc.integer({ min: -50, max: 150 }), fc.option(fc.integer({ min: 0, max: 60 })));
  const statuses = fc.array(
    fc.tuple(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 0, max: 9 }),
      fc.constantFrom('UP', 'DOWN', 'TIMEOUT', 'DEGRADED'),
    ),
  );
  fc.assert(
    fc.property(
      statuses,
      fc.array(interval),
      fc.array(interval),
      fc.integer({ min: 0, max: 200 }),
      (list, pauses, maintenance, openUntilUs) => {
        let startedUs = -20;
        const ranges: UptimeInputs['ranges'][number][] = list.map(([length, gap, status]) => {
          startedUs += gap;
          const range = { startedUs, endedUs: startedUs + length, status };
          startedUs += length;
          return range;
        });
        const told = uptime({
          ...window,
          openUntilUs,
          ranges,
          pauses: pauses.map(toInterval),
          maintenance: maintenance.map(toInterval),
        });
        const { uptime: share, ...parts } = told;
        const sum = Object.values(parts).reduce((total, part) => total + part, 0);
        return (
          sum === 100 &&
          Object.values(parts).every((part) => part >= 0) &&
          (share === null || (share >= 0 && share <= 1))
        );
      },
    ),
  );
});
