import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { program } from '@parallax/testkit/program';
import t from 'tap';
import { z } from 'zod';
import { capabilities } from '../capabilities.ts';
import { testApi } from '../identity/testing.ts';
import { sql } from '../platform/database/pools.ts';
import { testDatabase } from '../platform/database/testing.ts';
import { memoryBus } from '../testing/probes.ts';

const { urls, database } = await testDatabase(t);
const administratorTargets = ['127.0.0.0/8'];
const api = await testApi(t, {
  database,
  capabilities,
  context: { bus: memoryBus(), administratorPrivateTargets: administratorTargets },
});
const administrator = await api.account('administrator@example.com');
const tenant = await api.account('tenant@example.com');

/** Runs the command as an operator does. */
async function run(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [program('control-plane/src/main.ts'), 'workspace', 'allow-ranges', ...args], {
    env: {
      PATH: process.env['PATH'],
      PARALLAX_DATABASE_URL: urls.owner,
      PARALLAX_DATABASE_API_URL: urls.api,
      PARALLAX_DATABASE_WORKER_URL: urls.worker,
    },
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

const workspaceOf = async (token: string): Promise<number> =>
  Number((await api.call('GET', '/api/v1/workspaces/default', { token })).body['id']);

t.test('an operator allows ranges to one workspace; its members see them and may check there', async (t) => {
  const id = await workspaceOf(tenant.accessToken);
  const make = (token: string, workspaceId: number, url: string) =>
    api.call('POST', '/api/v1/monitors', { token, body: { workspace_id: workspaceId, name: url, url } });
  const refused = { status: 422, body: { errors: [{ path: '/url', code: 'private_target' }] } };
  t.match(await make(tenant.accessToken, id, 'http://10.1.2.3/'), refused);
  t.match(await make(tenant.accessToken, id, 'http://localhost:9/'), refused);
  const test = { token: tenant.accessToken, body: { url: 'http://127.0.0.1:9/' } };
  t.match(await api.call('POST', '/api/v1/monitors/test', test), refused, 'nor by hand');
  const own = await workspaceOf(administrator.accessToken);
  t.equal((await make(administrator.accessToken, own, 'http://127.0.0.1:9/')).status, 201, 'an administrator may');

  t.match(await run(String(id), '10.1.0.0/16', 'fd00:20::/32'), {
    code: 0,
    out: `workspace ${id} is allowed 10.1.0.0/16, fd00:20::/32\n`,
  });
  const shown = await api.call('GET', `/api/v1/workspaces/${id}`, { token: tenant.accessToken });
  t.match(shown.body, { private_targets: ['10.1.0.0/16', 'fd00:20::/32'] });
  const monitor = await make(tenant.accessToken, id, 'http://10.1.2.3/');
  t.equal(monitor.status, 201);
  const change = (url: string) =>
    api.call('PATCH', `/api/v1/monitors/${Number(monitor.body['id'])}`, { token: tenant.accessToken, body: { url } });
  t.match(await change('http://10.2.0.1/'), refused);
  const changed = await change('http://10.1.9.9/');
  t.equal(changed.status, 200, JSON.stringify(changed.body));
  t.match(await make(administrator.accessToken, own, 'http://10.1.2.3/'), { status: 201 });

  t.match(await run(String(id), '--json'), {
    out: `${JSON.stringify({ id, private_targets: ['10.1.0.0/16', 'fd00:20::/32'] })}\n`,
  });
  t.match(await run(String(id), '--none'), { code: 0, out: /no private ranges/ });
  t.match(await change('http://10.1.9.8/'), refused);
  await database.worker.query(sql.unsafe`
    insert into probes (workspace_id, name, region, signing_public_key, last_seen_at)
    values (${id}, 'own', 'eu', ${sql.binary(Buffer.alloc(32, 1))}, now())`);
  t.equal((await change('http://10.1.9.8/')).status, 200, 'a private probe has its own list');
  const audits = await database.worker.anyFirst(sql.type(
    z.object({ detail: z.object({ after: z.array(z.string()) }) }),
  )`
    select detail from audit_log where workspace_id = ${id} and action = 'workspace.private_targets_set' order by id`);
  t.same(
    audits.map(({ after }) => after.length),
    [2, 0],
  );
  for (const args of [['0'], ['999'], [String(id), '10.0.0.0/33'], [String(id), '10.0.0.0/8', '--none']])
    t.equal((await run(...args)).code, 1, args.join(' '));
});
