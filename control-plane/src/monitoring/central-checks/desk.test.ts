import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { second, Simulation } from './testing/simulation.ts';

const silence = (simulation: Simulation, ...ids: number[]): void => {
  for (const probe of simulation.probes) if (ids.includes(probe.id)) probe.outcome = 'silent';
};

/** Runs until the condition holds. @returns seconds that it took */
function until(simulation: Simulation, holds: () => boolean, most = 1_000): number {
  for (let seconds = 0; seconds <= most; seconds += 1) {
    if (holds()) return seconds;
    simulation.run(1);
  }
  throw new Error(`not within ${most} s`);
}

void t.test(
  'one probe that is lost: the control plane keeps the status known, and says DOWN only when confirmed',
  async (t) => {
    const s = new Simulation({ regions: ['eu'] });
    s.run(30);
    t.equal(s.status, 'UP');
    t.equal(s.orders.length, 0, 'nothing is asked of the control plane while the probe votes');
    silence(s, 1);
    const gap = until(s, () => s.holders().length === 0);
    t.equal(s.status, 'UNKNOWN');
    t.ok(gap > 0);
    t.equal(until(s, () => s.orders.length > 0) * second, s.freshUs, 'one freshness after the gap began');
    t.match(s.orders[0]?.order, {
      type: 'check',
      first: 'at_once',
      wish: { isFallback: true, cadenceS: 60, freshS: 155 },
    });
    s.run(2);
    t.equal(s.status, 'UP');
    s.run(300);
    t.equal(s.status, 'UP', 'it lasts');
    t.ok(s.centralResults.length <= 7, 'once a minute');
    s.central = 'fail';
    const before = s.centralResults.length;
    until(s, () => s.centralResults.length === before + 1);
    t.equal(s.status, 'UP', 'one failure is not confirmed');
    t.equal(
      until(s, () => s.status === 'DOWN'),
      5,
      'the second look comes after 5 s',
    );
    t.equal(s.centralResults.length, before + 2);
  },
);

void t.test('the probe returns: its vote counts, the one of the control plane no more', async (t) => {
  const s = new Simulation({ regions: ['eu'] });
  s.run(30);
  silence(s, 1);
  s.central = 'fail';
  until(s, () => s.status === 'DOWN', 200);
  const probe = s.probes[0];
  if (probe === undefined) throw new Error('fixture');
  probe.outcome = 'ok';
  until(s, () => s.holders().length === 1, 20);
  t.equal(s.status, 'UP');
  t.same(s.orders.at(-1)?.order, { type: 'end', monitorId: 1, isOnceMore: false });
  const checks = s.centralResults.length;
  s.run(400);
  t.equal(s.centralResults.length, checks, 'it checks no more');
  t.equal(s.status, 'UP');
});

void t.test('three probes, all lost: one voter alone keeps it known and never makes an outage', async (t) => {
  const s = new Simulation({ regions: ['eu', 'us', 'ap'] });
  s.run(30);
  silence(s, 1);
  s.run(200);
  t.equal(s.orders.length, 0, 'two are enough');
  silence(s, 2, 3);
  until(s, () => s.isChecking, 100);
  s.run(2);
  t.equal(s.status, 'UP');
  s.central = 'fail';
  s.run(130);
  t.equal(s.status, 'PARTIAL');
  for (const probe of s.probes) probe.outcome = 'ok';
  s.central = 'ok';
  until(s, () => !s.isChecking, 20);
  t.match(s.orders.at(-1)?.order, { type: 'end', isOnceMore: true }, 'its failing vote is looked at once more');
  s.run(2);
  t.equal(s.status, 'UP', 'and does not run out for minutes');
});

void t.test('two voters of one region cannot span two: the control plane is the second region', async (t) => {
  const s = new Simulation({ regions: ['eu', 'eu', 'us'] });
  s.run(30);
  silence(s, 3);
  until(s, () => s.isChecking, 100);
  t.same(s.holders(), [1, 2]);
  for (const probe of s.probes) if (probe.id !== 3) probe.outcome = 'fail';
  s.run(40);
  t.equal(s.status, 'PARTIAL');
  s.central = 'fail';
  until(s, () => s.status === 'DOWN', 130);
});

void t.test('nothing begins while probes live whose results wait, nor while the owner reads a backlog', async (t) => {
  const s = new Simulation({ regions: ['eu', 'us'] });
  s.run(30);
  s.blocked.add(2);
  silence(s, 1, 2);
  s.run(600);
  t.equal(s.orders.length, 0);
  s.blocked.clear();
  s.mayStart = false;
  s.run(100);
  t.equal(s.orders.length, 0);
  s.mayStart = true;
  t.ok(until(s, () => s.isChecking) <= 6, 'and then it begins within seconds');
  s.blocked.add(2);
  s.run(100);
  t.ok(s.isChecking, 'what has begun goes on');
});

void t.test('its own uplink lost: UNKNOWN, never DOWN', async (t) => {
  const s = new Simulation({ regions: ['eu'] });
  s.run(30);
  silence(s, 1);
  s.central = 'probe_error';
  s.run(600);
  t.ok(s.centralResults.length > 3);
  t.equal(s.status, 'UNKNOWN');
  s.central = 'ok';
  t.ok(until(s, () => s.status === 'UP') <= 60);
});

void t.test('a monitor without probes is checked at once, on its phase, and through a takeover', async (t) => {
  const s = new Simulation({ regions: [], intervalS: 20 });
  s.run(2);
  t.equal(s.status, 'UP');
  t.match(s.orders, [{ order: { first: 'at_once', wish: { isFallback: false, cadenceS: 20, freshS: 55 } } }]);
  s.run(100);
  const [, second1 = 0, second2 = 0] = s.centralResults.map(({ eUs }) => eUs / second);
  t.equal(second2 - second1, 20);
  s.takeover();
  s.run(100);
  const late = s.centralResults.map(({ eUs }) => Math.round(eUs / second) % 20).slice(1);
  t.equal(new Set(late).size, 1, 'the phase is kept');
  t.equal(s.status, 'UP');
});

void t.test(
  'while it fails a monitor without probes is looked at every half minute, whatever its interval',
  async (t) => {
    const s = new Simulation({ regions: [], intervalS: 600 });
    s.central = 'fail';
    s.run(10);
    t.equal(s.status, 'DOWN', 'the second look comes after 5 s');
    s.run(200);
    t.ok(s.centralResults.length >= 7, `${s.centralResults.length} looks`);
    s.central = 'ok';
    t.ok(until(s, () => s.status === 'UP') <= 31, 'so it is found to be back');
  },
);

void t.test('a pause ends the checks, and the resumed monitor is checked at once', async (t) => {
  const s = new Simulation({ regions: [], intervalS: 60 });
  s.run(100);
  s.reconfigure({ pauses: [{ fromUs: s.nowUs + second, toUs: null }] });
  s.run(200);
  const checks = s.centralResults.length;
  t.equal(s.status, 'UNKNOWN');
  s.run(200);
  t.equal(s.centralResults.length, checks);
  s.reconfigure({ pauses: [{ fromUs: s.nowUs - 400 * second, toUs: s.nowUs }] });
  t.ok(until(s, () => s.centralResults.length > checks) <= 2);
});

void t.test('a takeover goes on with a fallback that had begun, and begins none by itself', async (t) => {
  const s = new Simulation({ regions: ['eu'] });
  s.run(30);
  silence(s, 1);
  until(s, () => s.isChecking, 200);
  s.run(10);
  s.mayStart = false;
  s.takeover();
  s.run(5);
  t.match(s.orders.at(-1)?.order, { type: 'check', first: 'on_phase', wish: { isFallback: true } });
  t.equal(s.status, 'UP');
  s.run(300);
  t.equal(s.status, 'UP');
});

void t.test(
  'whatever comes and goes: never beside enough voters, never while blocked, and not before its time',
  async () => {
    const region = fc.constantFrom('eu', 'us');
    const event = fc.record({
      seconds: fc.integer({ min: 1, max: 60 }),
      probe: fc.integer({ min: 1, max: 4 }),
      outcome: fc.constantFrom('ok', 'fail', 'silent', 'probe_error' as const),
      blocks: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(region, { minLength: 1, maxLength: 4 }),
        fc.array(event, { minLength: 1, maxLength: 8 }),
        (regions, events) => {
          const s = new Simulation({ regions, intervalS: 7, timeoutS: 2 });
          const regionOf = (id: number) => regions[id - 1];
          const n = regions.length;
          const quorum = Math.max(1, Math.min(n, Math.max(2, Math.floor(n / 2) + 1)));
          const span = Math.min(2, quorum, new Set(regions).size);
          const isEnough = (): boolean => {
            const holders = s.holders();
            return holders.length >= Math.min(2, n) && new Set(holders.map(regionOf)).size >= span;
          };
          let enoughUs = s.nowUs;
          for (const { seconds, probe, outcome, blocks } of events) {
            const chosen = s.probes.find(({ id }) => id === probe);
            if (chosen !== undefined) chosen.outcome = outcome;
            if (blocks) s.blocked.add(probe);
            else s.blocked.delete(probe);
            for (let step = 0; step < seconds; step += 1) {
              const wasChecking = s.isChecking;
              s.run(1);
              const isBlocked = s.probes.some(({ id }) => s.blocked.has(id) && !s.holders().includes(id));
              if (isEnough()) enoughUs = s.nowUs;
              if (isEnough() && s.isChecking) throw new Error('it checks beside enough voters');
              if (wasChecking || !s.isChecking) continue;
              if (isBlocked) throw new Error('it began while results may yet come');
              if (s.nowUs - enoughUs < s.freshUs)
                throw new Error(`it began ${(s.nowUs - enoughUs) / second} s into the gap`);
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  },
);
