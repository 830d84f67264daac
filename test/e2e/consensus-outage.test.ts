import t from 'tap';
import { eventually } from '../harness/processes.ts';
import { threeAgents } from '../harness/three-agents.ts';

const intervalS = 20;
const timeoutS = 2;

t.test('a target that dies just after a check is down soon after the next one', { timeout: 180_000 }, async (t) => {
  const { product, api, target, addresses, monitor, statusOf, incidents } = await threeAgents(t, [
    '127.0.0.31',
    '127.0.0.32',
    '127.0.0.33',
  ]);
  const path = await monitor('dies', { interval_seconds: intervalS, timeout_seconds: timeoutS });
  type Found = {
    readonly created_at: string;
    readonly probe_id: number;
    readonly kind: string;
    readonly status: string;
  };
  const foundSince = async (sinceMs: number): Promise<Found[]> => {
    const since = new Date(sinceMs).toISOString();
    return (await api.call<{ results: Found[] }>('GET', `${path}/results?page_size=100&start_time=${since}`, 200))
      .results;
  };
  const asked = () => addresses.flatMap((address) => target.asked(address));

  for (const [how, status, withinS] of [
    ['refuse', 'DOWN', 10],
    ['hang', 'TIMEOUT', 3 * timeoutS + 10],
  ] as const) {
    await t.test(`${how}: ${status} within ${withinS} s of the next failing check`, async (t) => {
      await eventually('UP', async () => (await statusOf(path)) === 'UP', { timeoutMs: 90_000 });
      const before = asked().length;
      await eventually('a check of it', async () => asked().length > before, { timeoutMs: 40_000, everyMs: 10 });
      const died = Date.now();
      target.everybody(how);
      await eventually(status, async () => (await statusOf(path)) === status, { timeoutMs: 70_000, everyMs: 200 });
      const reached = Date.now();
      // By what was found, not by what was asked: a check that was under way when it died may still have been answered.
      const found = await foundSince(died - 1_000);
      const failed = found.filter((result) => result.status === 'DOWN' || result.status === 'TIMEOUT');
      const tookMs = reached - Math.min(...failed.map((result) => Date.parse(result.created_at)));
      t.ok(tookMs <= withinS * 1_000, `${tookMs} ms after the first check that failed`);
      if (tookMs > withinS * 1_000) t.comment(JSON.stringify(found), product.supervisor.output().slice(-4_000));
      const open = await eventually(
        'its incident',
        async () => {
          const found = (await incidents()).filter((one) => one.status === 'open');
          return found.length > 0 ? found : undefined;
        },
        { timeoutMs: 60_000 },
      );
      t.equal(open.length, 1);
      target.everybody('answer');
      await eventually('its end', async () => (await incidents()).every((one) => one.status === 'resolved'), {
        timeoutMs: 90_000,
      });
    });
  }
  t.equal((await incidents()).length, 2, 'one incident of each outage');
});
