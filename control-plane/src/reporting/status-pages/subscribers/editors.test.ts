import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { linkIn, subscribersApi } from './testing.ts';

void t.test('editors see, add and remove subscribers', async (t) => {
  const api = await subscribersApi(t);
  const page = await api.page();
  const at = `/api/v1/status-pages/${page.id}/subscribers`;
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.call(method, path, { token: api.token, headers, ...(body === undefined ? {} : { body }) });
  const listed = async (query = '') => {
    const { subscribers, next } = z
      .object({
        subscribers: z.array(z.object({ id: z.number(), target: z.string(), state: z.string() }).loose()),
        next: z.number().nullable(),
      })
      .parse((await call('GET', `${at}${query}`)).body);
    return { subscribers, next };
  };

  await t.test('whoever is added is asked, and told nothing before', async (t) => {
    const added = await call('POST', at, {
      subscribers: [
        { target: 'one@example.com', component_ids: [page.components[0]], locale: 'ru' },
        { target: 'two@example.com' },
        { target: 'TWO@example.com' },
      ],
    });
    t.same([added.status, added.body], [202, { added: 2, known: 1 }]);
    const mails = await api.asked();
    t.same(mails.map(({ parsed }) => String(parsed.subject)).toSorted(), [
      'Confirm your subscription to Shop',
      'Подтвердите подписку: Shop',
    ]);
    await api.outage(page.monitors[0]);
    t.same(await api.told(), []);
    const { subscribers } = await listed();
    t.match(subscribers, [
      { kind: 'email', target: 'one@example.com', component_ids: [page.components[0]], locale: 'ru', state: 'pending' },
      { target: 'two@example.com', component_ids: [], locale: 'en', state: 'pending' },
    ]);
    await api.form(`${linkIn(mails[0])}?action=confirm`, []);
    t.equal((await listed('?state=active')).subscribers.length, 1);
  });

  await t.test('the list goes on where it ended', async (t) => {
    const first = await listed('?limit=1');
    t.equal(first.next, first.subscribers[0]?.id);
    const second = await listed(`?limit=1&after=${first.next}`);
    t.same([second.subscribers[0]?.target, second.next], ['two@example.com', null]);
  });

  await t.test('an export can be imported, and a file that is wrong adds nobody', async (t) => {
    const csv = await call('GET', at, undefined, { accept: 'text/csv' });
    t.match(csv.headers.get('content-disposition'), 'subscribers.csv');
    t.equal(csv.text.split('\r\n').length, 4);
    const other = await api.page();
    const into = `/api/v1/status-pages/${other.id}/subscribers/import`;
    const send = (body: string) => call('POST', into, body, { 'content-type': 'text/csv' });
    t.same((await send(csv.text)).body, { added: 2, known: 0 });
    t.same((await send('target\nthree@example.com\none@example.com\n')).body, { added: 1, known: 1 });
    for (const wrong of [
      'name\nx\n',
      'target\nnobody\n',
      'kind;target\nfax;1@example.com\n',
      'target\n"',
      'target,locale\na@example.com,xx\n',
    ]) {
      t.equal((await send(wrong)).status, 422, wrong);
    }
    const many = ['target', ...Array.from({ length: 501 }, (_, index) => `n${index}@example.com`)].join('\n');
    t.equal((await send(many)).status, 422);
    t.equal(await api.count(sql.fragment`status_page_subscribers where page_id = ${other.id}`), 3);
  });

  await t.test('what cannot be is refused by its place', async (t) => {
    const wrong = await call('POST', at, { subscribers: [{ target: 'a@example.com' }, { target: 'nobody' }] });
    t.match([wrong.status, wrong.body['errors']], [422, [{ path: '/subscribers/1/target' }]]);
    t.equal(
      (await call('POST', '/api/v1/status-pages/999/subscribers', { subscribers: [{ target: 'a@example.com' }] }))
        .status,
      404,
    );
    t.equal((await call('DELETE', `${at}/999999`)).status, 404);
  });

  await t.test('one who is removed is told nothing more', async (t) => {
    const [first] = (await listed()).subscribers;
    t.equal((await call('DELETE', `${at}/${first?.id}`)).status, 204);
    t.same(
      (await listed()).subscribers.map(({ target }) => target),
      ['two@example.com'],
    );
  });

  await t.test('viewers do not see them, and the plan has room for so many', async (t) => {
    const viewer = await api.account('viewer@example.com');
    await api.database.worker.query(sql.unsafe`
      insert into workspace_members (workspace_id, user_id, role) values (${api.workspaceId}, ${viewer.id}, 'viewer')`);
    t.equal((await api.call('GET', at, { token: viewer.accessToken })).status, 403);
    await api.database.worker.query(sql.unsafe`update users set plan = 'free' where id = ${api.owner.id}`);
    const many = Array.from({ length: 100 }, (_, index) => ({ target: `p${index}@example.com` }));
    const refused = await call('POST', at, { subscribers: many });
    t.match([refused.status, refused.body], [409, { code: 'too_many_subscribers' }]);
    t.equal((await listed()).subscribers.length, 1);
    t.equal((await call('POST', at, { subscribers: many.slice(1) })).status, 202);
  });

  await t.test('with the page its subscribers are gone', async (t) => {
    t.equal((await call('DELETE', `/api/v1/status-pages/${page.id}`)).status, 204);
    t.equal(await api.count(sql.fragment`status_page_subscribers where page_id = ${page.id}`), 0);
  });
});
