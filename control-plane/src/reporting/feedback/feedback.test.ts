import { quietLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { accountsCapability } from '../../identity/accounts/index.ts';
import { identityCapabilities, testApi } from '../../identity/testing.ts';
import { mailConsumer, sendDue } from '../../platform/mail/job.ts';
import { smtpMailer } from '../../platform/mail/mailer.ts';
import { smtpOptions } from '../../platform/mail/smtp-options.ts';
import { mailServer } from '../../platform/mail/testing/mail-server.ts';
import { sql } from '../../platform/database/pools.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { feedbackCapability } from './index.ts';
import { excerpt } from './letters.ts';
import { keepUp } from './upkeep.job.ts';

const path = '/api/v1/feedback';
const hourMs = 3_600_000;
const bug = { kind: 'bug', message: 'The chart is empty.' };

/** An installation with its administrator and two users, and a mail server; the clock can be moved ahead. */
async function open(t: Test) {
  const server = await mailServer(t);
  const from = { name: 'Parallax', address: 'noreply@monitor.example' };
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), from);
  const ahead = { ms: 0 };
  const api = await testApi(t, {
    capabilities: [...identityCapabilities, feedbackCapability],
    context: { mailer, version: '1.2.3', publicUrl: 'https://monitor.example', now: () => Date.now() + ahead.ms },
  });
  const admin = await api.account('admin@example.com');
  const ada = await api.account('ada@example.com');
  const bob = await api.account('bob@example.com');
  await api.database.worker.query(sql.unsafe`update users set email_verified = true`);
  await api.database.worker.query(sql.unsafe`delete from outbox`);
  const consumers = [...(feedbackCapability.consumers ?? []), ...(accountsCapability.consumers ?? []), mailConsumer];
  const deliver = async (): Promise<void> => {
    while ((await workOnce(api.context, consumers)) > 0);
    while ((await sendDue(api.context, quietLog)) > 0);
  };
  const subjects = () => server.taken.map(({ to, parsed }) => `${to.join(', ')}: ${parsed.subject ?? ''}`);
  const send = async (token: string, more: object = {}) => {
    const answer = await api.call('POST', path, { token, body: { ...bug, ...more } });
    if (answer.status !== 201) throw new Error(answer.text);
    return Number(answer.body['id']);
  };
  return { api, admin, ada, bob, server, ahead, deliver, subjects, send };
}

t.test('feedback is sent, and read by its author and by administrators alone', async (t) => {
  const { api, admin, ada, bob, send } = await open(t);
  const made = await api.call('POST', path, {
    token: ada.accessToken,
    headers: { 'user-agent': `Browser ${'x'.repeat(600)}` },
    body: { kind: 'idea', message: '  A dark theme.\nPlease. ', page: '/monitors/7', may_contact: true },
  });
  t.equal(made.status, 201);
  t.match(made.body, {
    user_id: ada.id,
    email: null,
    kind: 'idea',
    message: 'A dark theme.\nPlease.',
    page: '/monitors/7',
    may_contact: true,
    version: '1.2.3',
    status: 'new',
    reply: null,
    replied_at: null,
  });
  t.equal(String(made.body['user_agent']).length, 500);
  const id = Number(made.body['id']);
  const quiet = await send(bob.accessToken);

  t.same((await api.call('GET', `${path}/${id}`, { token: ada.accessToken })).body, made.body);
  t.equal((await api.call('GET', `${path}/${id}`, { token: bob.accessToken })).status, 404);
  t.match((await api.call('GET', `${path}/${id}`, { token: admin.accessToken })).body, { email: 'ada@example.com' });
  t.match(
    (await api.call('GET', `${path}/${quiet}`, { token: admin.accessToken })).body,
    { email: null, user_id: bob.id },
    'an author who may not be contacted keeps the address',
  );

  const list = async (token: string, query = '') => {
    const { body } = await api.call('GET', path + query, { token });
    return z
      .object({ total: z.number(), feedback: z.array(z.object({ id: z.number(), email: z.unknown() })) })
      .parse(body);
  };
  t.same(await list(ada.accessToken), { total: 1, feedback: [{ id, email: null }] });
  t.same(await list(bob.accessToken), { total: 1, feedback: [{ id: quiet, email: null }] });
  t.same(await list(admin.accessToken), {
    total: 2,
    feedback: [
      { id: quiet, email: null },
      { id, email: 'ada@example.com' },
    ],
  });
  t.same(
    (await list(admin.accessToken, '?kind=IDEA')).feedback.map((one) => one.id),
    [id],
  );
  t.same((await list(admin.accessToken, '?status=seen')).feedback, []);
  t.same(
    (await list(admin.accessToken, '?page=2&page_size=1')).feedback.map((one) => one.id),
    [id],
  );

  const token = await api.call('POST', '/api/v1/auth/tokens', {
    token: admin.accessToken,
    body: { name: 'limited', workspace_ids: [1] },
  });
  t.match(
    await api.call('GET', path, { token: String(token.body['token']) }),
    { status: 403, body: { code: 'wrong_credential_kind' } },
    'a limited token has nothing of the account',
  );
});

t.test('what cannot be is refused by its place', async (t) => {
  const { api, ada } = await open(t);
  const refused = async (body: object) => {
    const answer = await api.call('POST', path, { token: ada.accessToken, body });
    const { errors } = z.object({ errors: z.array(z.object({ path: z.string() })) }).parse(answer.body);
    return [answer.status, ...errors.map((one) => one.path)];
  };
  t.same(await refused({ kind: 'rant', message: 'x' }), [422, '/kind']);
  t.same(await refused({ kind: 'bug', message: ' ' }), [422, '/message']);
  t.same(await refused({ kind: 'bug', message: 'x'.repeat(5_001) }), [422, '/message']);
  t.same(await refused({ kind: 'bug', message: 'a\u0007b' }), [422, '/message']);
  t.same(await refused({ ...bug, page: 'x'.repeat(501) }), [422, '/page']);
  t.same(await refused({ ...bug, status: 'done' }), [422, '/status'], 'nobody sets a status by sending');
  t.equal((await api.call('POST', path, { token: ada.accessToken, body: { ...bug, page: '' } })).body['page'], null);
});

t.test('an account sends ten items in 24 hours', async (t) => {
  const { api, ada, bob, send } = await open(t);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => api.call('POST', path, { token: ada.accessToken, body: bug })),
  );
  t.same(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [...Array.from({ length: 10 }, () => 201), 429, 429],
  );
  const refused = answers.find(({ status }) => status === 429);
  t.match(refused?.body, { code: 'rate_limited' });
  const seconds = Number(refused?.headers.get('retry-after'));
  t.ok(seconds > 86_000 && seconds <= 86_400, `${seconds} s`);
  t.match(refused?.headers.get('ratelimit'), /^"day";r=0;t=\d+$/);
  await send(bob.accessToken);
  await api.database.worker.query(sql.unsafe`
    update feedback set created_at = created_at - interval '24 hours' where id = (select min(id) from feedback)`);
  await send(ada.accessToken);
  t.equal((await api.call('POST', path, { token: ada.accessToken, body: bug })).status, 429, 'one left, one came');
});

t.test('administrators set the status and delete, others may not', async (t) => {
  const { api, admin, ada, send } = await open(t);
  const id = await send(ada.accessToken);
  const put = (token: string, body: object, of = id) => api.call('PUT', `${path}/${of}/status`, { token, body });
  t.equal((await put(ada.accessToken, { status: 'done' })).status, 403);
  t.equal((await put(admin.accessToken, { status: 'done' }, 999)).status, 404);
  t.match((await put(admin.accessToken, { status: 'planned', reply: 'Next month.' })).body, {
    status: 'planned',
    reply: 'Next month.',
    replied_at: /Z$/,
  });
  t.match((await put(admin.accessToken, { status: 'done' })).body, { status: 'done', reply: 'Next month.' });
  t.match((await api.call('GET', `${path}/${id}`, { token: ada.accessToken })).body, { reply: 'Next month.' });
  t.match((await put(admin.accessToken, { status: 'done', reply: null })).body, { reply: null, replied_at: null });

  t.equal((await api.call('DELETE', `${path}/${id}`, { token: ada.accessToken })).status, 403);
  t.equal((await api.call('DELETE', `${path}/${id}`, { token: admin.accessToken })).status, 204);
  t.equal((await api.call('DELETE', `${path}/${id}`, { token: admin.accessToken })).status, 404);
  t.equal((await api.call('GET', `${path}/${id}`, { token: ada.accessToken })).status, 404);
  const actions = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where action like 'feedback.%' order by id`);
  t.same(actions, ['feedback.created', ...Array.from({ length: 3 }, () => 'feedback.status_set'), 'feedback.deleted']);
});

t.test('administrators are mailed once an hour at most, about what others sent', async (t) => {
  const { api, admin, ada, bob, server, ahead, deliver, subjects, send } = await open(t);
  await api.database.worker.query(sql.unsafe`
    update users set is_administrator = true, locale = 'ru' where id = ${bob.id}`);
  await send(ada.accessToken, { message: 'First' });
  await deliver();
  t.same(subjects().sort(), ['admin@example.com: New feedback', 'bob@example.com: Новый отзыв']);
  t.match(server.taken[0]?.parsed.text, 'First');

  const id = await send(ada.accessToken, { message: 'Second <b>\u202e' });
  await send(bob.accessToken, { message: 'Third' });
  await api.call('DELETE', `${path}/${id - 1}`, { token: admin.accessToken });
  await deliver();
  ahead.ms = hourMs - 60_000;
  await keepUp(api.context);
  await deliver();
  t.equal(server.taken.length, 2, 'nothing more within the hour, also when the first item is gone');

  ahead.ms = hourMs + 60_000;
  await Promise.all([keepUp(api.context), keepUp(api.context)]);
  await deliver();
  t.same(subjects().slice(2).sort(), ['admin@example.com: New feedback: 2 items', 'bob@example.com: Новый отзыв']);
  const toBob = server.taken.slice(2).find(({ to }) => to.includes('bob@example.com'))?.parsed.text ?? '';
  t.match(toBob, 'Second <b>\n', 'on one line, without marks that change the direction');
  t.notMatch(toBob, 'Third', 'nobody is mailed about items of their own');
  ahead.ms = 3 * hourMs;
  await keepUp(api.context);
  await deliver();
  t.equal(server.taken.length, 4, 'each item is mailed once');
});

t.test('items wait while no administrator has a confirmed address', async (t) => {
  const { api, admin, ada, server, deliver, send } = await open(t);
  const confirm = (is: boolean) =>
    api.database.worker.query(sql.unsafe`update users set email_verified = ${is} where id = ${admin.id}`);
  await confirm(false);
  await send(ada.accessToken);
  await deliver();
  t.equal(server.taken.length, 0);
  await confirm(true);
  await keepUp(api.context);
  await deliver();
  t.equal(server.taken.length, 1);
});

t.test('each reply is mailed to the author once, in their language', async (t) => {
  const { api, admin, ada, bob, server, deliver, send } = await open(t);
  await api.database.worker.query(sql.unsafe`update feedback_mailing set mailed_at = now()`);
  await api.call('PATCH', '/api/v1/auth/me/locale', { token: ada.accessToken, body: { locale: 'ru' } });
  const id = await send(ada.accessToken, { message: 'Где график?' });
  const put = async (of: number, body: object) => {
    t.equal((await api.call('PUT', `${path}/${of}/status`, { token: admin.accessToken, body })).status, 200);
  };
  await put(id, { status: 'seen' });
  await deliver();
  t.equal(server.taken.length, 0, 'a status alone is not mailed');
  await put(id, { status: 'planned', reply: 'Скоро.\n\nСпасибо.' });
  await put(id, { status: 'planned', reply: 'Скоро.\n\nСпасибо.' });
  await put(id, { status: 'done' });
  await deliver();
  t.match(server.taken, [{ to: ['ada@example.com'], parsed: { subject: 'Ответ на ваш отзыв' } }]);
  t.equal(server.taken.length, 1);
  t.match(server.taken[0]?.parsed.text, /Скоро\.\s+Спасибо\.[^]*Где график\?/);
  await put(id, { status: 'done', reply: 'Готово.' });
  await put(id, { status: 'done', reply: 'Готово!' });
  await deliver();
  t.equal(server.taken.length, 2, 'a reply that was replaced before it was mailed is not mailed');
  t.match(server.taken[1]?.parsed.text, 'Готово!');

  const other = await send(bob.accessToken);
  await api.database.worker.query(sql.unsafe`update users set email_verified = false where id = ${bob.id}`);
  await put(other, { status: 'done', reply: 'Thanks.' });
  await deliver();
  t.equal(server.taken.length, 2, 'an address that is not confirmed gets nothing');
});

t.test('items of a deleted account lose their user and address, and three years end all', async (t) => {
  const { api, admin, ada, ahead, deliver, send } = await open(t);
  const id = await send(ada.accessToken, { may_contact: true });
  const body = { password: ada.password };
  t.equal((await api.call('DELETE', '/api/v1/auth/me', { token: ada.accessToken, body })).status, 204);
  const read = () => api.call('GET', `${path}/${id}`, { token: admin.accessToken });
  t.match((await read()).body, { email: null }, 'the address goes with the account');
  await deliver();
  t.match((await read()).body, { email: null, user_id: null, message: bug.message });
  ahead.ms = 3 * 365 * 24 * hourMs - 24 * hourMs;
  const left = () =>
    api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from feedback`);
  await keepUp(api.context);
  t.equal(await left(), 1);
  ahead.ms += 4 * 24 * hourMs;
  await keepUp(api.context);
  t.equal(await left(), 0);
});

t.test('requests reach no items of others, even without the filter of the queries', async (t) => {
  const { api, admin, ada, bob, send } = await open(t);
  await send(ada.accessToken);
  const seen = (userId: number) =>
    api.database.api.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`select set_config('parallax.user_id', ${String(userId)}, true)`);
      return transaction.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from feedback`);
    });
  t.same([await seen(ada.id), await seen(bob.id), await seen(admin.id)], [1, 0, 1]);
});

t.test('an excerpt is short and stands on one line', (t) => {
  t.equal(excerpt('a\n\n b\tc'), 'a b c');
  const long = excerpt('😀'.repeat(300));
  t.equal(Array.from(long).length, 200);
  t.match(long, /…$/);
  t.notMatch(long, '\ufffd');
  t.end();
});
