import t from 'tap';
import { alertsWithCrowd } from '../perf/pages/crowd.ts';

/** What a message may take beside a crowd beyond what it takes alone: room for a machine that others use. */
const mostMoreMs = 3_000;

// `npm run bench -- pages` has a crowd of 10,000 requests a second.
void t.test('a crowd that reads a page in an outage does not delay its alerts', { timeout: 170_000 }, async (t) => {
  const undo: (() => unknown)[] = [];
  t.teardown(async () => {
    for (const step of undo) await step();
  });
  const plan = { readers: 64, perSecond: 500, fails: 4, everyMs: 250, turns: 1 };
  const crowd = await alertsWithCrowd(plan, (step) => void undo.unshift(step));
  t.comment(JSON.stringify(crowd));
  t.ok(
    crowd.alert_crowd_max_ms <= crowd.alert_alone_max_ms + mostMoreMs,
    `${crowd.alert_crowd_max_ms} ms beside a crowd, ${crowd.alert_alone_max_ms} ms alone`,
  );
  t.ok(crowd.crowd_per_second > plan.perSecond / 2, `${crowd.crowd_per_second} answers a second`);
});
