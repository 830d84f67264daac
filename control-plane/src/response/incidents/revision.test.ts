import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { amend, outagesOf } from './revision.ts';
import type { Amendment, KnownIncident, Range } from './revision.ts';

const minute = 60_000;
const range = (status: Range['status'], from: number, to: number | null, rule = 'quorum_failing'): Range => ({
  startedMs: from * minute,
  endedMs: to === null ? null : to * minute,
  status,
  evidence: { rule },
});
const incident = (
  id: number,
  from: number,
  to: number | null,
  resolution: KnownIncident['resolution'] = null,
): KnownIncident => ({
  id,
  startedMs: from * minute,
  resolvedMs: to === null ? null : to * minute,
  resolution: to === null ? null : (resolution ?? 'auto'),
});
/** A revision from the beginning on that is noticed after a hundred minutes. */
const noticed = { sinceMs: 0, detectedMs: 100 * minute };
const amended = (ranges: readonly Range[], incidents: readonly KnownIncident[], revision = noticed, isPaused = false) =>
  amend(revision, { name: 'Shop', isPaused }, outagesOf(ranges), incidents);

void t.test('an outage lasts through PARTIAL and UNKNOWN until an answer ends it', async (t) => {
  const ranges = [
    range('UP', 0, 10),
    range('TIMEOUT', 10, 12),
    range('DOWN', 12, 15),
    range('DEGRADED', 15, 16, 'some_failing'),
    range('DOWN', 18, 20),
    range('DEGRADED', 20, 21, 'half_slow'),
    range('DOWN', 21, 22),
    range('UP', 25, 30),
    range('DOWN', 40, null),
  ];
  t.match(outagesOf(ranges), [
    { startedMs: 10 * minute, endedMs: 20 * minute, status: 'TIMEOUT' },
    { startedMs: 21 * minute, endedMs: 25 * minute },
    { startedMs: 40 * minute, endedMs: null },
  ]);
});

void t.test(
  'an outage that is found when it is over is recorded as resolved; late when it ended long ago',
  async (t) => {
    t.match(amended([range('DOWN', 10, 15), range('UP', 15, null)], []), [
      {
        kind: 'record',
        startedMs: 10 * minute,
        resolvedMs: 15 * minute,
        title: 'Shop is down',
        detectedLate: true,
        cause: { status: 'DOWN' },
      },
    ]);
    t.match(amended([range('DOWN', 10, 85), range('UP', 85, null)], []), [{ detectedLate: false }]);
    t.match(amended([range('DOWN', 10, 84.9), range('UP', 84.9, null)], []), [{ detectedLate: true }]);
    t.same(amended([range('DOWN', 10, null)], []), [], 'one that lasts is told of otherwise');
    t.same(
      amended([range('DOWN', 10, 15), range('UP', 15, null)], [], { ...noticed, sinceMs: 16 * minute }),
      [],
      'not of this time',
    );
  },
);

void t.test('an outage of the past that no answer has ended stays open until one does', async (t) => {
  for (const [what, after] of [
    ['silence', []],
    ['disagreement', [range('DEGRADED', 15, null, 'some_failing')]],
  ] as const) {
    const ranges = [range('DOWN', 10, 15), ...after];
    const open = { kind: 'record', startedMs: 10 * minute, resolvedMs: null, detectedLate: true } as const;
    t.match(amended(ranges, []), [open], what);
    t.match(amended(ranges, [], noticed, true), [{ ...open, resolvedMs: 15 * minute }], `${what}, and it is paused`);
    t.same(amended(ranges, [incident(1, 10, null)]), [], `${what}, and it is known`);
    t.same(amended(ranges, [incident(1, 10, 18)]), [], `${what}, and it was resolved since`);
  }
});

void t.test('when an answer came within a range of disagreement only the incident knows', async (t) => {
  const ranges = [range('DOWN', 5, 10), range('DEGRADED', 10, 30, 'some_failing'), range('UP', 30, null)];
  t.same(amended(ranges, [incident(1, 5, 12)]), [], 'a warning after PARTIAL');
  t.same(amended(ranges, [incident(1, 5, 8)]), [
    { kind: 'move', incidentId: 1, startedMs: 5 * minute, resolvedMs: 10 * minute },
  ]);
  t.same(amended(ranges, [incident(1, 5, 40)]), [
    { kind: 'move', incidentId: 1, startedMs: 5 * minute, resolvedMs: 30 * minute },
  ]);
});

void t.test('an outage that never was is corrected', async (t) => {
  const up = [range('UP', 0, null)];
  t.same(amended(up, [incident(1, 10, null)]), [{ kind: 'correct', incidentId: 1, atMs: 100 * minute }]);
  t.same(amended(up, [incident(1, 10, 20)]), [{ kind: 'correct', incidentId: 1, atMs: 20 * minute }]);
  for (const resolution of ['manual', 'paused', 'deleted', 'corrected'] as const)
    t.same(amended(up, [incident(1, 10, 20, resolution)]), [], resolution);
  t.match(
    amended([range('DOWN', 12, 15), range('UP', 15, null)], [incident(1, 10, 20, 'corrected')]),
    [{ kind: 'record', startedMs: 12 * minute, resolvedMs: 15 * minute }],
    'it does not stand for another one at its time',
  );
});

void t.test('an incident keeps its identifier when its outage began or ended at another time', async (t) => {
  const outage = [range('UP', 0, 5), range('DOWN', 5, 30), range('UP', 30, null)];
  t.same(amended(outage, [incident(1, 10, 20)]), [
    { kind: 'move', incidentId: 1, startedMs: 5 * minute, resolvedMs: 30 * minute },
  ]);
  t.same(amended([range('DOWN', 5, null)], [incident(1, 10, null)]), [
    { kind: 'move', incidentId: 1, startedMs: 5 * minute, resolvedMs: null },
  ]);
  t.same(amended(outage, [incident(1, 5, 30)]), []);
  t.same(amended([range('DOWN', 5, 30)], [incident(1, 5, null)]), [], 'unknown since: it stays open');
});

void t.test(
  'two outages that turn out to be one keep both incidents, and one that turns out to be two keeps one',
  async (t) => {
    const one = [range('DOWN', 5, 30), range('UP', 30, null)];
    t.same(amended(one, [incident(1, 5, 10), incident(2, 20, 30)]), []);
    t.same(amended(one, [incident(1, 6, 10), incident(2, 20, 29)]), [
      { kind: 'move', incidentId: 1, startedMs: 5 * minute, resolvedMs: 10 * minute },
      { kind: 'move', incidentId: 2, startedMs: 20 * minute, resolvedMs: 30 * minute },
    ]);
    const two = [range('DOWN', 5, 10), range('UP', 10, 20), range('DOWN', 20, 30), range('UP', 30, null)];
    t.same(amended(two, [incident(1, 5, 30)]), []);
  },
);

/** The incidents after the amendments. */
function applied(incidents: readonly KnownIncident[], amendments: readonly Amendment[]): KnownIncident[] {
  const changed = incidents.map((one): KnownIncident => {
    const own = amendments.find((amendment) => amendment.kind !== 'record' && amendment.incidentId === one.id);
    if (own?.kind === 'correct')
      return { ...one, resolvedMs: Math.max(own.atMs, one.startedMs), resolution: 'corrected' };
    if (own?.kind === 'move') return { ...one, startedMs: own.startedMs, resolvedMs: own.resolvedMs };
    return one;
  });
  const recorded = amendments.flatMap((amendment, index): KnownIncident[] =>
    amendment.kind === 'record'
      ? [{ id: 1_000 + index, startedMs: amendment.startedMs, resolvedMs: amendment.resolvedMs, resolution: 'auto' }]
      : [],
  );
  return [...changed, ...recorded].sort((a, b) => a.startedMs - b.startedMs);
}

void t.test(
  'afterwards every outage that is over has an incident, every incident an outage, and nothing is left to be done',
  (t) => {
    const statuses = fc.constantFrom('UP' as const, 'DOWN' as const, 'TIMEOUT' as const, 'DEGRADED' as const);
    const ranges = fc
      .array(
        fc.record({
          status: statuses,
          lasts: fc.integer({ min: 1, max: 9 }),
          gap: fc.constantFrom(0, 0, 3),
          rule: fc.constantFrom('some_failing', 'half_slow'),
        }),
      )
      .map((list) => {
        let at = 0;
        return list.map(({ status, lasts, gap, rule }, index) => {
          const from = at + gap;
          at = from + lasts;
          return range(status, from, index === list.length - 1 && lasts > 4 ? null : at, rule);
        });
      });
    const incidents = fc
      .array(
        fc.record({
          after: fc.integer({ min: 1, max: 15 }),
          lasts: fc.integer({ min: 1, max: 9 }),
          resolution: fc.constantFrom('auto' as const, 'auto' as const, 'corrected' as const),
        }),
        { maxLength: 5 },
      )
      .map((list) => {
        let at = 0;
        return list.map(({ after, lasts, resolution }, index) => {
          const from = at + after;
          at = from + lasts;
          return incident(index + 1, from, index === list.length - 1 && lasts > 5 ? null : at, resolution);
        });
      });
    fc.assert(
      fc.property(ranges, incidents, (list, known) => {
        const outages = outagesOf(list);
        const after = applied(known, amended(list, known));
        const meets = (one: KnownIncident) =>
          outages.some(
            (outage) =>
              outage.startedMs <= (one.resolvedMs ?? Infinity) && one.startedMs <= (outage.endedMs ?? Infinity),
          );
        return (
          outages.every(
            (outage) =>
              outage.failedUntilMs === null ||
              after.some(
                (one) =>
                  one.resolution !== 'corrected' &&
                  one.startedMs <= (outage.endedMs ?? Infinity) &&
                  outage.startedMs <= (one.resolvedMs ?? Infinity),
              ),
          ) &&
          after.every((one) => one.resolution === 'corrected' || meets(one)) &&
          after.every((one) => one.resolvedMs === null || one.resolvedMs >= one.startedMs) &&
          amended(list, after).length === 0
        );
      }),
      { numRuns: Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500) },
    );
    t.end();
  },
);
