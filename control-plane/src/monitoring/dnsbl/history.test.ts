import type { Listings } from '@parallax/checks';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { monitorsApi } from '../testing.ts';
import { dnsblCapability, removeListings } from './index.ts';
import { historyDays } from './job.ts';
import { removeOldRuns } from './queries.ts';

const minute = 60_000;
const base = Math.floor(Date.now() / minute) * minute - 120 * minute;
const api = await monitorsApi(t, {
  more: [dnsblCapability],
  monitors: { rowsOfMonitor: [removeListings] },
});
const { worker } = api.database;
const work = async () => {
  while ((await workOnce(api.context, dnsblCapability.consumers ?? [])) > 0);
};
const target = (name: string) => api.monitor({ name, protocol: 'dnsbl', url: '192.0.2.1' });

/** A probe hears this, so many minutes after the beginning. */
async function hear(monitorId: number, probeId: number, atMinutes: number, listings: Listings, revision = 1) {
  const at = new Date(base + atMinutes * minute).toISOString();
  const payload = { monitor_id: monitorId, probe_id: probeId, probe_revision: revision, at, listings };
  await worker.transaction((tx) => enqueue(tx, { key: `monitor:${monitorId}`, kind: 'dnsbl.seen', payload }));
  await work();
}
const news = async (monitorId: number): Promise<string[]> =>
  (
    await worker.any(sql.type(z.object({ kind: z.string(), payload: z.object({ provider: z.string() }) }))`
      select kind, payload from outbox where kind in ('dnsbl.listed', 'dnsbl.delisted') and key = ${`monitor:${monitorId}`} order by id`)
  ).map(({ kind, payload }) => `${kind} ${payload.provider}`);
const history = async (monitorId: number, query = '') => {
  const answer = await api.call('GET', `/api/v1/monitors/${monitorId}/dnsbl/provider-history${query}`, {
    token: api.token,
  });
  t.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body as unknown as {
    provider: string;
    state: string | null;
    samples: { at: string; state: string }[];
  }[];
};
const rows = (monitorId: number) =>
  worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select ((select count(*) from dnsbl_runs where monitor_id = ${monitorId}) +
      (select count(*) from dnsbl_views where monitor_id = ${monitorId}))::integer as n`);

void t.test('changes are told once and make a history; what repeats makes no row', async (t) => {
  const { id } = await target('history');
  await hear(id, 1, 0, { 'b.test': 'clean', 'a.test': 'clean' });
  await hear(id, 1, 20, { 'b.test': 'listed', 'a.test': 'clean' });
  const stored = await rows(id);
  await hear(id, 1, 25, { 'b.test': 'listed', 'a.test': 'clean' });
  await hear(id, 1, 22, { 'b.test': 'clean', 'a.test': 'clean' });
  t.equal(await rows(id), stored, 'what is older than what is known changes nothing');
  await hear(id, 1, 40, { 'b.test': 'clean', 'a.test': 'error' });
  t.same(await news(id), ['dnsbl.listed b.test', 'dnsbl.delisted b.test']);
  const [a, b] = await history(id);
  t.match(
    [a, b],
    [
      { provider: 'a.test', state: 'error', state_since: new Date(base + 40 * minute).toISOString() },
      { provider: 'b.test', state: 'clean' },
    ],
  );
  const samples = (b?.samples ?? []).map(({ at, state }) => ({ minutes: (Date.parse(at) - base) / minute, state }));
  t.ok(samples.length >= 24, 'two hours');
  t.same(
    samples.filter(({ state }) => state === 'listed'),
    samples.filter(({ minutes }) => minutes + 5 > 20 && minutes < 40),
  );
  for (const window of ['24h', '7d', '30d']) {
    const [first] = await history(id, `?window=${window}`);
    t.ok((first?.samples.length ?? 0) > 0 && (first?.samples.length ?? 0) <= 340, window);
  }
});

void t.test('probes are heard together, and only of the monitor as it is now', async (t) => {
  const { id } = await target('together');
  await hear(id, 1, 0, { 'a.test': 'clean' });
  await hear(id, 2, 1, { 'a.test': 'clean' });
  await hear(id, 3, 2, { 'a.test': 'listed' });
  await hear(id, 2, 3, { 'a.test': 'error' });
  t.same(await news(id), [], 'one against one, as before');
  await hear(id, 2, 4, { 'a.test': 'listed' });
  t.same(await news(id), ['dnsbl.listed a.test']);
  await api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body: { url: '192.0.2.2' } });
  await hear(id, 1, 5, { 'a.test': 'clean' }, 1);
  await hear(id, 3, 6, { 'a.test': 'clean' }, 1);
  t.same(await news(id), ['dnsbl.listed a.test'], 'of the target before');
  await hear(id, 1, 7, { 'a.test': 'clean' }, 2);
  t.same(await news(id), ['dnsbl.listed a.test', 'dnsbl.delisted a.test']);
});

void t.test('a pause makes a hole and no news', async (t) => {
  const { id } = await target('paused');
  const nowMinutes = () => (Date.now() - base) / minute;
  await hear(id, 1, nowMinutes(), { 'a.test': 'listed' });
  await api.call('POST', `/api/v1/monitors/${id}/pause`, { token: api.token });
  await work();
  t.match(await history(id), [{ provider: 'a.test', state: null }]);
  await hear(id, 1, nowMinutes(), { 'a.test': 'clean' });
  t.same(await news(id), ['dnsbl.listed a.test'], 'what comes after the pause is not told');
  await api.call('POST', `/api/v1/monitors/${id}/resume`, { token: api.token });
  await work();
  t.match(await history(id), [{ provider: 'a.test', state: 'listed' }], 'as it was heard last');
  t.same(await news(id), ['dnsbl.listed a.test']);
  await worker.query(
    sql.unsafe`update dnsbl_views set seen_at = seen_at - interval '50 hours' where monitor_id = ${id}`,
  );
  t.match(await history(id), [{ provider: 'a.test', state: null }], 'nobody has told for two days');
});

void t.test('nothing is kept too long: retention, reset, deletion', async (t) => {
  const { id } = await target('kept');
  await hear(id, 1, 0, { 'a.test': 'listed' });
  await hear(id, 1, 1, { 'a.test': 'clean' });
  t.equal(await removeOldRuns(worker, base + minute), 0);
  await worker.query(sql.unsafe`
    update dnsbl_runs set started_at = started_at - interval '100 days', ended_at = ended_at - make_interval(days => ${historyDays})
    where monitor_id = ${id} and ended_at is not null`);
  t.ok((await removeOldRuns(worker, base + 2 * minute - historyDays * 24 * 60 * minute)) === 1);
  await hear(id, 1, 2, { 'a.test': 'listed' });
  const reset = await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.equal(reset.status, 200, JSON.stringify(reset.body));
  await work();
  const [a] = await history(id);
  t.match(a, { state: 'listed' });
  t.same(
    a?.samples.map(({ state }) => state),
    ['listed'],
    'from the reset on',
  );
  t.equal(await rows(id), 2, 'the open run and the view');
  t.equal((await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token })).status < 300, true);
  t.equal(await rows(id), 0);
  await hear(id, 1, 200, { 'a.test': 'clean' });
  t.equal(await rows(id), 0, 'and nothing comes back');
});

void t.test('who may ask, and for what', async (t) => {
  const { id } = await api.monitor({ name: 'web' });
  t.same(await history(id), [], 'other protocols have none');
  const ask = (query: string, more: object) =>
    api.call('GET', `/api/v1/monitors/${id}/dnsbl/provider-history${query}`, more);
  t.equal((await ask('?window=8d', { token: api.token })).status, 422);
  t.equal((await ask('', {})).status, 401);
  const { body } = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  t.equal((await ask('', { key: String(body['key']) })).status, 403, 'no keys');
  const stranger = await api.account('stranger@example.com');
  t.equal((await ask('', { token: stranger.accessToken })).status, 404);
});
