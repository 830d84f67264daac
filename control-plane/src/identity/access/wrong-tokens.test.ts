import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import t from 'tap';
import type { Test } from 'tap';
import { tokenKeys } from '../auth/index.ts';
import { makeRefreshToken } from '../auth/refresh-token.ts';
import { sql } from '../../platform/database/pools.ts';
import { testApi } from '../testing.ts';
import type { TestAnswer, TestCall } from '../testing.ts';
import { whoRoutes } from './testing.ts';

/*
 * Every wrong token, shown at each place that takes one, and what it gets there: where a bearer token is taken (J), where an API key is
 * taken as well (K), and where pairs are refreshed (R).
 */

const api = await testApi(t, { routes: whoRoutes });
const account = await api.account('ada@example.com');
const keys = await tokenKeys(api.context);
const nowS = Math.floor(Date.now() / 1_000);
const [head = '', payload = '', signature = ''] = account.accessToken.split('.');
const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const refresh = (refresh_token: string) => api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token } });

/** An access token with a right signature, changed before it was signed. An undefined claim is left out. */
async function signed(
  change: Record<string, unknown>,
  header: Record<string, unknown> = {},
  key: Parameters<SignJWT['sign']>[0] = keys.access.privateKey,
): Promise<string> {
  return new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header }).sign(key);
}

const publicKey = (format: 'pem' | 'der'): Buffer =>
  Buffer.from(
    format === 'pem'
      ? keys.access.publicKey.export({ format, type: 'spki' })
      : keys.access.publicKey.export({ format, type: 'spki' }),
  );

type Pair = { readonly access: string; readonly refresh: string };

/** A session of its own. */
async function session(email = account.email): Promise<Pair> {
  const { body } = await api.call('POST', '/api/v1/auth/login', { body: { email, password: account.password } });
  return { access: String(body['access_token']), refresh: String(body['refresh_token']) };
}

/** A pair that was refreshed to another one `at` seconds ago. */
async function refreshed(at: number): Promise<{ readonly before: Pair; readonly after: TestAnswer }> {
  const before = await session();
  const after = await refresh(before.refresh);
  await moveRotation(before, at);
  return { before, after };
}

async function moveRotation(pair: Pair, at: number): Promise<void> {
  await api.database.worker.query(
    sql.unsafe`update sessions set rotated_at = now() - make_interval(secs => ${at}) where id = ${sidOf(pair)}::uuid`,
  );
}

const sidOf = ({ access }: Pair): string =>
  (JSON.parse(Buffer.from(access.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid;

async function made(path: string, field: 'key' | 'token'): Promise<{ readonly id: number; readonly secret: string }> {
  const { body } = await api.call('POST', path, { token: account.accessToken, body: { name: 'wrong soon' } });
  return { id: Number(body['id']), secret: String(body[field]) };
}
const key = () => made('/api/v1/api-keys', 'key');
const personal = () => made('/api/v1/auth/tokens', 'token');

async function revoked(path: string, { id, secret }: { id: number; secret: string }): Promise<string> {
  await api.call('DELETE', `${path}/${id}`, { token: account.accessToken });
  return secret;
}

async function expired(table: string, { id, secret }: { id: number; secret: string }): Promise<string> {
  await api.database.worker.query(
    sql.unsafe`update ${sql.identifier([table])} set expires_at = now() where id = ${id}`,
  );
  return secret;
}

const bytes = Buffer.from(account.refreshToken.slice(4), 'base64url');
const flipped = (at: number): string => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return `plr_${copy.toString('base64url')}`;
};

/** 401 by its code, a status, or what a good one gets. */
type Gets = 'invalid_credentials' | 'token_expired' | 'wrong_credential_kind' | 422 | 'good';
type Row = readonly [what: string, secret: string, gets: readonly [j: Gets, k: Gets, r: Gets]];

const invalid = ['invalid_credentials', 'invalid_credentials', 'invalid_credentials'] as const;
const ofAccess = async (what: string, secret: string | Promise<string>): Promise<Row> => [what, await secret, invalid];

const accessTokens: readonly Row[] = [
  ...(await Promise.all([
    ofAccess('forged: another payload', `${head}.${encoded({ ...claims, exp: nowS + 9e6 })}.${signature}`),
    ofAccess('forged: another signature', `${head}.${payload}.${signature.slice(0, -4)}AAAA`),
    ofAccess('forged: no signature', `${head}.${payload}.`),
    ofAccess('forged: two parts', `${head}.${payload}`),
    ofAccess('forged: the key of somebody else', signed({}, {}, generateKeyPairSync('ed25519').privateKey)),
    ofAccess('forged: with its own key in the header', ownKeyInHeader()),
    ofAccess('algorithm none', `${encoded({ alg: 'none', typ: 'at+jwt' })}.${payload}.`),
    ofAccess('algorithm None', `${encoded({ alg: 'None', typ: 'at+jwt' })}.${payload}.${signature}`),
    ofAccess('HS256 with the public key as PEM', signed({}, { alg: 'HS256' }, publicKey('pem'))),
    ofAccess('HS256 with the public key as DER', signed({}, { alg: 'HS256' }, publicKey('der'))),
    ofAccess('HS256 with the bare public key', signed({}, { alg: 'HS256' }, publicKey('der').subarray(-32))),
    ofAccess('ES256', signed({}, { alg: 'ES256' }, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)),
    ofAccess('another audience', signed({ aud: 'somebody else' })),
    ofAccess('another issuer', signed({ iss: 'somebody else' })),
    ofAccess('another type', signed({}, { typ: 'JWT' })),
    ofAccess('not yet valid', signed({ nbf: nowS + 100, exp: nowS + 1_000 })),
    ofAccess('an unknown session', signed({ sid: randomUUID() })),
    ofAccess('a session that is no identifier', signed({ sid: "' or 1=1" })),
    ...['exp', 'nbf', 'jti', 'sid', 'aud', 'iss'].map((name) =>
      ofAccess(`without ${name}`, signed({ [name]: undefined })),
    ),
  ])),
  [
    'expired',
    await signed({ nbf: nowS - 1_000, exp: nowS - 100 }),
    ['token_expired', 'token_expired', 'invalid_credentials'],
  ],
  ['an access token where a refresh token belongs', account.accessToken, ['good', 'good', 'invalid_credentials']],
  ['nonsense', 'x', invalid],
  ['very long', 'x'.repeat(5_000), ['invalid_credentials', 'invalid_credentials', 422]],
];

async function ownKeyInHeader(): Promise<string> {
  const pair = generateKeyPairSync('ed25519');
  return signed({}, { jwk: pair.publicKey.export({ format: 'jwk' }), kid: 'own' }, pair.privateKey);
}

const refreshTokens: readonly Row[] = [
  ['forged: another session', flipped(0), invalid],
  ['forged: another counter', flipped(19), invalid],
  ['forged: another proof', flipped(51), invalid],
  ['forged: no proof', `plr_${bytes.subarray(0, 20).toString('base64url')}`, invalid],
  ['forged: another salt', makeRefreshToken(keys.refresh, String(claims['sid']), 1, Buffer.alloc(16)), invalid],
  ['forged: another spelling', `${account.refreshToken}=`, invalid],
  ['forged: another prefix', `plk_${account.refreshToken.slice(4)}`, invalid],
];

const personalTokens: readonly Row[] = [
  ['revoked', await revoked('/api/v1/auth/tokens', await personal()), invalid],
  ['expired', await expired('access_tokens', await personal()), invalid],
  ['garbage behind the prefix', 'plx_garbage', invalid],
  ['garbage of the right form', `plx_${'0'.repeat(38)}`, invalid],
  ['the prefix alone', 'plx_', invalid],
  ['with a quote', "plx_'or'1'='1", invalid],
  ['where a refresh token belongs', (await personal()).secret, ['good', 'good', 'invalid_credentials']],
];

const apiKeys: readonly Row[] = [
  ['where keys are not taken', (await key()).secret, ['wrong_credential_kind', 'good', 'invalid_credentials']],
  ['revoked', await revoked('/api/v1/api-keys', await key()), invalid],
  ['expired', await expired('api_keys', await key()), invalid],
  ['garbage behind the prefix', 'plk_garbage', invalid],
  ['garbage of the right form', `plk_${'0'.repeat(38)}`, invalid],
  ['with a quote', "plk_'or'1'='1", invalid],
];

/** Shows a secret at each of the three places. */
async function tryRow(t: Test, row: Row, as: (secret: string) => TestCall): Promise<void> {
  const [what, secret, gets] = row;
  const shown: readonly (readonly [place: string, answer: TestAnswer])[] = [
    ['J', await api.call('GET', '/api/v1/auth/me', as(secret))],
    ['K', await api.call('GET', '/who/key-or-bearer', as(secret))],
    ['R', await refresh(secret)],
  ];
  for (const [index, [place, answer]] of shown.entries()) {
    const wanted = gets[index] ?? 'good';
    const name = `${what} at ${place}: ${answer.status} ${answer.text.slice(0, 200)}`;
    if (wanted === 'good') t.match(answer, { status: 200 }, name);
    else if (wanted === 422) t.match(answer, { status: 422, body: { code: 'invalid_input' } }, name);
    else t.match(answer, { status: wanted === 'wrong_credential_kind' ? 403 : 401, body: { code: wanted } }, name);
    if (answer.status === 401 && place !== 'R')
      t.match(answer.headers.get('www-authenticate'), /^Bearer .*invalid_token/, name);
    if (answer.status >= 400 && secret.length > 20)
      t.notOk(answer.text.includes(secret.slice(4)), `${what} at ${place} is not told back`);
  }
}

await t.test('access tokens', async (t) => {
  t.match(
    await api.call('GET', '/api/v1/auth/me', { token: await signed({}) }),
    { status: 200 },
    'the table signs as it should',
  );
  for (const row of accessTokens) await tryRow(t, row, (token) => ({ token }));
});

await t.test('refresh tokens', async (t) => {
  for (const row of refreshTokens) await tryRow(t, row, (token) => ({ token }));
  const { refresh: good } = await session();
  await tryRow(
    t,
    ['a refresh token where an access token belongs', good, ['invalid_credentials', 'invalid_credentials', 'good']],
    (token) => ({ token }),
  );
  t.equal((await refresh(account.refreshToken)).status, 200, 'what was forged has ended no session');
});

await t.test('personal access tokens', async (t) => {
  for (const row of personalTokens) await tryRow(t, row, (token) => ({ token }));
});

await t.test('API keys', async (t) => {
  for (const row of apiKeys) await tryRow(t, row, (secret) => ({ headers: { 'x-api-key': secret } }));
});

await t.test('refresh tokens that were used before', async (t) => {
  const lives = async ({ body }: TestAnswer): Promise<number> =>
    (await api.call('GET', '/api/v1/auth/me', { token: String(body['access_token']) })).status;
  const inside = await refreshed(5);
  t.match(
    await refresh(inside.before.refresh),
    { status: 200, body: { refresh_token: inside.after.body['refresh_token'] } },
    'inside the leeway: the same pair again',
  );
  t.equal(await lives(inside.after), 200);
  const outside = await refreshed(10.1);
  t.match(
    await refresh(outside.before.refresh),
    { status: 401, body: { code: 'invalid_credentials' } },
    'outside of it',
  );
  t.equal(await lives(outside.after), 401, 'ends the session');
  t.equal((await refresh(String(outside.after.body['refresh_token']))).status, 401, 'with the pair that was good');
  const older = await refreshed(1);
  t.equal((await refresh(String(older.after.body['refresh_token']))).status, 200);
  t.equal((await refresh(older.before.refresh)).status, 401, 'the last but one, however soon');
  t.equal(await lives(older.after), 401);
  const { refresh: fresh } = await session();
  const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(fresh)));
  t.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1, '50 at once: one pair');
  t.equal(answers[0]?.status, 200);
  const replayed = await refreshed(10.1);
  const late = await Promise.all(Array.from({ length: 50 }, () => refresh(replayed.before.refresh)));
  t.same([...new Set(late.map(({ status }) => status))], [401], '50 at once outside of the leeway: none');
  const reuses = sql.typeAlias('id');
  const told = await api.database.worker.any(reuses`
    select id::integer as id from audit_log where action = 'session.reuse_detected' and subject_id = ${sidOf(replayed.before)}`);
  t.equal(told.length, 1, 'and it is a reuse once');
});

await t.test('tokens of what has ended', async (t) => {
  const ended = await session();
  await api.call('POST', '/api/v1/auth/logout', { token: ended.access });
  await tryRow(t, ['the access token of an ended session', ended.access, invalid], (token) => ({ token }));
  await tryRow(t, ['its refresh token', ended.refresh, invalid], (token) => ({ token }));
  const eve = await api.account('eve@example.com');
  const token = String(
    (await api.call('POST', '/api/v1/auth/tokens', { token: eve.accessToken, body: { name: 'x' } })).body['token'],
  );
  await api.call('DELETE', '/api/v1/auth/me', { token: eve.accessToken, body: { password: eve.password } });
  await tryRow(t, ['the access token of a deleted account', eve.accessToken, invalid], (secret) => ({ token: secret }));
  await tryRow(t, ['its personal access token', token, invalid], (secret) => ({ token: secret }));
});
