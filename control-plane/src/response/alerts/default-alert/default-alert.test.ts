import t from 'tap';
import { alertSchema, defaultAlertEvents } from '@parallax/api-contract';
import { z } from 'zod';
import { accountsCapability } from '../../../identity/accounts/index.ts';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { workOnce } from '../../../platform/outbox/worker.ts';
import { alertsApi } from '../rules/testing.ts';

void t.test(
  'a new account has one alert, which tells its own address of everything in its first workspace',
  async (t) => {
    const api = await alertsApi(t);
    const listed = await api.alerts('GET', '');
    t.match(listed.body, { total: 1 });
    const [alert] = z.array(alertSchema).parse(listed.body['alerts']);
    t.match(alert, {
      workspace_id: api.workspaceId,
      is_default: true,
      is_active: true,
      owner: { id: api.owner.id },
      scope: { all: true },
      steps: [{ after_seconds: 0, targets: [{ channel: 'email', config_id: null, target: api.owner.email }] }],
      notify_on_recovery: true,
    });
    t.same(new Set(alert?.events), new Set(defaultAlertEvents));
    await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
    t.match((await api.alerts('GET', '')).body, { total: 1 }, 'of the first workspace only');
  },
);

void t.test('of many registrations of one address one has an account, and one alert', async (t) => {
  const api = await alertsApi(t);
  const body = { email: 'race@example.com', password: 'a rather long phrase 7' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.call('POST', '/api/v1/auth/register', { body })),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 1);
  const alerts = await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from alerts a join users u on u.id = a.owner_id where u.email = 'race@example.com'`);
  t.equal(alerts, 1);
});

void t.test(
  'mail to the own address follows it; language and zone are those of the person unless they are its own',
  async (t) => {
    const api = await alertsApi(t, [accountsCapability]);
    const own = { channel: 'email' };
    const others = { channel: 'email', target: 'other@example.com' };
    const { id } = await api.alert({
      steps: [
        { after_seconds: 0, targets: [own, others] },
        // The target's own, though it was the person's too when it was made.
        { after_seconds: 60, targets: [{ ...own, locale: 'en' }] },
      ],
      failover: own,
    });
    await api.database.worker.query(sql.unsafe`
    update users set email = 'new@example.com', locale = 'ru', timezone = 'Europe/Berlin' where id = ${api.owner.id}`);
    const followed = { target: 'new@example.com', locale: null, timezone: null };
    t.match(await api.read(id), {
      steps: [
        { targets: [followed, { target: 'other@example.com', locale: null, timezone: null }] },
        { targets: [{ ...followed, locale: 'en' }] },
      ],
      failover: followed,
      version: 2,
    });
    await api.database.worker.query(sql.unsafe`update users set display_name = 'Ada' where id = ${api.owner.id}`);
    t.equal((await api.read(id)).version, 2);
  },
);

void t.test('the alerts of an account go with it, also those in workspaces of others', async (t) => {
  const api = await alertsApi(t, [accountsCapability]);
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const { id } = await api.alert({}, { token: editor.accessToken });
  const { id: other } = await api.alert();
  const deleted = await api.call('DELETE', '/api/v1/auth/me', {
    token: editor.accessToken,
    body: { password: editor.password },
  });
  t.equal(deleted.status, 204, deleted.text);
  while ((await workOnce(api.context, accountsCapability.consumers ?? [])) > 0);
  t.equal((await api.alerts('GET', `/${id}`)).status, 404);
  t.equal((await api.alerts('GET', `/${other}`)).status, 200);
  const left = await api.database.worker.any(sql.unsafe`select from alerts where owner_id = ${editor.id}`);
  t.equal(left.length, 0, 'its default one too');
});
