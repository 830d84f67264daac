import { resetStatsRoute } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, addProbe, addRange, addResults, monitorsApi, setStatus } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';
import { addOfEverything, addPackedHours, keptRows, noRows } from '../emptying/testing.ts';
import { emptyReset } from '../emptying/job.ts';
import { recordResetEmpty } from '../emptying/queries.ts';

const row = z.record(z.string(), z.unknown());

async function withEverything(api: MonitorsApi, id: number, atMs = Date.now() - 1_000) {
  await setStatus(api.database, id, 'DOWN');
  return addOfEverything(api.database, { id, workspaceId: api.workspaceId }, atMs);
}

const reset = (
  api: MonitorsApi,
  id: number,
  options: { readonly token?: string; readonly headers?: Record<string, string> } = {},
) => api.call('POST', `/api/v1/monitors/${id}/reset-stats`, { token: api.token, body: { confirm: true }, ...options });

async function resetAtOf(api: MonitorsApi, id: number): Promise<number | null> {
  return api.database.worker.oneFirst(
    sql.type(z.object({ reset_at: z.number().nullable() }))`select reset_at from monitors where id = ${id}`,
  );
}

void t.test(
  'a reset removes all that was measured of its monitor, keeps its configuration and says what went',
  async (t) => {
    const hooked: unknown[] = [];
    const api = await monitorsApi(t, {
      monitors: {
        onMonitorReset: [
          async (_transaction, id, atMs) => {
            hooked.push([id, atMs]);
            return { incidents: 3 };
          },
        ],
        rowsOfMonitor: [
          async (_worker, id, beforeMs) => {
            hooked.push([id, beforeMs]);
            return { removed: { incidents: 2 }, wasAny: false, wasHeld: false };
          },
        ],
      },
    });
    const probe = await addProbe(api.database, 'p', 'eu');
    const { id } = await api.monitor({ name: 'Shop' });
    const other = await api.monitor();
    await withEverything(api, id);
    const others = await withEverything(api, other.id);
    api.broker.hints.length = 0;
    const done = await reset(api, id);
    t.equal(done.status, 200, JSON.stringify(done.body));
    t.ok(resetStatsRoute.success.answer?.safeParse(done.body).success);
    const atMs = Date.parse(String(done.body['reset_at']));
    t.match(done.body, {
      monitor_id: id,
      removed: {
        // 60 rows stand hot; of the 480 packed hours none is out of the hot rows' time, so they hold the same results.
        results: 60,
        result_evidence: 1,
        status_ranges: 2,
        probe_ranges: 2,
        hourly_aggregates: 480,
        diagnoses: 1,
        incidents: 5,
      },
    });
    t.equal(await resetAtOf(api, id), atMs);
    t.ok(Math.abs(Date.now() - atMs) < 30_000);
    t.same(hooked, [
      [id, atMs],
      [id, atMs],
    ]);
    t.same(await keptRows(api.database, id), noRows);
    t.same(await keptRows(api.database, other.id), others, 'others keep theirs');
    t.same(api.broker.hints, ['config.0'], 'the ingest is told, and no probe');
    const read = await api.call('GET', `/api/v1/monitors/${id}`, { token: api.token });
    t.match(read.body, {
      name: 'Shop',
      status: 'UNKNOWN',
      status_since: new Date(atMs).toISOString(),
      last_checked_at: null,
      uptime_24h: null,
      version: 2,
      probe_revision: 1,
      assigned_probes: [{ probe_id: probe }],
    });
    t.equal(done.headers.get('etag'), '"2"');
    t.match(await api.database.worker.any(sql.type(row)`select key, kind, payload from outbox`), [
      { key: `monitor:${id}`, kind: 'monitor.reset', payload: { monitor_id: id, at: new Date(atMs).toISOString() } },
    ]);
    t.match(
      await api.database.worker.any(
        sql.type(row)`select action, subject_id from audit_log where action = 'monitor.reset'`,
      ),
      [{ subject_id: String(id) }],
    );
  },
);

void t.test('results that stand in packed hours only are counted there', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  const atMs = Date.now() - 1_000;
  await withEverything(api, id, atMs);
  const hotFromMs = Math.floor(atMs / 86_400_000) * 86_400_000;
  await api.database.worker.query(
    sql.unsafe`update result_storage set hot_from = ${sql.timestamp(new Date(hotFromMs))}`,
  );
  const hotHours = Math.floor((atMs - hotFromMs) / 3_600_000);
  const packedHours = 240 - Math.floor(atMs / 3_600_000) + hotFromMs / 3_600_000;
  t.match((await reset(api, id)).body, {
    removed: { results: 2 * (Math.min(29, hotHours) + 1) + 2 * 6 * packedHours, hourly_aggregates: 480 },
  });
});

void t.test('it wants a clear word, the role editor and the present version', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  const path = `/api/v1/monitors/${id}/reset-stats`;
  for (const body of [undefined, {}, { confirm: false }, { confirm: 'true' }, { confirm: true, more: 1 }, [], null]) {
    t.equal((await api.call('POST', path, { token: api.token, body })).status, 422, JSON.stringify(body));
  }
  const viewer = await api.account('viewer@example.com');
  const stranger = await api.account('stranger@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  t.equal((await reset(api, id, { token: viewer.accessToken })).status, 403);
  t.equal((await reset(api, id, { token: stranger.accessToken })).status, 404);
  t.equal((await reset(api, 999)).status, 404);
  t.equal((await api.call('POST', path, { body: { confirm: true } })).status, 401);
  t.equal((await reset(api, id, { headers: { 'if-match': '"7"' } })).status, 412);
  t.equal(await resetAtOf(api, id), null, 'nothing of that was a reset');
  const key = async (readOnly: boolean) =>
    String(
      (await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k', read_only: readOnly } })).body[
        'key'
      ],
    );
  t.equal((await api.call('POST', path, { key: await key(true), body: { confirm: true } })).status, 403);
  t.equal((await api.call('POST', path, { key: await key(false), body: { confirm: true } })).status, 200);
  t.equal((await reset(api, id, { headers: { 'if-match': '"2"' } })).status, 200);
  await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token });
  t.equal((await reset(api, id)).status, 404, 'a deleted monitor');
});

void t.test(
  'a reset that takes too long answers 504 and shows nothing of before; the rest goes in the background',
  async (t) => {
    const api = await monitorsApi(t, { monitors: { deletionDeadlineMs: 0 } });
    await addProbe(api.database, 'p', 'eu');
    const { id } = await api.monitor();
    const before = await withEverything(api, id, Date.now() - 60_000);
    const [range] = await api.database.worker.anyFirst(
      sql.type(z.object({ id: z.bigint() }))`select id from status_ranges where monitor_id = ${id}`,
    );
    const done = await reset(api, id);
    t.match(done, { status: 504, body: { code: 'deadline_exceeded' } });
    t.same(await keptRows(api.database, id), before, 'all is there');
    const path = `/api/v1/monitors/${id}`;
    const get = async (rest: string) => (await api.call('GET', `${path}${rest}`, { token: api.token })).body;
    t.match(await get(''), { status: 'UNKNOWN', last_checked_at: null, last_response_time_ms: null, uptime_24h: null });
    for (const list of ['status-ranges', 'status-ranges?hours=1', 'results']) {
      t.equal((await get(`/${list}`))['total'], 0, list);
    }
    t.same((await get('/timeline'))['timeline'], []);
    t.same((await get('/timeline?probe_id=1'))['timeline'], []);
    t.match(await get(`/status-ranges/${range}/evidence`), { status: 404 });
    const down = await api.call('GET', '/api/v1/monitors?status_filter=down', { token: api.token });
    t.match(down.body, { total: 0 });

    const resetMs = (await resetAtOf(api, id)) ?? 0;
    await addResults(api.database, [{ monitorId: id, probeId: 1, atMs: resetMs, totalUs: 7_000 }]);
    await addRange(api.database, {
      monitorId: id,
      fromMs: resetMs - 2 * 3_600_000,
      toMs: resetMs - 3_600_000 - 1,
      status: 'UP',
    });
    t.match(await get(''), { last_checked_at: new Date(resetMs).toISOString() }, 'what came after is there');

    const empty = (mayGoOn = true) => emptyReset(api.context, [], () => mayGoOn);
    t.equal(await empty(), 0, 'a request may still be at it');
    await api.database.worker.query(sql.unsafe`update monitors set reset_at = reset_at - interval '26 seconds'`);
    t.equal(await empty(false), 0, 'stopped before the first batch');
    t.equal(await empty(), 1);
    t.same(await keptRows(api.database, id), { ...noRows, check_results: 1 });
    t.equal(await empty(), 0);
  },
);

void t.test('a minute after a reset the data is looked at once more', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  t.equal((await reset(api, id)).status, 200);
  const resetMs = (await resetAtOf(api, id)) ?? 0;
  const late = await withEverything(api, id, resetMs - 2 * 3_600_000);
  t.equal(late.check_results, 60);
  t.equal(await emptyReset(api.context, [], () => true), 0);
  await api.database.worker.query(sql.unsafe`
    update monitors set reset_at = reset_at - interval '61 seconds', reset_emptied_at = reset_emptied_at - interval '61 seconds'`);
  t.equal(await emptyReset(api.context, [], () => true), 1);
  t.same(await keptRows(api.database, id), noRows);
  t.equal(await emptyReset(api.context, [], () => true), 0);
});

void t.test('the hour of a reset is packed anew where it was packed already', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  t.equal((await reset(api, id)).status, 200);
  const hour = Math.floor(((await resetAtOf(api, id)) ?? 0) / 3_600_000);
  await addPackedHours(api.database, id, hour, hour);
  await api.database.worker.query(sql.unsafe`update monitors set reset_emptied_at = null, updated_at = now()`);
  await recordResetEmpty(api.database.worker, id, (await resetAtOf(api, id)) ?? 0);
  t.match(await keptRows(api.database, id), { result_hours: 2, stale_hours: 1 });
});

void t.test('each call is a reset of its own; concurrent ones and a deletion settle', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'p', 'eu');
  const { id } = await api.monitor();
  await withEverything(api, id);
  const answers = await Promise.all(Array.from({ length: 4 }, () => reset(api, id)));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const times = answers.map(({ body }) => String(body['reset_at']));
  t.equal(new Set(times).size, 4, 'no two are of one instant');
  t.equal(await resetAtOf(api, id), Math.max(...times.map((at) => Date.parse(at))));
  t.same(await keptRows(api.database, id), noRows);
  const total = (kind: string) =>
    answers.reduce((sum, { body }) => sum + ((body['removed'] as Record<string, number>)[kind] ?? 0), 0);
  t.equal(total('results'), 60, 'no row is counted twice');
  t.equal(total('status_ranges'), 2);

  await withEverything(api, id);
  const [deleted, ...resets] = await Promise.all([
    api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token }),
    reset(api, id),
    reset(api, id),
  ]);
  t.equal(deleted.status, 204);
  for (const { status } of resets) t.ok(status === 200 || status === 404, String(status));
  t.same(await keptRows(api.database, id), noRows);
});
