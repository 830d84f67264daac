import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { removeWebhookChecksOfWorkspace } from '../index.ts';
import { webhookChecksApi } from '../testing.ts';
import type { WebhookChecksApi } from '../testing.ts';
import { noteTaken } from '../../intake-watch/queries.ts';
import { startIntakeWatch } from '../../intake-watch/job.ts';
import { noticeMisses, startMisses } from './job.ts';
import { claimMiss, moveWebhookDeadlines, overdueChecks } from './queries.ts';
import { miss } from '../state.ts';
import { stateOf } from '../row.ts';

const good = { body: 'fine', headers: {} };

const movers = [moveWebhookDeadlines];
const noted = (api: WebhookChecksApi) => noteTaken(api.database.worker, movers, api.clock.aheadMs);

/** The API has run on, and looks for misses. */
async function look(api: WebhookChecksApi): Promise<number> {
  await noteTaken(api.database.worker, [], api.clock.aheadMs);
  return noticeMisses(api.context);
}

async function delivered(api: WebhookChecksApi, body: Record<string, unknown> = {}) {
  const check = await api.check({
    signature: 'none',
    expected_interval_seconds: 60,
    grace_period_seconds: 30,
    ...body,
  });
  if ((await api.send(check.slug, good)).status !== 202) throw new Error('not delivered');
  return check;
}

const read = async (api: WebhookChecksApi, id: number) => (await api.checks('GET', `/${id}`)).body;

void t.test('what does not come is late, then missed, and well again with the next delivery', async (t) => {
  const api = await webhookChecksApi(t);
  const began = performance.now();
  const check = await delivered(api, { name: 'backup' });
  const { deadline_at: deadline, next_expected_at: expected, last_received_at: last } = await read(api, check.id);
  t.equal(Date.parse(String(deadline)) - Date.parse(String(last)), 90_000);
  api.clock.aheadMs += 61_000;
  t.equal(await look(api), 0);
  t.match(await read(api, check.id), { status: 'late' });
  t.same(await api.told(), [], 'nobody is woken for that');
  api.clock.aheadMs += 30_000;
  t.equal(await look(api), 1);
  t.match(await read(api, check.id), { status: 'down', status_since: deadline, deadline_at: null });
  t.equal(await look(api), 0);
  t.equal((await api.send(check.slug, good)).status, 202);
  t.match(await read(api, check.id), { status: 'up' });
  t.match(await api.told(), [
    {
      kind: 'webhook_check.missed',
      payload: {
        webhook_check_id: check.id,
        workspace_id: api.workspaceId,
        name: 'backup',
        from: 'up',
        to: 'down',
        at: deadline,
        next_expected_at: expected,
        last_received_at: last,
      },
    },
    { kind: 'webhook_check.recovered', payload: { from: 'down', to: 'up' } },
  ]);
  const stats = (await api.checks('GET', `/${check.id}/stats`)).body;
  const tookSeconds = (performance.now() - began) / 1_000;
  t.match(stats, { accepted: 2, missed: 1 });
  // The second leap of the clock is a time in which nobody noted that deliveries were taken: it counts neither way. What the test itself takes, which
  // under load are seconds, counts as whatever the check was then.
  const { up } = z.object({ up: z.number() }).parse(stats['seconds']);
  t.ok(up >= 61 && up <= Math.ceil(61 + tookSeconds), `up for ${up} s in a test of ${tookSeconds} s`);
  const percent = Number(stats['uptime_percent']);
  t.ok(percent >= (100 * 61) / (61 + tookSeconds) - 0.001 && percent < 100, `${percent} %`);
});

void t.test('two workers raise one alarm, and a delivery that comes first none', async (t) => {
  const api = await webhookChecksApi(t);
  for (let count = 0; count < 10; count += 1) await delivered(api);
  const quick = await delivered(api);
  api.clock.aheadMs += 91_000;
  const { worker } = api.database;
  await noteTaken(worker, [], api.clock.aheadMs);
  // Seen as overdue by a worker that is slow.
  const seen = (await overdueChecks(worker, api.context.now(), 100)).find(({ id }) => id === quick.id);
  t.ok(seen);
  t.equal((await api.send(quick.slug, good)).status, 202);
  const change = seen === undefined ? null : miss(stateOf(seen), api.context.now());
  const isClaimed = await worker.transaction(async (tx) =>
    seen === undefined || change === null ? true : claimMiss(tx, seen, change.state),
  );
  t.equal(isClaimed, false);
  t.match(await read(api, quick.id), { status: 'up' });
  await Promise.all(Array.from({ length: 5 }, () => noticeMisses(api.context)));
  const told = await api.told();
  t.equal(told.length, 10);
  t.equal(new Set(told.map(({ payload }) => payload['webhook_check_id'])).size, 10);
});

void t.test('nothing is missed without an interval, before the first delivery, paused or deleted', async (t) => {
  const api = await webhookChecksApi(t);
  await delivered(api, { expected_interval_seconds: null });
  await api.check({ expected_interval_seconds: 1, grace_period_seconds: 0 });
  const paused = await delivered(api);
  const deleted = await delivered(api);
  t.equal((await api.checks('POST', `/${paused.id}/pause`)).status, 200);
  t.equal((await api.checks('DELETE', `/${deleted.id}`)).status, 204);
  const before = (await api.told()).length;
  api.clock.aheadMs += 200_000;
  t.equal(await look(api), 0);
  t.equal((await api.checks('POST', `/${paused.id}/resume`)).status, 200);
  t.equal(await look(api), 0, 'it counts from the resumption');
  api.clock.aheadMs += 91_000;
  t.equal(await look(api), 1);
  t.match((await api.told()).slice(before), [
    { kind: 'webhook_check.resumed' },
    { kind: 'webhook_check.missed', payload: { from: 'new' } },
  ]);
  const last = await delivered(api);
  await removeWebhookChecksOfWorkspace(api.database.worker, api.workspaceId);
  api.clock.aheadMs += 91_000;
  t.equal(await look(api), 0, 'of a deleted workspace');
  t.ok(last);
});

void t.test('a change of the interval counts from the last delivery and misses nothing by itself', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await delivered(api, { expected_interval_seconds: 600 });
  api.clock.aheadMs += 300_000;
  t.equal((await api.checks('PUT', `/${check.id}`, { expected_interval_seconds: 60 })).status, 200);
  t.equal(await look(api), 0);
  api.clock.aheadMs += 91_000;
  t.equal(await look(api), 1);
});

void t.test('a time in which nobody took deliveries is credited, once, whoever starts first', async (t) => {
  const api = await webhookChecksApi(t);
  await noted(api);
  const early = await delivered(api, { expected_interval_seconds: 1, grace_period_seconds: 0 });
  const check = await delivered(api);
  api.clock.aheadMs += 2_000;
  await noted(api);
  const before = Date.parse(String((await read(api, check.id))['deadline_at']));
  // Everything is killed; workers come back before the API does.
  api.clock.aheadMs += 200_000;
  t.equal(await noticeMisses(api.context), 1, 'what was due before was missed');
  t.match(await read(api, early.id), { status: 'down' });
  t.match(await read(api, check.id), { status: 'late' }, 'of the rest nothing is known yet');
  const credits = await Promise.all(Array.from({ length: 3 }, () => noted(api)));
  t.equal(credits.filter((ms) => ms !== null).length, 1);
  const moved = Date.parse(String((await read(api, check.id))['deadline_at'])) - before;
  t.ok(moved >= 260_000, `${moved} ms`);
  t.equal(moved, Math.max(...credits.map((ms) => ms ?? 0)));
  t.equal(await noticeMisses(api.context), 0);
  api.clock.aheadMs += 4_000;
  t.equal(await noted(api), null, 'a short break is none');
  api.clock.aheadMs += 400_000;
  t.equal(await look(api), 1, 'in the end it is missed');
  t.equal((await api.told()).filter(({ kind }) => kind === 'webhook_check.missed').length, 2);
});

void t.test('the services find a miss by themselves, and stop', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await delivered(api, { expected_interval_seconds: 1, grace_period_seconds: 0 });
  const services = [
    await startIntakeWatch(api.context, api.context.log, movers),
    await startMisses(api.context, api.context.log),
  ];
  const statusOf = () =>
    api.database.worker.oneFirst(sql.type(z.object({ status: z.string() }))`
      select status from webhook_checks where id = ${check.id}`);
  while ((await statusOf()) !== 'down') await new Promise((resolve) => setTimeout(resolve, 100));
  await Promise.all(services.map((service) => service.stop()));
  t.match(await api.told(), [{ kind: 'webhook_check.missed' }]);
});
