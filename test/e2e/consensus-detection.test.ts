import t from 'tap';
import type { Test } from 'tap';
import { virtualWorld } from '../harness/virtual/world.ts';
import type { Answer } from '../harness/virtual/vantage-point.ts';

/** Virtual time begins a while ago, so that it never overtakes the real one, and always at the same place in the rhythm of the checks. */
const startMs = Math.floor(Date.now() / 300_000) * 300_000 - 3 * 3_600_000;
const intervalS = 300;
const timeoutS = 10;
const monitors = 8;

const isOutage = (status: string) => status === 'DOWN' || status === 'TIMEOUT';

/** Monitors of 300 s that three probes watch; results that failed are kept with the time at which their check began. */
async function watched(t: Test, sees: (probe: number, monitor: number, atS: number) => Answer) {
  const failures: { probe: number; monitor: number; atS: number }[] = [];
  const world = await virtualWorld(t, {
    startMs,
    probes: 3,
    monitors,
    intervalS,
    timeoutS,
    sees: (probe, monitor, atS) => {
      const answer = sees(probe, monitor, atS);
      if (answer !== 'ok') failures.push({ probe, monitor, atS });
      return answer;
    },
  });
  world.start();
  return { ...world, failures };
}

for (const [answer, withinS] of [
  ['fail', 10],
  ['timeout', 3 * timeoutS + 10],
] as const) {
  t.test(`a target that dies (${answer}) is down within ${withinS} s of the next check`, async (t) => {
    const diesS = 650;
    const world = await watched(t, (_, __, atS) => (atS > diesS ? answer : 'ok'));
    await world.passTo(diesS + intervalS + withinS);
    const told = (await world.told()).filter(({ to }) => isOutage(to));
    for (const [position, monitorId] of world.w.monitors.entries()) {
      const own = told.filter((one) => one.monitorId === monitorId);
      t.equal(own.length, 1, 'told once');
      const failures = world.failures.filter(({ monitor }) => monitor === position).map(({ atS }) => atS);
      const firstS = Math.min(...failures);
      const detectedS = own[0]?.detectedS ?? Number.POSITIVE_INFINITY;
      t.ok(
        detectedS - firstS <= withinS,
        `${Math.round((detectedS - firstS) * 10) / 10} s after the first failing check`,
      );
      // The onset is the first failure of the second probe, which was asked at once.
      const firstOfProbe = [0, 1, 2].map((probe) =>
        Math.min(
          ...world.failures.filter((one) => one.monitor === position && one.probe === probe).map(({ atS }) => atS),
        ),
      );
      const onsetS = firstOfProbe.toSorted((a, b) => a - b)[1] ?? 0;
      t.ok(Math.abs((own[0]?.atS ?? 0) - onsetS) < 0.01, 'dated to its onset');
    }
    t.equal((await world.incidents()).length, monitors);
  });
}

t.test('a blip of six seconds is no outage, wherever it falls', async (t) => {
  // One every 41 s, so that they fall anywhere in the rhythm of the checks.
  const isBlip = (atS: number) => atS > 400 && atS % 41 < 6;
  const world = await watched(t, (_, __, atS) => (isBlip(atS) ? 'fail' : 'ok'));
  await world.passTo(2_500);
  t.ok(world.failures.length > 50, `${world.failures.length} checks failed`);
  const down = (await world.ranges()).filter(({ status }) => isOutage(status));
  t.same(down, [], 'none is confirmed: who fails checks again after five seconds, and who is asked finds it answering');
});

t.test('a probe at fault makes no outage, and nobody hears of one', async (t) => {
  const world = await watched(t, (probe, _, atS) => (probe === 1 && atS > 400 ? 'fail' : 'ok'));
  await world.passTo(400 + 3 * intervalS);
  t.same(new Set(await world.statuses()), new Set(['PARTIAL']));
  t.same(await world.incidents(), []);
  const told = await world.told();
  t.equal(told.filter(({ to }) => to === 'PARTIAL').length, monitors, 'that they differ is told once of each');
  t.ok(told.every(({ to }) => !isOutage(to)));
});
