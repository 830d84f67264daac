import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { connect, jwtAuthenticator } from '@nats-io/transport-node';
import { createEd25519Pair, createNatsSeeds, nkeySeed, openNatsAuthority, type NatsRevocation } from '@parallax/pki';
import { freePort, keptLog, leakGuard, quietLog, testAuthority, type TestContext } from '@parallax/testkit';
import t from 'tap';
import { chooseDataFolder, findNatsServer, identityOf, startNats, type NatsOptions } from './index.ts';

leakGuard(t);

const authority = openNatsAuthority(createNatsSeeds());

function operator(revocations: readonly NatsRevocation[], nowMs: number) {
  return {
    operatorJwt: authority.operatorJwt(nowMs),
    systemAccount: authority.systemAccount,
    accounts: {
      [authority.systemAccount]: authority.systemAccountJwt(nowMs),
      ...authority.accountJwts(revocations, nowMs),
    },
  };
}

async function optionsOf(t: TestContext): Promise<NatsOptions> {
  const dataDir = mkdtempSync('/tmp/parallax-nats-');
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const checkout = path.resolve(import.meta.dirname, '../../..');
  const fetched = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout });
  const binary = findNatsServer(process.env, { dataDir: fetched.folder })?.path ?? '';
  return { binary, dataDir, host: '127.0.0.1', port: await freePort(), log: quietLog };
}

t.test('in operator mode the accounts are those that are given at this start, revocations with them', async (t) => {
  const certificates = await testAuthority();
  const options = { ...(await optionsOf(t)), tls: await certificates.issue({ names: ['localhost'] }) };
  const key = createEd25519Pair();
  const nowMs = Date.now();
  const jwt = authority.mintProbeJwt({
    probeId: 7,
    publicKey: key.publicKey,
    shards: 1,
    nowMs,
    expiresAtMs: nowMs + 60_000,
  });
  const dial = (url: string) =>
    connect({
      servers: url,
      authenticator: jwtAuthenticator(jwt, Buffer.from(nkeySeed('user', key.seed))),
      tls: { ca: certificates.certificatePem },
      inboxPrefix: '_INBOX_7',
      reconnect: false,
      timeout: 2_000,
    });
  const start = async (revocations: readonly NatsRevocation[]) =>
    startNats({ ...options, operator: operator(revocations, Date.now()) });

  for (const [revocations, isLetIn] of [
    [[], true],
    [[{ publicKey: key.publicKey, revokedAtMs: nowMs + 1_000 }], false],
    [[], true],
  ] as const) {
    const server = await start(revocations);
    if (isLetIn) await (await dial(server.url)).close();
    else await t.rejects(dial(server.url), /authoriz/i);
    await server.stop();
  }
  for (const file of ['key.pem', 'nats-server.conf'])
    t.equal(statSync(path.join(options.dataDir, 'nats', file)).mode & 0o077, 0);
  t.notMatch(readFileSync(path.join(options.dataDir, 'nats/nats-server.conf'), 'utf8'), /\bS[OAU][A-Z2-7]{56}\b/);
});

t.test('a server that an earlier run left is ended first', async (t) => {
  const options = await optionsOf(t);
  const left = await startNats(options);
  const { log, lines } = keptLog('info');
  const next = await startNats({ ...options, log });
  t.equal(identityOf(left.pid), undefined);
  t.match(lines, [{ pid: left.pid, msg: 'ended the nats-server of an earlier run' }]);
  await next.stop();
});

t.test('a taken port and what could add a line to the configuration are refused', async (t) => {
  const options = await optionsOf(t);
  const first = await startNats(options);
  const other = mkdtempSync('/tmp/parallax-nats-');
  t.teardown(() => rmSync(other, { recursive: true, force: true }));
  await t.rejects(startNats({ ...options, dataDir: other }), { message: /address already in use/ });
  await first.stop();
  await t.rejects(startNats({ ...options, host: '127.0.0.1"\nhttp: 8222' }), { message: /line break/ });
  await t.rejects(startNats({ ...options, operator: { ...operator([], 0), operatorJwt: 'x\nhttp: 8222' } }), {
    message: /do not belong/,
  });
});

t.test('a nats-server is taken when it is new enough; a named one must be', (t) => {
  const folder = mkdtempSync('/tmp/parallax-nats-');
  t.teardown(() => rmSync(folder, { recursive: true }));
  const fake = (version: string) => {
    const file = path.join(folder, 'nats-server');
    writeFileSync(file, `#!/bin/sh\necho "nats-server: v${version}"\n`, { mode: 0o755 });
    return file;
  };
  const file = fake('2.11.0');
  t.same(findNatsServer({ PATH: folder }), { path: file, version: '2.11.0' });
  t.same(findNatsServer({ PARALLAX_NATS_SERVER: file, PATH: '' }), { path: file, version: '2.11.0' });
  fake('2.9.9');
  t.not(findNatsServer({ PATH: folder })?.path, file);
  t.throws(() => findNatsServer({ PARALLAX_NATS_SERVER: file }), /version 2\.9\.9: 2\.9\.10 or newer is needed/);
  t.throws(() => findNatsServer({ PARALLAX_NATS_SERVER: path.join(folder, 'none') }), /does not answer to --version/);
  t.end();
});
