import t from 'tap';
import type { Anchor } from '../results/record.ts';
import { ServerClock, anchorLifeUs } from './clock.ts';

const serverStartUs = 1_800_000_000_000_000;

/** A machine whose monotonic clock runs at a rate of its own and whose wall clock can jump. */
function machine(rate = 1) {
  let realUs = 0;
  let wallJumpMs = 0;
  let sleptUs = 0;
  const anchors: Anchor[] = [];
  const monotonicUs = (): number => Math.round((realUs - sleptUs) / rate);
  const clock = new ServerClock({
    monotonicUs,
    wallMs: () => (serverStartUs + realUs) / 1_000 + wallJumpMs,
    onAnchor: (anchor) => anchors.push(anchor),
  });
  const serverUs = (): number => serverStartUs + realUs;
  return {
    clock,
    anchors,
    monotonicUs,
    serverUs,
    pass: (us: number) => {
      realUs += us;
    },
    sleep: (us: number) => {
      realUs += us;
      sleptUs += us;
    },
    jumpWall: (ms: number) => {
      wallJumpMs += ms;
    },
    /** An exchange with this way there and back. */
    synchronise: (thereUs = 500, backUs = 500) => {
      const sentUs = monotonicUs();
      realUs += thereUs;
      const answered = serverUs();
      realUs += backUs;
      clock.synchronise({ sentUs, receivedUs: monotonicUs(), serverUs: answered });
    },
  };
}

void t.test(
  'without a synchronisation nothing is stamped; with one, server time is the anchor and the monotonic time since',
  (t) => {
    const m = machine();
    t.equal(m.clock.effectiveUs(m.monotonicUs()), 0);
    t.notOk(m.clock.anchored);
    m.synchronise();
    const startUs = m.monotonicUs();
    const atUs = m.serverUs();
    m.pass(1_234_567);
    t.ok(Math.abs(m.clock.effectiveUs(startUs) - atUs) < 10);
    t.ok(Math.abs(m.clock.nowMs() * 1_000 - m.serverUs()) < 10);
    t.end();
  },
);

void t.test('half the round trip is the error at most', (t) => {
  const m = machine();
  m.synchronise(40_000, 0);
  t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) <= 20_001);
  t.end();
});

void t.test('an answer that took more than two seconds is not taken: results wait for the next one', (t) => {
  const m = machine();
  m.synchronise(2_500_000, 0);
  t.notOk(m.clock.anchored);
  t.equal(m.clock.effectiveUs(m.monotonicUs()), 0);
  t.same(m.anchors, []);
  for (let time = 0; time < 4; time += 1) m.synchronise(900_000, 900_000);
  t.ok(m.clock.anchored, 'a slow way is better than none');
  t.end();
});

void t.test('a clock that drifts by 1 % is right within 50 ms, between synchronisations as well', (t) => {
  const m = machine(1.01);
  for (let round = 0; round < 10; round += 1) {
    m.synchronise(2_000, 3_000);
    m.pass(2_000_000);
    if (round > 3) t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) < 5_000);
    else t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) < 50_000);
    m.pass(2_000_000);
  }
  t.end();
});

void t.test('one slow answer does not move a good anchor', (t) => {
  const m = machine();
  for (let round = 0; round < 3; round += 1) {
    m.synchronise();
    m.pass(4_000_000);
  }
  m.synchronise(900_000, 0);
  t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) < 10_000);
  t.end();
});

void t.test('a jump of the wall clock cannot move effective times: they wait until the next synchronisation', (t) => {
  for (const jumpMs of [90_000, -300_000]) {
    const m = machine();
    m.synchronise();
    m.pass(1_000_000);
    const startUs = m.monotonicUs();
    m.jumpWall(jumpMs);
    t.ok(m.clock.checkForJump());
    t.equal(m.clock.effectiveUs(startUs), 0);
    t.ok(Math.abs(m.clock.nowMs() * 1_000 - m.serverUs()) < 1_000, 'the schedule goes on as before');
    t.notOk(m.clock.checkForJump(), 'once');
    m.synchronise();
    t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) < 1_000);
    t.strictSame(
      m.anchors.map((anchor) => anchor.kind),
      ['sync', 'jump', 'sync'],
    );
  }
  t.end();
});

void t.test('a machine that slept voids its anchor, also when nobody looked in between', (t) => {
  const m = machine();
  m.synchronise();
  m.sleep(600_000_000);
  m.synchronise();
  t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) < 1_000);
  t.strictSame(
    m.anchors.map((anchor) => anchor.kind),
    ['sync', 'jump', 'sync'],
  );
  t.end();
});

void t.test('an anchor that is too old stamps nothing, but the schedule goes on', (t) => {
  const m = machine();
  m.synchronise();
  m.pass(anchorLifeUs + 1_000_000);
  t.notOk(m.clock.anchored);
  t.equal(m.clock.effectiveUs(m.monotonicUs()), 0);
  t.ok(Math.abs(m.clock.nowMs() * 1_000 - m.serverUs()) < 1_000);
  t.end();
});

void t.test('after a start the best of several exchanges counts, not the first', (t) => {
  const m = machine();
  m.synchronise(400_000, 0);
  t.notOk(m.clock.anchored, 'off by up to 200 ms: others are on their way');
  t.ok(m.clock.isKnown, 'good enough for the schedule');
  m.pass(250_000);
  m.synchronise(1_000, 1_000);
  t.ok(m.clock.anchored);
  t.ok(Math.abs(m.clock.effectiveUs(m.monotonicUs()) - m.serverUs()) < 2_000);
  t.end();
});

void t.test('what was stamped is never followed by something earlier', (t) => {
  const m = machine();
  for (let time = 0; time < 4; time += 1) m.synchronise(800_000, 0);
  let last = m.clock.effectiveUs(m.monotonicUs());
  t.ok(last - m.serverUs() > 300_000, 'the slow way there has misled it');
  for (let step = 0; step < 100; step += 1) {
    if (step % 4 === 0) m.synchronise(500, 500);
    m.pass(100_000);
    const next = m.clock.effectiveUs(m.monotonicUs());
    if (next <= last) t.fail('it went back');
    last = next;
  }
  t.ok(Math.abs(last - m.serverUs()) < 5_000, 'and it is right in the end');
  t.end();
});

void t.test('a sleep that the system tells of is a break for certain', (t) => {
  let monotonic = 1_000_000;
  let slept = 0;
  const anchors: Anchor[] = [];
  const clock = new ServerClock({
    monotonicUs: () => monotonic,
    wallMs: () => (serverStartUs + monotonic) / 1_000 + slept,
    sleptMs: () => slept,
    onAnchor: (anchor) => anchors.push(anchor),
  });
  clock.synchronise({ sentUs: monotonic - 100, receivedUs: monotonic, serverUs: serverStartUs });
  monotonic += 500_000;
  const before = clock.effectiveUs(monotonic);
  slept = 90_000;
  t.ok(clock.checkForJump());
  t.equal(clock.effectiveUs(monotonic), 0);
  t.strictSame(
    anchors.map((anchor) => anchor.kind),
    ['sync', 'sync', 'break'],
  );
  t.equal(anchors[1]?.serverUs, before, 'the log learns up to where results were stamped');
  t.end();
});
