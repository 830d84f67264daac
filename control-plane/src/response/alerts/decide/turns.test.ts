import t from 'tap';
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
