import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { defaultWorkspace, monitorsApi } from '../testing.ts';
import { keepRows, keptTables } from './testing/kept-rows.ts';

/* What is kept of a monitor is seen by its tenant alone, although its rows name none: the tables are filled and asked by the login of requests. */

const api = await monitorsApi(t);
const stranger = await api.account('stranger@example.com');
const theirs = await defaultWorkspace(api, stranger.accessToken);
const own = (await api.monitor()).id;
const made = await api.call('POST', '/api/v1/monitors', {
  token: stranger.accessToken,
  body: { workspace_id: theirs, url: 'https://example.com/' },
});
const foreign = Number(made.body['id']);
for (const id of [own, foreign]) await keepRows(api.database.worker, id);

const nobody = { userId: stranger.id, workspaceIds: [] };
const scopes = [
  [{ userId: api.owner.id, workspaceIds: [api.workspaceId] }, [own]],
  [{ userId: stranger.id, workspaceIds: [theirs] }, [foreign]],
  [{ userId: stranger.id, workspaceIds: [api.workspaceId, theirs] }, [own, foreign]],
  [nobody, []],
] as const;

for (const [table, use] of keptTables) {
  const name = sql.identifier([table]);
  const ids = sql.type(z.object({ monitor_id: z.number() }))`select monitor_id from ${name} order by 1`;
  void t.test(`${table} shows a tenant its own monitors only`, async (t) => {
    t.same(await api.database.worker.anyFirst(ids), [own, foreign]);
    if (use === 'nothing') {
      await t.rejects(
        inScope(api.database.api, nobody, (tx) => tx.anyFirst(ids)),
        { message: /permission denied/i },
      );
      return;
    }
    for (const [scope, seen] of scopes)
      t.same(await inScope(api.database.api, scope, (tx) => tx.anyFirst(ids)), seen, scope.workspaceIds.join());
    t.same(await api.database.api.anyFirst(ids), [], 'and nobody sees anything outside a request');
    if (use === 'write') {
      const { rowCount } = await inScope(api.database.api, scopes[0][0], (tx) =>
        tx.query(sql.unsafe`update ${name} set monitor_id = monitor_id`),
      );
      t.equal(rowCount, 1, 'what requests write is of their own monitors');
      return;
    }
    for (const write of [sql.fragment`delete from ${name}`, sql.fragment`update ${name} set monitor_id = 0`])
      await t.rejects(
        inScope(api.database.api, scopes[0][0], (tx) => tx.query(sql.unsafe`${write}`)),
        { message: /permission denied/i },
        'requests change none of it',
      );
  });
}

void t.test('a request that switches a monitor makes its own ends due and no others', async (t) => {
  await api.database.worker.query(sql.unsafe`update monitor_expiries set look_at = 'infinity'`);
  const due = () =>
    api.database.worker.anyFirst(
      sql.type(
        z.object({ monitor_id: z.number() }),
      )`select monitor_id from monitor_expiries where look_at < 'infinity'`,
    );
  const reach = (monitorId: number) =>
    inScope(api.database.api, scopes[0][0], (tx) => tx.query(sql.unsafe`select look_at_expiries(${monitorId})`));
  await reach(foreign);
  t.same(await due(), []);
  await api.call('POST', `/api/v1/monitors/${own}/pause`, { token: api.token });
  t.same(await due(), [own]);
});
