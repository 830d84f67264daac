import t from 'tap';
import { z } from 'zod';
import { accountsCapability } from '../../../identity/accounts/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import { monitorsApi } from '../../testing.ts';
import { emptyDeletedWorkspaces } from './job.ts';
import { emptyDeleted } from '../emptying/job.ts';
import { addOfEverything, keptRows, noRows } from '../emptying/testing.ts';

t.test('with an account go its monitors and all that was measured, and nothing of others', async (t) => {
  const api = await monitorsApi(t, { more: [accountsCapability] });
  const eve = await api.account('eve@example.com');
  const { id } = await api.monitor({ url: 'https://ada.example/', settings: { headers: { 'x-token': 'secret' } } });
  const foreign = await api.call('POST', '/api/v1/monitors', {
    token: eve.accessToken,
    body: { workspace_id: 2, url: 'https://eve.example/' },
  });
  t.equal(foreign.status, 201);
  // The last administrator could not go.
  await api.database.worker.query(sql.unsafe`update users set is_administrator = true where id = ${eve.id}`);
  const other = Number(foreign.body['id']);
  await addOfEverything(api.database, { id, workspaceId: api.workspaceId }, Date.now());
  const kept = await addOfEverything(api.database, { id: other, workspaceId: 2 }, Date.now());
  const gone = await api.call('DELETE', '/api/v1/auth/me', {
    token: api.token,
    body: { password: api.owner.password },
  });
  t.equal(gone.status, 204);
  await emptyDeletedWorkspaces(api.context, [], () => true);
  const monitor = await api.database.worker.one(
    sql.type(
      z.object({ is_deleted: z.boolean(), url: z.string(), settings: z.unknown(), secrets: z.unknown() }),
    )`select deleted_at is not null as is_deleted, url, settings, sealed_secrets as secrets from monitors where id = ${id}`,
  );
  t.same(monitor, { is_deleted: true, url: 'deleted', settings: {}, secrets: null });
  await api.database.worker.query(sql.unsafe`
    update monitors set deleted_at = deleted_at - interval '1 minute' where deleted_at is not null`);
  await emptyDeleted(api.context, [], () => true);
  t.same(await keptRows(api.database, id), noRows);
  t.same(await keptRows(api.database, other), kept);
  t.equal((await api.call('GET', `/api/v1/monitors/${other}`, { token: eve.accessToken })).status, 200);
});
