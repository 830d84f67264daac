import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { program } from '@parallax/testkit/program';
import t from 'tap';
import { z } from 'zod';
import { takeMails } from '../identity/accounts/testing.ts';
import { totpCode } from '../identity/sign-in/testing/totp-code.ts';
import { testApi } from '../identity/testing.ts';
import { sql } from '../platform/database/pools.ts';
import { testDatabase } from '../platform/database/testing.ts';

const { urls, database } = await testDatabase(t);
const api = await testApi(t, { database });

/** Runs the command as an operator does. */
async function run(args: readonly string[], input = ''): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [program('control-plane/src/main.ts'), 'user', ...args], {
    env: {
      PATH: process.env['PATH'],
      PARALLAX_DATABASE_URL: urls.owner,
      PARALLAX_DATABASE_API_URL: urls.api,
      PARALLAX_DATABASE_WORKER_URL: urls.worker,
      PARALLAX_DEFAULT_PLAN: 'free',
    },
  });
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

let eve = 0;

const login = async (email: string, password: string) => {
  const answer = await api.call('POST', '/api/v1/auth/login', { body: { email, password } });
  return { status: answer.status, token: String(answer.body['access_token']) };
};

t.test('an operator makes accounts, and a made password is shown once', async (t) => {
  const made = await run(['create', 'Ada@Example.com']);
  t.match(made, { code: 0, err: '', out: /^made user 1 \(ada@example\.com\)\npassword, shown only now: [\w-]{20}\n$/ });
  const password = /now: (\S+)/.exec(made.out)?.[1] ?? '';
  const { status, token } = await login('ada@example.com', password);
  t.equal(status, 200);
  t.match((await api.call('GET', '/api/v1/auth/me', { token })).body, { plan: 'free', is_administrator: true });
  t.match((await api.call('GET', '/api/v1/workspaces', { token })).body, { total: 1 });
  t.match(await run(['create', 'ada@example.com']), { code: 1, out: '', err: /already\n$/ });
  const second = await run(
    ['create', 'eve@example.com', '--plan', 'paid', '--password-stdin', '--json'],
    'my own long phrase 5\n',
  );
  t.equal(second.code, 0);
  eve = (JSON.parse(second.out) as { id: number }).id;
  t.same(JSON.parse(second.out), { id: eve, email: 'eve@example.com' });
  t.equal((await login('eve@example.com', 'my own long phrase 5')).status, 200, 'without the line end');
  const refused: [args: string[], input: string, message: RegExp][] = [
    [['create', 'x@example.com', '--password-stdin'], 'q7#kz!v\n', /at least 8 bytes/],
    [['create', 'x@example.com', '--password-stdin'], 'P@ssw0rd123\n', /most common/],
    [['create', 'x@example.com', '--password-stdin'], 'with a \u0000 in it 7\n', /NUL/],
    [['create', 'x@example.com\r\nBcc: y@example.com'], '', /mail address is expected/],
    [['create', 'x@example.com', '--plan', 'golden'], '', /free, paid, self_hosted/],
  ];
  for (const [args, input, message] of refused) {
    const answer = await run(args, input);
    t.equal(answer.code, 1, args.join(' '));
    t.match(answer.err, message);
  }
});

t.test('it lists them, for people and as JSON', async (t) => {
  const { out, code } = await run(['list']);
  t.equal(code, 0);
  t.match(
    out,
    /^ID {2}ADDRESS +NAME +PLAN +ADMINISTRATOR +MADE +LAST SEEN\n1 {3}ada@example\.com \(not confirmed\) +- +free +yes/,
  );
  const list = JSON.parse((await run(['list', '--json'])).out) as unknown;
  t.match(list, [
    { id: 1, email: 'ada@example.com', plan: 'free', is_administrator: true },
    { id: eve, email: 'eve@example.com', plan: 'paid', is_administrator: false, created_at: /Z$/ },
  ]);
  t.notMatch(JSON.stringify(list), 'argon2');
});

t.test('a lost second factor is taken away, its sessions end and a mail tells', async (t) => {
  const ada = await api.account('lost@example.com');
  const token = ada.accessToken;
  const begun = await api.call('POST', '/api/v1/auth/mfa/totp', { token, body: { password: ada.password } });
  const code = totpCode(String(begun.body['secret']), Date.now());
  const confirmed = await api.call('POST', '/api/v1/auth/mfa/totp/confirm', { token, body: { code } });
  t.equal(confirmed.status, 200);
  await database.worker.query(sql.unsafe`
    insert into passkeys (user_id, name, credential_id, public_key, counter, backed_up) values (${ada.id}, 'p', '1', '2', 0, false)`);
  const { status } = await login(ada.email, ada.password);
  t.equal(status, 401, 'it is asked for');
  await takeMails(api);
  const reset = await run(['reset-second-factor', ada.email, '--json']);
  t.same(JSON.parse(reset.out), { id: ada.id, email: ada.email, removed: 2, ended_sessions: 1 }, reset.err);
  t.equal((await api.call('GET', '/api/v1/auth/me', { token })).status, 401, 'its sessions have ended');
  const fresh = await login(ada.email, ada.password);
  t.equal(fresh.status, 200, 'the password suffices');
  t.match(await takeMails(api), [{ to: ada.email, subject: 'Your second factor was removed' }]);
  const left = await database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select ((select count(*) from recovery_codes) + (select count(*) from sign_in_challenges))::integer as n`);
  t.equal(left, 0, 'nor do codes or questions of before count');
  t.match(await run(['reset-second-factor', String(ada.id)]), {
    code: 0,
    out: `user ${ada.id} (lost@example.com) has no second factor; removed: 0, sessions ended: 1\n`,
  });
  await database.worker.query(sql.unsafe`update users set password_hash = null where id = ${ada.id}`);
  await database.worker.query(sql.unsafe`
    insert into passkeys (user_id, name, credential_id, public_key, counter, backed_up) values (${ada.id}, 'p', '1', '2', 0, false)`);
  const refused = await run(['reset-second-factor', String(ada.id)]);
  t.match(refused, { code: 1, err: /only way into the account/ });
  const kept = await database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from passkeys`);
  t.equal(kept, 1, 'nobody is locked out');
  const audit = await database.worker.any(sql.type(z.object({ detail: z.unknown() }))`
    select detail from audit_log where action = 'second_factor.reset' and user_id = ${ada.id} and actor = 'command' order by id`);
  t.same(
    audit.map(({ detail }) => detail),
    [
      { authenticator_apps: 1, passkeys: 1, ended_sessions: 1 },
      { authenticator_apps: 0, passkeys: 0, ended_sessions: 1 },
    ],
  );
});

t.test('a new password ends the sessions; rights and plan are changed; all is written down', async (t) => {
  const { token } = await login('eve@example.com', 'my own long phrase 5');
  const reset = await run(['reset-password', String(eve), '--json']);
  const answer = JSON.parse(reset.out) as { password: string };
  t.match(answer, { id: eve, email: 'eve@example.com', ended_sessions: 2, password: /^[\w-]{20}$/ });
  t.equal((await api.call('GET', '/api/v1/auth/me', { token })).status, 401);
  const { token: fresh } = await login('eve@example.com', answer.password);
  t.match(await run(['make-admin', 'eve@example.com']), { code: 0, out: `user ${eve} administers the installation\n` });
  t.match(await run(['set-plan', String(eve), 'self_hosted']), {
    code: 0,
    out: `user ${eve} has the plan self_hosted\n`,
  });
  t.match((await api.call('GET', '/api/v1/auth/me', { token: fresh })).body, {
    is_administrator: true,
    plan: 'self_hosted',
  });
  t.equal((await run(['make-admin', String(eve), '--remove'])).code, 0);
  t.match((await api.call('GET', '/api/v1/auth/me', { token: fresh })).body, { is_administrator: false });
  for (const args of [
    ['reset-password', '99'],
    ['set-plan', 'nobody@example.com', 'free'],
    ['make-admin', '0'],
  ]) {
    t.equal((await run(args)).code, 1, args.join(' '));
  }
  const audit = await database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where actor = 'command' and action <> 'second_factor.reset' order by id`);
  t.same(audit, [
    'user.created',
    'user.created',
    'password.reset',
    'user.administrator_set',
    'user.plan_set',
    'user.administrator_set',
  ]);
  t.match(
    (await run(['--help'])).out,
    'control-plane user reset-password ada@example.com --password-stdin'.slice(0, 30),
  );
});
