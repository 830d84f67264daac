import t from 'tap';
import { endMessage } from './end.ts';
import type { Told } from './occasion.ts';
import { untold } from './problem.ts';
import { alert, occasion, target, World } from './testing.ts';

const minute = 60_000;
const hour = 60 * minute;
/** A Monday, midnight in UTC. */
const base = Date.UTC(2026, 0, 5);

void t.test('whoever was told of a problem is told of its end inside of a maintenance too', async (t) => {
  const world = new World(occasion(base), [alert()]);
  world.passTo(base + minute);
  world.occasion = { ...world.occasion, isUnderMaintenance: true };
  world.passTo(base + hour);
  world.change('resolved');
  world.passTo(base + 2 * hour);
  t.same(world.heard('a'), [
    ['opened', base],
    ['resolved', base + hour],
  ]);
});

void t.test('an alert that is made while something fails counts its steps from then', async (t) => {
  const steps = [0, 5].map((minutes, index) => ({
    after_seconds: minutes * 60,
    targets: [target(['a', 'b'][index] ?? '')],
  }));
  const world = new World(occasion(base), [alert({ steps, activeSinceMs: base + hour })]);
  world.nowMs = base + hour;
  world.lookAtMs = base + hour;
  world.passTo(base + 2 * hour);
  t.same(world.heard('a'), [['opened', base + hour]]);
  t.same(world.heard('b'), [['escalated', base + hour + 5 * minute]], 'not at once with the first');
});

void t.test('each step of each problem escalates by itself, however the steps are changed in between', async (t) => {
  /** One that tells `b` after so many others. */
  const afterOthers = (others: number) =>
    alert({
      steps: [
        ...Array.from({ length: others }, (_, n) => ({ after_seconds: n, targets: [target('a')] })),
        { after_seconds: 60, targets: [target('b')] },
      ],
    });
  const world = new World(occasion(base), [afterOthers(4)]);
  world.passTo(base + hour);
  world.change('resolved');
  world.passTo(base + 2 * hour);
  // The second problem has number 3: 1 and the fourth step must be told from 3 and the second one.
  world.change('reopened');
  world.alerts = [afterOthers(2)];
  world.passTo(base + 3 * hour);
  t.same(
    world.heard('b').map(([kind]) => kind),
    ['escalated', 'resolved', 'escalated'],
  );
});

void t.test(
  'what could not be delivered and is over is told in one message, though nobody can take it back',
  async (t) => {
    const told = problemOf({ lostMs: base + minute });
    const { notifications, withdraws } = endOf(told);
    t.same(
      notifications.map(({ kind }) => kind),
      ['was_down'],
    );
    t.equal(withdraws, 'unsent');
    const arrived = endOf({ ...told, lostMs: null, sentMs: base });
    t.same(
      arrived.notifications.map(({ kind, seq }) => [kind, seq]),
      [['resolved', 1]],
      'of the problem, whatever else has changed since',
    );
  },
);

void t.test('a service that keeps alarms open is told that one went on as part of another', async (t) => {
  const told = problemOf({ sentMs: base });
  t.match(endOf(told, { resolution: 'folded' }).notifications, [{ status: 'suppressed', reason: 'folded' }]);
  t.match(endOf(told, { resolution: 'folded', keepsOpen: true }).notifications, [{ status: 'queued' }]);
});

void t.test('what was held because it flapped is not told when it ends together with the flapping', async (t) => {
  const world = new World(occasion(base, { isFlapping: true }), [alert()]);
  world.passTo(base + 1_000);
  world.occasion = { ...world.occasion, isFlapping: false };
  world.change('resolved');
  world.passTo(base + hour);
  t.same(world.heard('a'), []);
});

void t.test(
  'an alert that has told of a problem tells of its end, though it wants such problems no more',
  async (t) => {
    const world = new World(occasion(base), [alert()]);
    world.passTo(base + minute);
    world.alerts = [alert({ events: new Set(['certificate.expiring']) })];
    world.change('resolved');
    world.passTo(base + hour);
    t.same(
      world.heard('a').map(([kind]) => kind),
      ['opened', 'resolved'],
    );
  },
);

const wish = { alert: alert(), target: target('a'), step: 0, hold: null };

/** What a target was told of a problem, whose message has been under way. */
function problemOf(more: Partial<Told>): Told {
  return { ...untold(wish), state: 'problem', problemSeq: 1, toldSeq: 1, queuedMs: base, lastMs: base, ...more };
}

function endOf(told: Told, { resolution = 'auto', keepsOpen = false } = {}) {
  const over = occasion(base, { endedMs: base + hour, resolution, seq: 5 });
  const reach = { isUsable: () => true, isWithdrawable: false, keepsOpen };
  return endMessage('a', [wish], [wish], told, over, reach, base + hour);
}
