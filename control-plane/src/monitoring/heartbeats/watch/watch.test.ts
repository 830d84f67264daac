import t from 'tap';
import { heartbeatsApi } from '../testing.ts';
import type { HeartbeatsApi } from '../testing.ts';
import { noteTaken } from '../../intake-watch/queries.ts';
import { moveHeartbeatDeadlines, noticeMisses } from './queries.ts';

const movers = [moveHeartbeatDeadlines];

const read = async (api: HeartbeatsApi, id: unknown) =>
  (await api.make('GET', `/api/v1/heartbeats/${String(id)}`)).body;

/** A heartbeat of which a ping came so long ago. */
async function pingedAgo(api: HeartbeatsApi, seconds: number, fields: Record<string, unknown> = {}) {
  const made = await api.heartbeat({ expected_interval_seconds: 60, grace_period_seconds: 0, ...fields });
  const answer = await api.ping(`/ping/${String(made['uuid'])}`);
  if (answer.status !== 200) throw new Error(answer.text);
  await api.database.raw.query(
    `update heartbeats set last_ping_at = last_ping_at - $2 * interval '1 second', expects_from = expects_from - $2 * interval '1 second',
       next_expected_at = next_expected_at - $2 * interval '1 second', deadline_at = deadline_at - $2 * interval '1 second',
       status_since = status_since - $2 * interval '1 second' where id = $1`,
    [made['id'], seconds],
  );
  await api.database.raw.query(
    `update heartbeat_ranges set started_at = started_at - $2 * interval '1 second' where heartbeat_id = $1`,
    [made['id'], seconds],
  );
  return made;
}

/** As if signals had been taken last so long ago. */
async function takenAgo(api: HeartbeatsApi, seconds: number): Promise<void> {
  await api.database.raw.query(`update intake_watch set taken_until = clock_timestamp() - $1 * interval '1 second'`, [
    seconds,
  ]);
}

void t.test('a deadline that has passed is one alarm, however many workers look', async (t) => {
  const api = await heartbeatsApi(t);
  const missed = await Promise.all(Array.from({ length: 20 }, () => pingedAgo(api, 3_600)));
  const fine = await api.heartbeat();
  await api.ping(`/ping/${String(fine['uuid'])}`);
  await takenAgo(api, 0);
  const { worker } = api.database;
  await Promise.all([1, 2, 3, 4].map(() => noticeMisses(worker)));
  await noticeMisses(worker);
  for (const { id } of missed) {
    t.match(await api.told(id), [
      { kind: 'heartbeat.missed', payload: { from: 'up', to: 'down', reason: 'missed', since: /Z$/ } },
    ]);
    t.equal((await api.told(id)).length, 1, 'once');
    t.match(await read(api, id), { status: 'down', down_reason: 'missed', consecutive_failures: 1, deadline_at: null });
  }
  t.same(await api.told(fine['id']), []);
  t.match(await read(api, fine['id']), { status: 'up' });
  const first = missed[0];
  await api.ping(`/ping/${String(first?.['uuid'])}`);
  t.match(await api.told(first?.['id']), [{}, { kind: 'heartbeat.recovered' }]);
  const stats = (await api.make('GET', `/api/v1/heartbeats/${String(first?.['id'])}/stats?hours=1`)).body;
  t.match(stats, { outages: 1, pings: { total: 2, ping: 2 } });
  t.ok((stats as { seconds: { down: number } }).seconds.down > 3_400, 'down since the deadline');
});

void t.test('deadlines wait for signals that nobody could take, and are credited once', async (t) => {
  const api = await heartbeatsApi(t);
  const { worker } = api.database;
  // Both deadlines have passed: one before the outage of ten minutes began, one in it.
  const before = await pingedAgo(api, 60 + 900);
  const inside = await pingedAgo(api, 60 + 300);
  await takenAgo(api, 600);
  await noticeMisses(worker);
  t.match(await read(api, before['id']), { status: 'down' }, 'what was missed before is missed');
  t.match(await read(api, inside['id']), { status: 'late' }, 'what lies in the outage waits');
  const deadline = Date.parse(String((await read(api, inside['id']))['deadline_at']));
  const creditMs = await noteTaken(worker, movers);
  t.ok(creditMs !== null && creditMs >= 660_000 && creditMs < 720_000, `${creditMs}`);
  t.equal(await noteTaken(worker, movers), null, 'and not again');
  t.equal(Date.parse(String((await read(api, inside['id']))['deadline_at'])), deadline + (creditMs ?? 0));
  await noticeMisses(worker);
  t.match(await read(api, inside['id']), { status: 'late' });
  await api.database.raw.query(
    `update heartbeats set deadline_at = clock_timestamp() - interval '10 milliseconds' where id = $1`,
    [inside['id']],
  );
  await takenAgo(api, 0);
  await noticeMisses(worker);
  t.match(await read(api, inside['id']), { status: 'down' }, 'a deadline that was moved is one all the same');
  t.equal((await api.told(inside['id'])).length, 1);
  const stats = await api.make('GET', `/api/v1/heartbeats/${String(before['id'])}/stats?hours=1`);
  t.ok((stats.body['seconds'] as { readonly unknown: number }).unknown >= 590, stats.text);
});

void t.test('a run that is open is credited too', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat({ max_runtime_seconds: 100, grace_period_seconds: 0 });
  await api.ping(`/ping/${String(made['uuid'])}/start`);
  const deadline = Date.parse(String((await read(api, made['id']))['deadline_at']));
  await takenAgo(api, 600);
  const creditMs = (await noteTaken(api.database.worker, movers)) ?? 0;
  t.equal(Date.parse(String((await read(api, made['id']))['deadline_at'])), deadline + creditMs);
  await api.ping(`/ping/${String(made['uuid'])}/start?rid=728b3763-04b0-4e9a-b5b5-5b1a5b6f0f2a`);
  const { rows } = await api.database.raw.query<{ deadline: Date }>(
    'select deadline_at as deadline from heartbeats where id = $1',
    [made['id']],
  );
  t.ok(Math.abs((rows[0]?.deadline.getTime() ?? 0) - deadline) < creditMs, 'the second run has a deadline of its own');
});

void t.test('nothing is missed while nobody takes signals at all', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await pingedAgo(api, 3_600);
  await noticeMisses(api.database.worker);
  t.match(await read(api, made['id']), { status: 'late' });
});
