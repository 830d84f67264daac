import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addProbe, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';
import { emptyDeleted as emptyDeletedWith } from '../emptying/job.ts';
import { addOfEverything, keptRows, noRows } from '../emptying/testing.ts';
import type { KeptRows } from '../emptying/testing.ts';

const row = z.record(z.string(), z.unknown());

const emptyDeleted = (context: MonitorsApi['context'], mayGoOn: () => boolean): Promise<number> =>
  emptyDeletedWith(context, [], mayGoOn);

const withData = (api: MonitorsApi, monitorId: number): Promise<KeptRows> =>
  addOfEverything(api.database, { id: monitorId, workspaceId: api.workspaceId }, Date.now());

void t.test('pausing writes the interval and tells others, resuming ends it; both are idempotent', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'p', 'eu');
  const { id } = await api.monitor();
  const post = (verb: string) => api.call('POST', `/api/v1/monitors/${id}/${verb}`, { token: api.token });
  const pauses = () =>
    api.database.worker.any(
      sql.type(
        row,
      )`select ended_at is null as is_open, paused_by, ended_at > started_at as is_real from pauses order by id`,
    );
  api.broker.hints.length = 0;
  const paused = await post('pause');
  t.match(paused, {
    status: 200,
    body: { is_active: false, paused_by: 'self', status: 'UNKNOWN', version: 2, probe_revision: 1 },
  });
  t.same(new Set(api.broker.hints), new Set(['config.0', 'dispatch.1']));
  t.match((await post('pause')).body, { version: 2 });
  t.match(await pauses(), [{ is_open: true, paused_by: 'self' }]);
  t.match(await post('resume'), { status: 200, body: { is_active: true, paused_by: null, version: 3 } });
  t.match((await post('resume')).body, { version: 3 });
  t.match(await pauses(), [{ is_open: false, is_real: true }]);
  const outbox = await api.database.worker.any(sql.type(row)`select key, kind, payload from outbox order by id`);
  t.match(outbox, [
    { key: `monitor:${id}`, kind: 'monitor.paused', payload: { monitor_id: id, workspace_id: api.workspaceId } },
    { key: `monitor:${id}`, kind: 'monitor.resumed' },
  ]);
  const revisions = await api.database.worker.any(sql.type(row)`select revision from assignments`);
  t.match(revisions, [{ revision: 3n }], 'the probe learns of each change');
});

void t.test('a monitor may be created paused, and PATCH switches it too', async (t) => {
  const api = await monitorsApi(t);
  const made = await api.monitor({ is_active: false });
  t.match(made, { is_active: false, paused_by: 'self' });
  const resumed = await api.call('PATCH', `/api/v1/monitors/${made.id}`, {
    token: api.token,
    body: { is_active: true, name: 'new' },
  });
  t.match(resumed, { status: 200, body: { is_active: true, name: 'new', paused_by: null } });
  t.match(await api.database.worker.any(sql.type(row)`select ended_at is null as is_open from pauses`), [
    { is_open: false },
  ]);
});

void t.test('deleting empties the data, frees the probes, runs the hooks and answers 204, then 404', async (t) => {
  const hooked: number[] = [];
  const api = await monitorsApi(t, {
    monitors: { onMonitorDeleted: [async (_transaction, id) => void hooked.push(id)] },
  });
  const probe = await addProbe(api.database, 'p', 'eu');
  const { id } = await api.monitor({ settings: { password: 'secret' } });
  const other = await api.monitor();
  await withData(api, id);
  const others = await withData(api, other.id);
  api.broker.hints.length = 0;
  const path = `/api/v1/monitors/${id}`;
  t.equal((await api.call('DELETE', path, { token: api.token, headers: { 'if-match': '"9"' } })).status, 412);
  const gone = await api.call('DELETE', path, { token: api.token });
  t.equal(gone.status, 204);
  t.same(await keptRows(api.database, id), noRows);
  t.same(await keptRows(api.database, other.id), others, 'others keep theirs');
  t.same(hooked, [id]);
  t.same(new Set(api.broker.hints), new Set(['config.0', `dispatch.${probe}`]));
  for (const [method, url] of [
    ['GET', path],
    ['PATCH', path],
    ['DELETE', path],
    ['POST', `${path}/pause`],
    ['GET', `${path}/results`],
    ['GET', `${path}/timeline`],
  ] as const) {
    t.equal(
      (await api.call(method, url, { token: api.token, ...(method === 'PATCH' ? { body: {} } : {}) })).status,
      404,
      `${method} ${url}`,
    );
  }
  const left = await api.database.worker.one(
    sql.type(row)`select sealed_secrets, settings, url from monitors where id = ${id}`,
  );
  t.same(left, { sealed_secrets: null, settings: {}, url: 'deleted' });
  t.match(
    await api.database.worker.any(
      sql.type(row)`select ended_at is null as is_open from assignments where monitor_id = ${id}`,
    ),
    [{ is_open: false }],
  );
});

void t.test(
  'a deletion that takes too long answers 504, is finished in the background, and the same call answers 204',
  async (t) => {
    const api = await monitorsApi(t, { monitors: { deletionDeadlineMs: 0 } });
    const { id } = await api.monitor();
    const before = await withData(api, id);
    const path = `/api/v1/monitors/${id}`;
    t.match(await api.call('DELETE', path, { token: api.token }), { status: 504, body: { code: 'deadline_exceeded' } });
    t.equal((await api.call('GET', path, { token: api.token })).status, 404, 'gone for every other route');
    t.same(await keptRows(api.database, id), before);
    t.equal(await emptyDeleted(api.context, () => true), 0, 'a request may still be at it');
    await api.database.worker.query(
      sql.unsafe`update monitors set deleted_at = now() - interval '26 seconds' where id = ${id}`,
    );
    t.equal(await emptyDeleted(api.context, () => false), 0, 'stopped before the first batch');
    t.equal(await emptyDeleted(api.context, () => true), 1);
    t.same(await keptRows(api.database, id), noRows);
    t.equal(await emptyDeleted(api.context, () => true), 0);
  },
);

void t.test('a minute after a deletion the data is looked at once more', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  t.equal((await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token })).status, 204);
  await withData(api, id);
  await api.database.worker.query(sql.unsafe`
    update monitors set deleted_at = deleted_at - interval '61 seconds', emptied_at = emptied_at - interval '61 seconds'`);
  t.equal(await emptyDeleted(api.context, () => true), 1);
  t.same(await keptRows(api.database, id), noRows);
  t.equal(await emptyDeleted(api.context, () => true), 0);
});

void t.test('the same call after a timeout answers 204 once, then 404', async (t) => {
  const slow = await monitorsApi(t, { monitors: { deletionDeadlineMs: 0 } });
  const { id } = await slow.monitor();
  t.equal((await slow.call('DELETE', `/api/v1/monitors/${id}`, { token: slow.token })).status, 504);
  await slow.database.worker.query(
    sql.unsafe`update monitors set deleted_at = now() - interval '26 seconds' where id = ${id}`,
  );
  await emptyDeleted(slow.context, () => true);
  const again = await slow.call('DELETE', `/api/v1/monitors/${id}`, { token: slow.token });
  t.equal(again.status, 204, JSON.stringify(again.body));
  t.equal((await slow.call('DELETE', `/api/v1/monitors/${id}`, { token: slow.token })).status, 404);
});
