import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createHmac, pbkdf2Sync, randomBytes, X509Certificate } from 'node:crypto';
import { chooseDataFolder, findNatsServer } from '@parallax/embedded';
import { createEd25519Pair } from '@parallax/pki';
import type { TestContext } from '@parallax/testkit';
import pg from 'pg';
import t from 'tap';
import { createJoinToken } from '../monitoring/probes/index.ts';
import { sql } from '../platform/database/pools.ts';
import { testDatabase } from '../platform/database/testing.ts';
import { makeDatabaseSecrets } from './database-secrets.ts';
import { giveLoginsPasswords, passwordLogin, scramVerifier } from './login-passwords.ts';
import { provideJoinTokens } from './join-token-files.ts';
import { writeNatsFiles } from './nats-files.ts';
import { openInstallation } from './open.ts';
import { prepareInstallation } from './prepare.ts';

const nowMs = Date.now();
const dayMs = 86_400_000;

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'parallax-files-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function installed(t: TestContext) {
  const { urls, database } = await testDatabase(t);
  const dataDir = folder(t);
  await prepareInstallation({ dataDir, databaseUrls: urls, shards: 1, serverNames: [], nowMs });
  const installation = await openInstallation({ dataDir, pool: database.worker, nowMs });
  return { installation, database, pool: database.worker };
}

const read = (dir: string, name: string) => readFileSync(path.join(dir, name), 'utf8');

t.test(
  'the files of a nats-server hold no seed, are accepted by it, and do not change when written again',
  async (t) => {
    const { installation, pool } = await installed(t);
    const dir = path.join(folder(t), 'nats');
    const options = {
      installation,
      pool,
      folder: dir,
      listen: { host: '0.0.0.0', port: 4222 },
      monitor: { host: '127.0.0.1', port: 8222 },
      names: ['nats', '10.1.2.3'],
      nowMs,
    };
    t.same(await writeNatsFiles(options), ['key.pem', 'certificate.pem', 'nats-server.conf']);
    const configuration = read(dir, 'nats-server.conf');
    t.match(configuration, /listen: "0\.0\.0\.0:4222"/);
    t.match(configuration, /http: "127\.0\.0\.1:8222"/);
    t.notMatch(configuration, /\bS[OAU][A-Z2-7]{56}\b/);
    for (const name of readdirSync(dir)) t.equal(statSync(path.join(dir, name)).mode & 0o077, 0, `${name} is private`);
    const certificate = new X509Certificate(read(dir, 'certificate.pem'));
    t.ok(certificate.checkHost('nats'));
    t.ok(certificate.checkHost('parallax-control-plane'));
    t.ok(certificate.checkIP('10.1.2.3'));
    const checkout = path.resolve(import.meta.dirname, '../../..');
    const { folder: dataDir } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout });
    const binary = findNatsServer(process.env, { dataDir })?.path ?? '';
    await promisify(execFile)(binary, ['-t', '-c', path.join(dir, 'nats-server.conf')]);

    t.same(await writeNatsFiles({ ...options, nowMs: nowMs + dayMs }), [], 'a day later');
    t.same(
      await writeNatsFiles({ ...options, nowMs: Date.parse(certificate.validTo) - 100 * dayMs }),
      ['key.pem', 'certificate.pem'],
      'near its end',
    );
    t.same(
      await writeNatsFiles({ ...options, names: ['broker.example.org'] }),
      ['key.pem', 'certificate.pem'],
      'a new name',
    );
    writeFileSync(path.join(dir, 'key.pem'), 'cut off');
    t.same(
      await writeNatsFiles({ ...options, names: ['broker.example.org'] }),
      ['key.pem', 'certificate.pem'],
      'a broken key',
    );
  },
);

t.test(
  'the list of revoked probes bears the time of the last revocation, so it never passes for a newer one',
  async (t) => {
    const { installation, pool } = await installed(t);
    const dir = folder(t);
    const options = { installation, pool, folder: dir, listen: { host: '::', port: 4222 }, names: ['nats'], nowMs };
    await writeNatsFiles(options);
    const issuedAt = () => claimsOf(read(dir, 'nats-server.conf'), installation.nats.account);
    const before = issuedAt();
    t.same(before.revocations, {});
    const revokedMs = Date.now() + 60_000;
    await pool.query(sql.unsafe`
    insert into probes (name, region, signing_public_key, revoked_at)
    values ('gone', 'eu', ${sql.binary(Buffer.from(createEd25519Pair().publicKey))}, ${sql.timestamp(new Date(revokedMs))})`);
    t.same(await writeNatsFiles(options), ['nats-server.conf']);
    t.equal(Object.keys(issuedAt().revocations).length, 1);
    t.equal(issuedAt().iat, Math.floor(revokedMs / 1_000));
    t.ok(issuedAt().iat > before.iat);
    t.same(await writeNatsFiles(options), []);
  },
);

function claimsOf(configuration: string, account: string): { iat: number; revocations: Record<string, number> } {
  const jwt = new RegExp(`${account}: (\\S+)`).exec(configuration)?.[1] ?? '';
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
    iat: number;
    nats: { revocations: Record<string, number> };
  };
  return { iat: claims.iat, revocations: claims.nats.revocations };
}

t.test('passwords of a new database are made once; the URLs follow its place', async (t) => {
  const dir = path.join(folder(t), 'secrets');
  const options = { folder: dir, place: 'postgres:5432', database: 'parallax', random: randomBytes };
  t.equal((await makeDatabaseSecrets(options)).length, 6);
  const [owner, api, worker] = ['owner', 'api', 'worker'].map((login) => read(dir, `${login}-password`));
  t.equal(new Set([owner, api, worker]).size, 3);
  t.equal(read(dir, 'database-url'), `postgresql://parallax_owner:${owner}@postgres:5432/parallax`);
  t.equal(read(dir, 'database-api-url'), `postgresql://parallax_api:${api}@postgres:5432/parallax`);
  t.equal(read(dir, 'database-worker-url'), `postgresql://parallax_worker:${worker}@postgres:5432/parallax`);
  for (const name of readdirSync(dir)) t.equal(statSync(path.join(dir, name)).mode & 0o777, 0o440, name);
  t.same(await makeDatabaseSecrets(options), []);
  t.same(await makeDatabaseSecrets({ ...options, place: 'db:6432' }), [
    'database-url',
    'database-api-url',
    'database-worker-url',
  ]);
  t.equal(read(dir, 'owner-password'), owner);
});

t.test('a password is read from a URL, and stored in the form that PostgreSQL checks', (t) => {
  t.same(passwordLogin('postgresql://parallax_api:p%40ss@db/parallax'), { role: 'parallax_api', password: 'p@ss' });
  t.equal(passwordLogin('postgresql://parallax_api@%2Frun%2Fpg/parallax'), undefined);
  const salt = Buffer.from('0123456789abcdef');
  const [, stored = '', server = ''] = /\$([^$:]+):([^:]+)$/.exec(scramVerifier('secret', salt)) ?? [];
  const salted = pbkdf2Sync('secret', salt, 4_096, 32, 'sha256');
  t.equal(server, createHmac('sha256', salted).update('Server Key').digest('base64'));
  t.equal(Buffer.from(stored, 'base64').length, 32);
  t.notMatch(scramVerifier('secret', salt), /secret/);
  t.end();
});

t.test('a login without a password gets that of its URL, and one that has a password keeps it', async (t) => {
  const { urls } = await testDatabase(t);
  const name = `login_${randomBytes(4).toString('hex')}`;
  const owner = new pg.Client(urls.owner);
  await owner.connect();
  t.teardown(async () => {
    await owner.query(`drop role if exists ${name}`);
    await owner.end();
  });
  await owner.query(`create role ${name} login`);
  const stored = async () =>
    (await owner.query<{ rolpassword: string | null }>('select rolpassword from pg_authid where rolname = $1', [name]))
      .rows[0]?.rolpassword;
  await giveLoginsPasswords(urls);
  t.equal(await stored(), null, 'URLs without passwords change nothing');
  const withPassword = (password: string) => ({ ...urls, api: `postgresql://${name}:${password}@anywhere/db` });
  await giveLoginsPasswords(withPassword('first'));
  const first = await stored();
  t.match(first, /^SCRAM-SHA-256\$4096:/);
  await giveLoginsPasswords(withPassword('second'));
  t.equal(await stored(), first);
});

t.test('each probe that is not registered keeps a token that lasts for half a day at least', async (t) => {
  const { installation, pool } = await installed(t);
  const { fingerprint } = installation.authority;
  const dir = path.join(folder(t), 'tokens');
  const probes = [
    { name: 'probe-eu', region: 'eu-west' },
    { name: 'probe-us', region: 'us-east' },
  ];
  const provide = async (more: { nowMs?: number; fingerprint?: string } = {}) =>
    Object.fromEntries(
      (
        await provideJoinTokens({
          pool,
          folder: dir,
          probes,
          fingerprint,
          nowMs,
          ...more,
          create: async (probe) =>
            (
              await createJoinToken(pool, {
                ...probe,
                workspaceId: null,
                createdBy: null,
                minutes: 1_440,
                fingerprint: more.fingerprint ?? fingerprint,
                random: randomBytes,
              })
            ).token,
        })
      ).map(({ name, outcome }) => [name, outcome]),
    );
  t.same(await provide(), { 'probe-eu': 'written', 'probe-us': 'written' });
  const token = read(dir, 'probe-eu');
  t.match(token, new RegExp(`^\\d+\\.[\\w-]{43}\\.${fingerprint}\n$`));
  t.equal(statSync(path.join(dir, 'probe-eu')).mode & 0o777, 0o400);
  t.same(await provide(), { 'probe-eu': 'kept', 'probe-us': 'kept' });
  t.equal(read(dir, 'probe-eu'), token);
  t.same(
    await provide({ nowMs: nowMs + 13 * 3_600_000 }),
    { 'probe-eu': 'written', 'probe-us': 'written' },
    'they end soon',
  );
  const tokenId = Number(read(dir, 'probe-eu').split('.')[0]);
  await pool.query(sql.unsafe`update join_tokens set used_at = now() where id = ${tokenId}`);
  t.same(await provide(), { 'probe-eu': 'written', 'probe-us': 'kept' }, 'used, and its probe is not there');
  t.same(
    await provide({ fingerprint: 'ab'.repeat(32) }),
    { 'probe-eu': 'written', 'probe-us': 'written' },
    'another installation',
  );

  await pool.query(sql.unsafe`
    insert into probes (name, region, signing_public_key)
    values ('probe-eu', 'eu-west', ${sql.binary(Buffer.from(createEd25519Pair().publicKey))})`);
  rmSync(path.join(dir, 'probe-eu'));
  t.match(await provide(), { 'probe-eu': 'registered' });
  t.notMatch(read(dir, 'probe-eu'), /^\d+\./, 'a probe that is there gets no token');
  t.not(read(dir, 'probe-eu').trim(), '', 'and its setting is not empty');
});
