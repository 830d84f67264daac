import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import type { TestAccount, TestApi } from '../../testing.ts';
import { takeMails, tokenIn } from '../testing.ts';

const path = '/api/v1/auth';
const password = 'a rather long phrase 7';

const confirm = (api: TestApi, token: string) => api.call('POST', `${path}/confirm-email`, { body: { token } });
const me = async (api: TestApi, account: TestAccount) =>
  (await api.call('GET', `${path}/me`, { token: account.accessToken })).body;
const ask = (api: TestApi, account: TestAccount, newEmail: unknown, given: unknown = password) =>
  api.call('POST', `${path}/change-email`, {
    token: account.accessToken,
    body: { new_email: newEmail, password: given },
  });
const login = async (api: TestApi, email: string) =>
  (await api.call('POST', `${path}/login`, { body: { email, password } })).status;

t.test('a registration mails a link that confirms the address, once', async (t) => {
  const api = await testApi(t, { context: { publicUrl: 'https://monitor.example' } });
  const ada = await api.account('ada@example.com');
  const mails = await takeMails(api);
  t.match(mails, [{ to: ada.email, subject: 'Confirm your mail address' }]);
  t.match(mails[0]?.text, 'https://monitor.example/auth/confirm-email#token=');
  t.match(await me(api, ada), { email_verified: false });
  t.equal((await confirm(api, tokenIn(mails[0]))).status, 200);
  t.match(await me(api, ada), { email_verified: true, email: ada.email });
  t.match(await confirm(api, tokenIn(mails[0])), {
    status: 422,
    body: { code: 'invalid_token', detail: /verify-email/ },
  });
  t.match(await api.call('POST', `${path}/verify-email`, { token: ada.accessToken }), {
    status: 200,
    body: { message: /already/ },
  });
  t.same(await takeMails(api), [], 'nothing is left to be confirmed');
});

t.test('the link is mailed again when it is asked for, three in an hour', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const again = () => api.call('POST', `${path}/verify-email`, { token: ada.accessToken });
  t.equal((await again()).status, 200);
  t.equal((await again()).status, 200);
  const refused = await again();
  t.match(refused, { status: 429, body: { code: 'rate_limited' } });
  t.equal(refused.headers.get('retry-after'), '3600');
  const mails = await takeMails(api);
  t.equal(mails.length, 3);
  for (const mail of mails) t.equal((await confirm(api, tokenIn(mail))).status, 200, 'each of them is good');
});

t.test('another address is taken when it is confirmed, and the former one is told twice', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  t.match(await ask(api, ada, 'new@example.com', 'wrong phrase 1'), {
    status: 422,
    body: { errors: [{ path: '/password', code: 'wrong_password' }] },
  });
  t.equal((await ask(api, ada, ' New@Example.com ')).status, 200);
  const [link, notice] = await takeMails(api);
  t.match(link, { to: 'new@example.com', subject: 'Confirm your new mail address' });
  t.match(notice, { to: ada.email, subject: 'Your mail address is about to be changed', text: /new@example\.com/ });
  t.notMatch(notice?.text, tokenIn(link), 'without the link');
  t.match(await me(api, ada), { email: ada.email }, 'not yet');
  await api.call('POST', `${path}/forgot-password`, { body: { email: ada.email } });
  const [resetLink] = await takeMails(api);
  t.equal((await confirm(api, tokenIn(link))).status, 200);
  t.match(await me(api, ada), { email: 'new@example.com', email_verified: true });
  t.match(await takeMails(api), [{ to: ada.email, subject: 'Your mail address was changed' }]);
  t.equal(await login(api, ada.email), 401);
  t.equal(await login(api, 'new@example.com'), 200);
  const reset = await api.call('POST', `${path}/reset-password`, {
    body: { token: tokenIn(resetLink), new_password: 'another long phrase 8' },
  });
  t.match(reset, { status: 422, body: { code: 'invalid_token' } }, 'a link at the former address opens nothing');
});

t.test('an address that has an account meanwhile is not taken from it', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  await takeMails(api);
  const known = await ask(api, eve, ada.email);
  const unknown = await ask(api, eve, 'nobody@example.com');
  t.equal(known.status, 200);
  t.same(known.body, unknown.body, 'asking tells nothing');
  const [link] = await takeMails(api);
  t.equal(link?.to, ada.email);
  t.match(await confirm(api, tokenIn(link)), { status: 409, body: { code: 'email_taken' } });
  t.match(await me(api, eve), { email: eve.email });
  t.equal(await login(api, ada.email), 200);
});

t.test('a change of the password voids a change of the address, and keeps what confirms the present one', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const [own] = await takeMails(api);
  await ask(api, ada, 'thief@example.com');
  const [link] = await takeMails(api);
  await api.call('POST', `${path}/change-password`, {
    token: ada.accessToken,
    body: { current_password: password, new_password: 'another long phrase 8' },
  });
  t.match(await confirm(api, tokenIn(link)), { status: 422, body: { code: 'invalid_token' } });
  t.equal((await confirm(api, tokenIn(own))).status, 200);
});

t.test('a link for a new password confirms no address, and a hostile one is refused', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  await api.call('POST', `${path}/forgot-password`, { body: { email: ada.email } });
  const [link] = await takeMails(api);
  t.match(await confirm(api, tokenIn(link)), { status: 422, body: { code: 'invalid_token' } });
  for (const email of ['a@b.example\r\nBcc: eve@b.example', '"a"@b.example', `${'a'.repeat(250)}@b.de`, 'x', null]) {
    t.equal((await ask(api, ada, email)).status, 422, JSON.stringify(email).slice(0, 40));
  }
  t.same(await takeMails(api), []);
});

t.test('of many confirmations at once one takes the link, and all is written down', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  await ask(api, ada, 'new@example.com');
  const [link] = await takeMails(api);
  const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(api, tokenIn(link))));
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.equal(answers.filter(({ status }) => status === 422).length, 7);
  const actions = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where action like 'email.%' order by id`);
  t.same(actions, ['email.change_requested', 'email.changed']);
});
