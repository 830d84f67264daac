import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testApi } from '../testing.ts';
import type { TestAccount, TestAnswer, TestApi } from '../testing.ts';
import { totpCode } from '../sign-in/testing/totp-code.ts';
import { inviteToken, mailsOf, newWorkspace, tokenIn } from '../workspaces/testing.ts';
import { invitePageWords } from './words.ts';

const password = 'a rather long phrase 7';
const { en, ru } = invitePageWords;

type World = TestApi & { readonly owner: TestAccount; readonly workspaceId: number };
let world: World;

t.before(async () => {
  const api = await testApi(t, {
    context: { registration: 'invite', frontendUrl: 'https://console.example/base' },
  });
  const owner = await api.account('owner@example.com', { password });
  await api.call('PATCH', '/api/v1/auth/me', { token: owner.accessToken, body: { display_name: 'Ada <b>' } });
  world = { ...api, owner, workspaceId: await newWorkspace(api, owner, 'shared & "co"') };
});

/** Sends a form of the page as a browser does. */
function send(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  api: TestApi = world,
): Promise<TestAnswer> {
  return api.call('POST', '/invites', {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
  });
}

const newToken = (role = 'editor') => inviteToken(world, world.workspaceId, world.owner, role);

async function mailed(email: string): Promise<string> {
  const path = `/api/v1/workspaces/${world.workspaceId}/members`;
  await world.call('POST', path, { token: world.owner.accessToken, body: { email, role: 'viewer' } });
  return tokenIn((await mailsOf(world)).at(-1));
}

const login = (email: string) => world.call('POST', '/api/v1/auth/login', { body: { email, password } });

async function namesOfWorkspaces(email: string): Promise<readonly unknown[]> {
  const token = String((await login(email)).body['access_token']);
  const { body } = await world.call('GET', '/api/v1/workspaces', { token });
  return (body['workspaces'] as { name: string; role: string }[]).map(({ name, role }) => `${name} ${role}`);
}

/** Every field has a label, each identifier is there once, and whatever an attribute refers to exists. */
function faultsOf(html: string): readonly string[] {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  const fields = [...html.matchAll(/<input (?!type="hidden")(?:[^>]* )?id="([^"]+)"/g)].map(([, id]) => id);
  const referred = [...html.matchAll(/(?:for|aria-describedby|aria-labelledby)="([^"]+)"/g)].map(([, id]) => id);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} twice`),
    ...fields.filter((id) => !html.includes(`<label for="${id}">`)).map((id) => `${id} without a label`),
    ...referred.filter((id) => !ids.includes(id)).map((id) => `${id} is not there`),
  ];
}

void t.test('the link opens a page whose script takes the token out of the address and sends it', async (t) => {
  const token = await newToken();
  const page = await world.call('GET', '/invites');
  t.equal(page.status, 200, page.text);
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(page.headers.get('cache-control'), 'no-store');
  const script = /<script>(.*)<\/script>/s.exec(page.text)?.[1] ?? '';
  const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  t.equal(
    page.headers.get('content-security-policy'),
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(/<style>(.*)<\/style>/s.exec(page.text)?.[1])}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
  const run = (fragment: string) => {
    const done = { replaced: [] as unknown[], value: '', sent: 0 };
    const parts = { open: { submit: () => (done.sent += 1) }, token: done };
    runInNewContext(script, {
      location: { hash: fragment, pathname: '/invites' },
      history: { replaceState: (...given: unknown[]) => done.replaced.push(given) },
      document: { getElementById: (id: 'open' | 'token') => parts[id] },
    });
    return done;
  };
  t.match(run(`#${token}`), { replaced: [[null, '', '/invites']], value: token, sent: 1 });
  t.match(run(''), { value: '', sent: 0 });
  t.match(run('#<b>'), { value: '', sent: 0 });
  t.match(page.text, `<label for="token">${en.link}</label>`, 'without scripts the link is pasted');
  t.same(faultsOf(page.text), []);
  t.match((await send({ token: ` http://127.0.0.1/invites#${token}\n` })).text, en.create);
});

void t.test('the page says who invites to what as what, to who looks, and changes nothing', async (t) => {
  const token = await newToken('viewer');
  const page = await send({ token });
  t.equal(page.status, 200, page.text);
  t.match(page.text, 'Ada &lt;b&gt; invites you to the workspace “shared &amp; &quot;co&quot;”');
  t.match(page.text, en.may.viewer);
  t.notMatch(page.text, '<script');
  t.match(page.headers.get('content-security-policy'), "form-action 'self'");
  t.notMatch(page.headers.get('content-security-policy'), 'script-src');
  t.equal(page.headers.get('referrer-policy'), 'no-referrer');
  t.same(faultsOf(page.text), []);
  const russian = await send({ token: await newToken() }, { 'accept-language': 'ru-RU' });
  t.match(russian.text, '<html lang="ru">');
  for (const text of [ru.may.editor, ru.createButton, ru.signInButton]) t.match(russian.text, text);
  t.same(faultsOf(russian.text), []);
  t.equal((await send({ token, action: 'register', email: 'new@example.com', password })).status, 200, 'still good');
});

void t.test('somebody new registers and is a member; the invitation is used up', async (t) => {
  const token = await newToken();
  const form = { token, action: 'register', email: 'Bob@Example.com', password };
  const short = await send({ ...form, password: 'short' });
  t.equal(short.status, 422);
  t.match(short.text, `<p id="problem" role="alert">${en.problems.password}</p>`);
  t.match(short.text, 'value="Bob@Example.com"', 'what was entered stays');
  t.notMatch(short.text, 'value="short"', 'but never a password');
  t.match(short.text, `<title>${en.error}: `);
  t.match(short.text, /<input id="register-password"[^>]* aria-invalid="true" autofocus>/);
  t.same(faultsOf(short.text), []);
  t.equal((await send({ ...form, email: 'bob' })).status, 422);
  const done = await send(form);
  t.equal(done.status, 200, done.text);
  t.match(done.text, en.confirm);
  t.match(done.text, '<a href="https://console.example/base">');
  t.same(await namesOfWorkspaces('bob@example.com'), ['Default owner', 'shared & "co" editor']);
  const again = await send(form);
  t.equal(again.status, 410);
  t.match(again.text, en.dead.used[0]);
});

void t.test('somebody with an account signs in and is a member; no session is left', async (t) => {
  const token = await mailed('carol@example.com');
  const shown = await send({ token });
  t.match(shown.text, en.mailedTo('carol@example.com'));
  t.match(shown.text, /<input id="sign-in-email"[^>]* value="carol@example.com" readonly>/);
  const other = await send({ token, action: 'sign-in', email: 'owner@example.com', password });
  t.equal(other.status, 200, 'who is a member already needs none');
  t.match(other.text, en.member);
  const elsewhere = await newWorkspace(world, world.owner, 'elsewhere');
  const made = await Promise.all(
    ['carol@example.com', 'dan@example.com'].map(async (email) =>
      world.call('POST', '/api/v1/auth/register', {
        body: { email, password, invite_token: await inviteToken(world, elsewhere, world.owner) },
      }),
    ),
  );
  t.match(made, [{ status: 201 }, { status: 201 }]);
  const foreign = await send({ token, action: 'sign-in', email: 'dan@example.com', password });
  t.equal(foreign.status, 403);
  t.match(foreign.text, en.problems.other_address);
  const taken = await send({ token, action: 'register', email: 'carol@example.com', password });
  t.equal(taken.status, 409);
  t.match(taken.text, en.problems.email_taken);
  const wrong = await send({ token, action: 'sign-in', email: 'carol@example.com', password: 'wrong wrong' });
  t.equal(wrong.status, 401);
  t.match(wrong.text, en.problems.credentials);
  const done = await send({ token, action: 'sign-in', email: 'carol@example.com', password });
  t.equal(done.status, 200, done.text);
  t.match(done.text, 'You have joined the workspace “shared');
  t.equal(await lastingSessions(Number(made[0]?.body['id'])), 0);
  t.ok((await namesOfWorkspaces('carol@example.com')).includes('shared & "co" viewer'));
});

const lastingSessions = (userId: number) =>
  world.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`
      select count(*)::integer as n from sessions where user_id = ${userId} and revoked_at is null`,
  );

void t.test('an account with a second factor shows it, and a recovery code stands in for it', async (t) => {
  await send({ token: await newToken(), action: 'register', email: 'eve@example.com', password });
  const session = String((await login('eve@example.com')).body['access_token']);
  const begun = await world.call('POST', '/api/v1/auth/mfa/totp', { token: session, body: { password } });
  const secret = String(begun.body['secret']);
  const confirmed = await world.call('POST', '/api/v1/auth/mfa/totp/confirm', {
    token: session,
    body: { code: totpCode(secret, Date.now()) },
  });
  t.equal(confirmed.status, 200, confirmed.text);
  const [recovery = ''] = confirmed.body['recovery_codes'] as string[];
  const elsewhere = await newWorkspace(world, world.owner, 'second');
  const token = await inviteToken(world, elsewhere, world.owner);
  const form = { token, action: 'sign-in', email: 'eve@example.com', password };
  const asked = await send(form);
  t.equal(asked.status, 401);
  t.match(asked.text, en.problems.second_factor);
  const wrong = await send({ ...form, code: '000 000' });
  t.equal(wrong.status, 401);
  t.match(wrong.text, en.problems.wrong_second_factor);
  const done = await send({ ...form, code: recovery });
  t.equal(done.status, 200, done.text);
  t.match(done.text, 'You have joined the workspace “second”');
});

void t.test('an invitation that lets nobody in says so, with 404 or 410', async (t) => {
  const unknown = await send({ token: 'x'.repeat(43) });
  t.equal(unknown.status, 404);
  t.equal(unknown.headers.get('content-type'), 'text/html; charset=utf-8');
  t.match(unknown.text, en.dead.unknown[0]);
  t.notMatch(unknown.text, '<form');
  for (const token of ['', '\u0000', '<script>', 'x'.repeat(5_000)]) t.equal((await send({ token })).status, 404);
  t.equal((await world.call('POST', '/invites')).status, 404, 'no form at all');
  const path = `/api/v1/workspaces/${world.workspaceId}/invites`;
  const made = await world.call('POST', path, { token: world.owner.accessToken, body: {} });
  await world.call('DELETE', `${path}/${String(made.body['id'])}`, { token: world.owner.accessToken });
  t.equal((await send({ token: String(made.body['token']) })).status, 404, 'withdrawn');
  const old = await newToken();
  const hash = createHash('sha256').update(old).digest();
  await world.database.worker.query(
    sql.unsafe`update workspace_invites set expires_at = now() where token_hash = ${sql.binary(hash)}`,
  );
  const expired = await send({ token: old }, { 'accept-language': 'ru' });
  t.equal(expired.status, 410);
  t.match(expired.text, ru.dead.expired[0]);
  t.notMatch(expired.text, 'shared', 'says nothing of the workspace any more');
  t.equal((await send({ token: old, action: 'register', email: 'fay@example.com', password })).status, 410);
});

void t.test("another site's form joins nobody, and tries are counted with those of the API", async (t) => {
  const token = await newToken();
  const form = { token, action: 'register', email: 'gus@example.com', password };
  for (const site of ['cross-site', 'same-site']) {
    const answer = await send(form, { 'sec-fetch-site': site });
    t.equal(answer.status, 403);
    t.match(answer.text, en.problems.elsewhere);
  }
  const from = '203.0.113.77';
  const tries: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    const body = { email: 'owner@example.com', password: 'wrong wrong' };
    const answer =
      n % 2 === 0
        ? await world.call('POST', '/api/v1/auth/login', { body, from })
        : await send({ token, action: 'sign-in', ...body }, { 'x-forwarded-for': from });
    tries.push(answer.status);
    if (answer.status === 429) t.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  t.same(tries, [401, 401, 401, 401, 401, 429]);
});

void t.test('where registration is closed the page only lets sign in', async (t) => {
  const api = await testApi(t, {
    database: world.database,
    context: { registration: 'closed', sealer: world.context.sealer },
  });
  const token = await newToken();
  const page = await send({ token }, {}, api);
  t.notMatch(page.text, en.create);
  t.match(page.text, en.signIn);
  const refused = await send({ token, action: 'register', email: 'hal@example.com', password }, {}, api);
  t.equal(refused.status, 403);
  t.match(refused.text, en.problems.closed);
});

void t.test('both languages say the same things', async (t) => {
  t.same(Object.keys(ru.problems), Object.keys(en.problems));
  t.same(Object.keys(ru.dead), Object.keys(en.dead));
});
