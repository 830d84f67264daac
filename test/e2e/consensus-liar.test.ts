import t from 'tap';
import { eventually } from '../harness/processes.ts';
import { threeAgents } from '../harness/three-agents.ts';

const intervalS = 10;
const monitors = 12;

type Probe = {
  quarantine: { reason: string; started_at: string } | null;
  quarantines: { ended_at: string | null; is_lifted: boolean }[];
};

t.test('a probe that finds everything refused is quarantined, and let out by hand', { timeout: 180_000 }, async (t) => {
  const { api, target, agents, addresses, monitor, statuses, incidents } = await threeAgents(t, [
    '127.0.0.34',
    '127.0.0.35',
    '127.0.0.36',
  ]);
  for (let number = 1; number <= monitors; number += 1)
    await monitor(`monitor ${number}`, { interval_seconds: intervalS });
  const areAll = (status: string, timeoutMs: number) =>
    eventually(
      `all ${status}`,
      async () => {
        const found = new Set(await statuses());
        if (found.size !== 1 || !found.has(status)) throw new Error([...found].join());
        return true;
      },
      { timeoutMs, everyMs: 500 },
    );
  await areAll('UP', 90_000);

  const liar = `/api/v1/probes/${agents[0]?.probeId}`;
  const quarantine = async () => (await api.call<Probe>('GET', liar, 200)).quarantine;
  t.equal(await quarantine(), null);
  const wrong: string[] = [];
  const began = Date.now();
  target.towards(addresses[0] ?? '', 'refuse');
  const put = await eventually(
    'its quarantine',
    async () => {
      for (const status of await statuses()) if (status !== 'UP' && status !== 'PARTIAL') wrong.push(status);
      return (await quarantine()) ?? undefined;
    },
    { timeoutMs: 100_000, everyMs: 500 },
  );
  const tookMs = Date.parse(put.started_at) - began;
  t.ok(
    tookMs < (2 * intervalS + 40) * 1_000,
    `after ${tookMs} ms: two intervals, and what looks and a busy machine take`,
  );
  t.match(put.reason, /it contradicted all other probes on \d+ of the 12 monitors/);
  await areAll('UP', 60_000);
  t.same(wrong, [], 'no monitor was ever anything but UP or PARTIAL');
  t.same(await incidents(), [], 'and no outage was told');

  await api.call('DELETE', `${liar}/quarantine`, 204);
  await api.call('DELETE', `${liar}/quarantine`, 404);
  t.match(await api.call<Probe>('GET', liar, 200), {
    quarantine: null,
    quarantines: [{ is_lifted: true, ended_at: /^\d{4}-/ }],
  });
  await areAll('PARTIAL', 90_000);
  t.equal(await quarantine(), null, 'its votes count, and it is trusted');
  target.everybody('answer');
  await areAll('UP', 90_000);
});
