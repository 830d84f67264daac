import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { historyPage } from '../history/queries.ts';
import { sweepOnce } from '../sweep/queries.ts';
import { alertsWorld, target } from '../testing.ts';
import type { AlertsWorld } from '../testing.ts';

const second = 1_000;
const hour = 3_600 * second;
const service = { ...target('service'), channel: 'pagerduty' };
const refused = { code: 'connect_refused', evidence: { address: '192.0.2.1' } } as const;
const iso = (ms: number): string => new Date(ms).toISOString();

async function resetStage(t: Parameters<typeof alertsWorld>[0], events = ['monitor.down', 'monitor.unknown']) {
  const world = await alertsWorld(t);
  await world.alert({ events, steps: [{ after_seconds: 0, targets: [target('a'), service] }] });
  const { api } = world;
  return {
    world,
    history: async () => {
      const scope = { userId: null, workspaceIds: [api.workspaceId] };
      return (await historyPage(scope, api.database.worker, { page: 1, page_size: 50 })).history;
    },
    /** As somebody does over the API; what the ingest tells of it follows. @returns when */
    reset: async (monitorId: number): Promise<number> => {
      const done = await api.call('POST', `/api/v1/monitors/${monitorId}/reset-stats`, {
        token: api.token,
        body: { confirm: true },
      });
      if (done.status !== 200) throw new Error(done.text);
      return Date.parse(String(done.body['reset_at']));
    },
    turn: (monitorId: number, from: string, to: string, atMs: number) => {
      const at = iso(atMs);
      const voters = to === 'DOWN' ? [{ voter: 1, vote: to, sinceUs: atMs * 1_000, error: 0 }] : [];
      return api.tell(`monitor:${monitorId}`, 'monitor.transition', {
        monitor_id: monitorId,
        workspace_id: api.workspaceId,
        from,
        to,
        at,
        detected_at: at,
        evidence: { voters },
        range_started_at: at,
      });
    },
  };
}

const lastTold = (world: AlertsWorld, name: string) => world.recorded.findLast((each) => each.target === name)?.message;

void t.test(
  'a reset while it lasts closes the alarms of services, tells people nothing, and what fails still is told anew once',
  async (t) => {
    const { world, history, reset, turn } = await resetStage(t);
    const { id } = await world.api.monitor({ name: 'Shop' });
    await world.api.turns(id, 'DOWN', world.api.clock.nowMs, refused);
    await world.passes(4 * second);
    t.same([world.kinds('a'), world.kinds('service')], [['opened'], ['opened']]);
    const opened = lastTold(world, 'service')?.subjectKey;

    const resetMs = await reset(id);
    await turn(id, 'DOWN', 'UNKNOWN', resetMs);
    await world.passes(4 * second);
    t.same(world.kinds('a'), ['opened'], 'people are told nothing');
    t.same(world.kinds('service'), ['opened', 'resolved']);
    t.match(lastTold(world, 'service'), {
      subjectKey: opened,
      title: /^Resolved: .*Shop.* is down$/,
      summary: /the statistics were reset/,
      subjects: [{ type: 'monitor', id }],
    });
    t.same(await history(), [], 'and nothing of it stands in the history');
    await sweepOnce(world.api.database.worker, world.api.clock.nowMs);
    const left = await world.api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
      select (select count(*) from alert_occasions)::integer + (select count(*) from notifications)::integer as n`);
    t.equal(left, 0, 'nor does a row of it stay');

    world.api.clock.nowMs += second;
    await turn(id, 'UNKNOWN', 'DOWN', world.api.clock.nowMs);
    for (let passed = 0; passed < 5; passed += 1) await world.passes(4 * second);
    t.same(world.kinds('a'), ['opened', 'opened'], 'the outage that lasts is told anew, once');
    t.same(world.kinds('service'), ['opened', 'resolved', 'opened']);
    t.not(lastTold(world, 'service')?.subjectKey, opened, 'as an alarm of its own');
    t.same(
      (await history()).map(({ kind, subject }) => [kind, subject?.id]),
      [
        ['opened', id],
        ['opened', id],
      ],
    );
    await world.api.turns(id, 'UP', world.api.clock.nowMs);
    await world.passes(second);
    t.equal(world.kinds('a').at(-1), 'resolved');
  },
);

void t.test('what was on its way at a reset is neither sent nor closed', async (t) => {
  const { world, history, reset } = await resetStage(t);
  const { id } = await world.api.monitor({ name: 'Shop' });
  world.outcome = () => ({
    ok: false,
    fault: 'passing',
    code: 'http_server',
    message: '503',
    latencyMs: 1,
    retryAfterMs: undefined,
  });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  const attempts = world.recorded.length;
  world.outcome = () => ({ ok: true, latencyMs: 1, reference: null });
  await reset(id);
  for (let passed = 0; passed < 5; passed += 1) await world.passes(60 * second);
  t.equal(world.recorded.length, attempts, 'nobody is told anything more');
  t.same(await history(), []);
});

void t.test('what is no incident is closed too where services keep it open', async (t) => {
  const { world, history, reset, turn } = await resetStage(t, ['monitor.degraded']);
  const { id } = await world.api.monitor({ name: 'Shop' });
  await turn(id, 'UP', 'DEGRADED', world.api.clock.nowMs);
  await world.passes(second);
  await reset(id);
  await world.passes(second);
  t.same([world.kinds('a'), world.kinds('service')], [['opened'], ['opened', 'resolved']]);
  t.match(lastTold(world, 'service'), { summary: /the statistics were reset/ });
  t.same(await history(), []);
});

void t.test('a reset of one of several that fail for one cause says nothing of the others', async (t) => {
  const { world, history, reset, turn } = await resetStage(t);
  const [one, other] = [await world.api.monitor({ name: 'One' }), await world.api.monitor({ name: 'Other' })];
  const onsetMs = world.api.clock.nowMs;
  for (const { id } of [one, other]) await world.api.turns(id, 'DOWN', onsetMs, refused);
  await world.passes(4 * second);
  t.same(world.kinds('a'), ['opened'], 'as one');
  await turn(other.id, 'DOWN', 'UP', onsetMs + 2 * second);
  await world.passes(second);
  t.same(world.kinds('a'), ['opened']);
  const resetMs = await reset(one.id);
  await turn(one.id, 'DOWN', 'UNKNOWN', resetMs);
  await world.passes(second);
  t.same([world.kinds('a'), world.kinds('service')], [['opened'], ['opened', 'resolved']]);
  t.match(lastTold(world, 'service'), { summary: /the statistics were reset/ });
  t.notOk((await history()).some(({ subject, kind }) => subject?.id === one.id || kind === 'resolved'));
});

void t.test('who removes an incident while it lasts is named, and its recovery is told', async (t) => {
  const { world, turn } = await resetStage(t);
  await world.api.database.worker.query(sql.unsafe`update users set display_name = 'Alice'`);
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  const { incidents } = (await world.api.incidents('GET')) as { incidents: { id: number }[] };
  await world.passes(60 * second);
  await world.api.incidents('DELETE', `/${incidents[0]?.id}`);
  await world.passes(second);
  t.same(world.kinds('a'), ['opened', 'resolved']);
  const removed = lastTold(world, 'a');
  t.match(removed, { state: 'information', title: /^Removed: .*Shop.* is still down$/ });
  t.match(removed?.summary, /removed by .*Alice.*; .*Shop.* is still down/);
  t.notMatch(removed?.summary, /deleted|lasted/);
  t.notOk(
    removed?.links.some(({ url }) => url.includes('/incidents/')),
    'whose page is gone',
  );
  await world.passes(60 * second);
  t.equal(world.kinds('a').length, 2);
  await turn(id, 'DOWN', 'UP', world.api.clock.nowMs);
  await world.passes(second);
  t.same([world.kinds('a').at(-1), world.kinds('service').at(-1)], ['resolved', 'resolved']);
  t.match(lastTold(world, 'a'), { state: 'recovered', summary: /had been removed by hand; now the checks succeed/ });
  t.equal(world.kinds('a').length, 3);
});

void t.test('whom nothing was told of a removed incident is told no recovery', async (t) => {
  const { world, turn } = await resetStage(t);
  const { nowMs } = world.api.clock;
  const clock = (ms: number): string => iso(ms).slice(11, 16);
  await world.alert({
    quiet_hours: {
      timezone: 'UTC',
      windows: [{ days: [1, 2, 3, 4, 5, 6, 7], start: clock(nowMs - hour), end: clock(nowMs + 3 * hour) }],
      except_severity: null,
    },
    steps: [{ after_seconds: 0, targets: [target('quiet')] }],
  });
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  const { incidents } = (await world.api.incidents('GET')) as { incidents: { id: number }[] };
  await world.api.incidents('DELETE', `/${incidents[0]?.id}`);
  await world.passes(second);
  await turn(id, 'DOWN', 'UP', world.api.clock.nowMs);
  await world.passes(second);
  t.same(world.kinds('quiet'), []);
  t.equal(world.kinds('a').length, 3);
});
