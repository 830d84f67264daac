import t from 'tap';
import type { Test } from 'tap';
import { liveThrough } from '../../probe-agent/src/testing/clock-world.ts';
import type { ResultRecord } from '@parallax/wire';
import { compareTimelines } from '../../control-plane/src/monitoring/check-results/ingest/testing/compare-timelines.ts';
import { virtualWorld } from '../harness/virtual/world.ts';
import type { Told, ToldRange, VirtualOptions, VirtualWorld } from '../harness/virtual/world.ts';

/** Virtual time begins a while ago, so that it never overtakes the real one, and always at the same place in the rhythm of the checks. */
const startMs = Math.floor(Date.now() / 300_000) * 300_000 - 3 * 3_600_000;
/** The broker is away for ten minutes. */
const stopS = 900;
const backS = stopS + 600;
const endS = backS + 900;

/** Monitors by what happens to them: outages for everybody, in seconds since the beginning. */
const outages: readonly (readonly [fromS: number, toS: number])[][] = [
  [],
  [[400, 620]],
  [[800, 1_050]],
  [[1_000, 1_200]],
  [[1_350, 1_700]],
  [[700, 2_000]],
  [
    [1_020, 1_080],
    [1_700, 1_900],
  ],
  [[1_900, endS + 1_000]],
  // Over when the broker comes back, and the votes of then would still hold.
  [[1_360, 1_440]],
];

const sees: VirtualOptions['sees'] = (probe, monitor, atS) => {
  const isDown = (outages[monitor] ?? []).some(([fromS, toS]) => atS >= fromS && atS < toS);
  // One of three has a bad moment of its own now and then.
  const isAlone = probe === 2 && atS % 700 > 650;
  return isDown || isAlone ? 'fail' : 'ok';
};

const world = (t: Test, more: Partial<VirtualOptions> = {}): Promise<VirtualWorld> =>
  virtualWorld(t, { startMs, probes: 3, monitors: outages.length, intervalS: 60, sees, ...more });

const isOutage = (status: string) => status === 'DOWN' || status === 'TIMEOUT';
/** Whether the last that was told, but for UNKNOWN and PARTIAL, is an outage. */
const isOutageTold = (told: readonly Told[]): boolean =>
  isOutage(told.findLast(({ to }) => to !== 'UNKNOWN' && to !== 'PARTIAL')?.to ?? '');
const shown = (ranges: readonly ToldRange[]): string[] =>
  ranges.map(({ monitorId, status, fromS, toS }) => `${monitorId} ${status} ${fromS} ${toS ?? 'open'}`);

/** The story with the broker ended by force. */
async function stopped(t: Test, more: Partial<VirtualOptions> = {}) {
  const fault = await world(t, more);
  fault.start();
  await fault.passTo(stopS);
  await fault.broker(true);
  await fault.passTo(backS);
  await fault.broker(false);
  await fault.passTo(endS);
  return fault;
}

/** The same results without the fault. */
async function replayed(t: Test, fault: VirtualWorld, changed = (one: ResultRecord, _probe: number) => one) {
  const calm = await world(t, {
    replay: fault.points.map((point, probe) => point.log.map((one) => changed(one, probe))),
  });
  calm.start();
  await calm.passTo(endS);
  return calm;
}

t.test(
  'the broker is away for ten minutes: the timeline is that of the run without, and nothing is told twice',
  async (t) => {
    const fault = await stopped(t);
    const calm = await replayed(t, fault);
    const ranges = await fault.ranges();
    t.same(shown(ranges), shown(await calm.ranges()), 'equal ranges');
    const probes = fault.points.map((point) => point.probeId);
    t.same(await compareTimelines(fault.w.pool, probes), [], 'and those of the batch form');

    // What was told of the time from the last results before the stop on was changed later, and says so.
    const reaching = ranges.filter(({ fromS, toS }) => fromS < backS && (toS ?? endS) > stopS + 170);
    t.ok(reaching.length >= outages.length);
    t.same(shown(reaching.filter(({ isRevised }) => !isRevised)), [], 'changed ranges are marked');
    const before = ranges.filter(({ toS }) => toS !== null && toS < stopS - 60);
    t.ok(before.length > 5);
    t.same(shown(before.filter(({ isRevised }) => isRevised)), [], 'others are not');

    const told = await fault.told();
    for (const [position, monitorId] of fault.w.monitors.entries()) {
      const own = told.filter((one) => one.monitorId === monitorId && one.kind === 'monitor.transition');
      t.ok(
        own.every((one, index) => index === 0 || one.from === own[index - 1]?.to),
        'each telling continues the last',
      );
      for (const [fromS, toS] of outages[position] ?? []) {
        // One that is told again after UNKNOWN is the same: nothing good was told between.
        const down = own.filter(
          (one, index) =>
            isOutage(one.to) && one.atS >= fromS - 1 && one.atS < toS && !isOutageTold(own.slice(0, index)),
        );
        const isPresent = fromS < stopS - 60 || toS > backS + 60;
        t.equal(
          down.length,
          isPresent ? 1 : 0,
          `an outage is told once if it is one of the present: ${fromS} to ${toS}`,
        );
      }
      const past = own.filter(
        ({ to, atS, detectedS }) => isOutage(to) && detectedS - atS > 600 && detectedS > backS + 130,
      );
      t.same(past, [], 'nobody hears now of what was then');
    }
    const incidents = await fault.incidents();
    t.equal(incidents.length, outages.flat().length, 'one incident of each outage');
    t.ok(incidents.every((one) => one.resolution !== 'corrected'));
    t.same(
      incidents.map(({ startedS }) => Math.round(startedS)),
      (await calm.incidents()).map(({ startedS }) => Math.round(startedS)),
      'dated as without the stop',
    );
  },
);

t.test('the same with a clock of a probe that drifts by one percent and jumps by 90 seconds', async (t) => {
  // The agent's own clock and placement say how far off its times are: connected, cut off, connected again.
  const near = { thereMs: 3, backMs: 3 } as const;
  const { dated } = liveThrough({
    seed: 7,
    drift: 0.01,
    noiseUs: 30,
    phases: [
      { kind: 'connected', seconds: stopS, ...near },
      { kind: 'cut', seconds: backS - stopS },
      { kind: 'connected', seconds: endS - backS + 60, ...near },
    ],
    wallJumps: [{ atSeconds: stopS + 200, ms: 90_000 }],
    intervalSeconds: 5,
    tellsSleep: true,
  });
  const beganUs = Math.min(...dated.map(({ trueUs }) => trueUs));
  const errorMs = (atS: number): number => {
    const next = dated.find(({ trueUs }) => (trueUs - beganUs) / 1_000_000 >= atS) ?? dated.at(-1);
    return next === undefined ? 0 : (next.effectiveUs - next.trueUs) / 1_000;
  };
  t.ok(dated.some((check) => check.effectiveUs !== check.trueUs));
  const fault = await stopped(t, { clockErrorMs: (probe, atS) => (probe === 1 ? errorMs(atS) : 0) });
  const ranges = await fault.ranges();
  // Against probes whose clocks are right, each boundary is off by what the clock is off.
  const right = await replayed(t, fault, (one, probe) => {
    const atS = (one.effectiveUs / 1_000 - startMs) / 1_000;
    return probe === 1 ? { ...one, effectiveUs: Math.round(one.effectiveUs - errorMs(atS) * 1_000) } : one;
  });
  const rightly = await right.ranges();
  t.same(
    ranges.map(({ monitorId, status }) => `${monitorId} ${status}`),
    rightly.map(({ monitorId, status }) => `${monitorId} ${status}`),
  );
  const offS = ranges.flatMap((range, index) => [
    Math.abs(range.fromS - (rightly[index]?.fromS ?? 0)),
    Math.abs((range.toS ?? endS) - (rightly[index]?.toS ?? endS)),
  ]);
  t.ok(Math.max(...offS) < 0.06, `${Math.round(Math.max(...offS) * 1_000)} ms at most`);
});
