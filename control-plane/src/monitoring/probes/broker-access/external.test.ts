import { connect, credsAuthenticator } from '@nats-io/transport-node';
import {
  createEd25519Pair,
  createNkey,
  inboxPrefix,
  nkeyPublic,
  readNatsClaims,
  signEd25519,
  signNatsJwt,
} from '@parallax/pki';
import type { Nkey } from '@parallax/pki';
import { keptLog, natsServer, quietLog } from '@parallax/testkit';
import { credentialsText } from '@parallax/pki';
import t from 'tap';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { externalBroker, prepareInstallation } from '../../../installation/index.ts';
import type { ExternalBroker } from '../../../installation/index.ts';
import { connectBus } from '../../../platform/bus/nats-bus.ts';
import { ensureResultsStream, resultsStream } from '../../../platform/bus/results-stream.ts';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { testContext } from '../../../testing/probes.ts';
import { startBrokerAccess } from './job.ts';

const nowMs = Date.now();
// The keys of somebody else's cluster: the operator keeps its own key and gives a signing key of it, and one of the account.
const [operator, operatorSigning] = [createNkey('operator'), createNkey('operator')];
const [system, account, accountSigning] = [createNkey('account'), createNkey('account'), createNkey('account')];
const [probes, probesSigning] = [createNkey('account'), createNkey('account')];
const open = { conn: -1, data: -1, exports: -1, imports: -1, payload: -1, subs: -1, wildcards: true };
const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

const accountJwt = (of: Nkey, name: string, more: object) =>
  signNatsJwt(operator, { sub: of.publicText, name, nats: { type: 'account', ...more } }, nowMs - 10_000);
const operatorJwt = signNatsJwt(
  operator,
  {
    sub: operator.publicText,
    name: 'somebody',
    nats: { type: 'operator', signing_keys: [operatorSigning.publicText], system_account: system.publicText },
  },
  nowMs,
);
const systemUser = createNkey('user');
const systemCredentials = credentialsText(
  signNatsJwt(
    system,
    { sub: systemUser.publicText, name: 'sys', nats: { type: 'user', subs: -1, data: -1, payload: -1 } },
    nowMs,
  ),
  systemUser.seedText,
);
const settings = {
  natsUrl: 'tls://broker.example.org:4222',
  natsAccount: account.publicText,
  natsAccountSigningKey: accountSigning.seedText,
  natsProbeAccount: probes.publicText,
  natsProbeAccountSigningKey: probesSigning.seedText,
  natsOperatorSigningKey: operatorSigning.seedText,
  natsSystemCredentials: systemCredentials,
};

t.test(
  'in an account of somebody else’s cluster, probes get in and revoked ones are put out; the rest of the account stays',
  async (t) => {
    const { urls, database } = await testDatabase(t);
    const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-external-'));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const prepared = await prepareInstallation({
      dataDir,
      databaseUrls: urls,
      shards: 1,
      serverNames: ['127.0.0.1'],
      nowMs,
    });
    const server = await natsServer(t, {
      tls: prepared.nats.tls,
      operator: {
        operatorJwt,
        systemAccount: system.publicText,
        accounts: {
          [system.publicText]: accountJwt(system, 'SYS', { limits: open }),
          [account.publicText]: accountJwt(account, 'GIVEN', {
            limits: { ...open, ...storage, conn: 77 },
            signing_keys: [accountSigning.publicText],
            exports: [{ name: 'results', subject: 'results.*.*', type: 'service' }],
          }),
          [probes.publicText]: accountJwt(probes, 'PROBES', {
            limits: { ...open, conn: 78 },
            signing_keys: [probesSigning.publicText],
            imports: [{ name: 'results', subject: 'results.*.*', account: account.publicText, type: 'service' }],
          }),
        },
      },
    });
    const broker = externalBroker(settings) as Required<ExternalBroker>;
    const bus = await connectBus({
      servers: server.url,
      authorityPem: prepared.authorityPem,
      credentials: broker.access.controlPlaneCredentials(nowMs),
      name: 'test',
      log: quietLog,
    });
    t.teardown(() => bus.close());

    const pair = createEd25519Pair();
    const { id } = await database.worker.one(sql.typeAlias('id')`
    insert into probes (name, region, signing_public_key)
    values ('bad', 'eu', ${sql.binary(Buffer.from(pair.publicKey))}) returning id`);
    await ensureResultsStream(bus.connection, { shards: 1, probeIds: [id] });
    const request = { probeId: id, publicKey: pair.publicKey, shards: 1, nowMs, expiresAtMs: nowMs + 3_600_000 };
    const jwt = broker.access.mintProbeJwt(request);
    const dial = () =>
      connect({
        servers: server.url,
        inboxPrefix: inboxPrefix(id),
        tls: { ca: prepared.authorityPem },
        reconnect: false,
        timeout: 5_000,
        authenticator: (nonce) => ({
          jwt,
          nkey: nkeyPublic('user', pair.publicKey),
          sig: Buffer.from(signEd25519(pair.seed, Buffer.from(nonce ?? ''))).toString('base64url'),
        }),
      });
    const probe = await dial();
    t.teardown(() => probe.close());
    const taken = await probe.request(`results.${id}.0`, 'x', { timeout: 5_000 });
    t.match(taken.json(), { stream: resultsStream }, 'its results cross to the account of the control plane');

    const context = testContext(database, bus, { sealer: prepared.sealer, externalBroker: broker });
    const access = await startBrokerAccess(context, quietLog);
    t.teardown(() => access.stop());
    await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${id}`);
    await probe.closed();
    await t.rejects(dial(), /[Aa]uth/);

    const asSystem = await connect({
      servers: server.url,
      tls: { ca: prepared.authorityPem },
      authenticator: credsAuthenticator(new TextEncoder().encode(systemCredentials)),
    });
    t.teardown(() => asSystem.close());
    const present = await asSystem.request(`$SYS.REQ.ACCOUNT.${probes.publicText}.CLAIMS.LOOKUP`, '', {
      timeout: 5_000,
    });
    const claims = readNatsClaims(present.string());
    t.match(claims, { name: 'PROBES', nats: { limits: { conn: 78 }, signing_keys: [probesSigning.publicText] } });
  },
);

t.test('without the operator’s key nothing is pushed, and the log says what that means', async (t) => {
  const { urls, database } = await testDatabase(t);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-external-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const { sealer } = await prepareInstallation({ dataDir, databaseUrls: urls, shards: 1, serverNames: [], nowMs });
  const { log, lines } = keptLog('info');
  const broker = externalBroker({ ...settings, natsOperatorSigningKey: undefined, natsSystemCredentials: undefined });
  const context = testContext(database, undefined as never, { sealer, externalBroker: broker });
  const access = await startBrokerAccess(context, log);
  await access.stop();
  t.match(lines, [{ msg: /keeps its access to the broker until its credentials end/ }]);
  t.equal(lines.length, 1);
  const shared = externalBroker({ ...settings, natsProbeAccount: undefined, natsProbeAccountSigningKey: undefined });
  t.equal(
    shared?.access.probeAccount,
    settings.natsAccount,
    'without an account of their own probes share the one there is',
  );
  const sharing = { ...shared, revoking: undefined } as unknown as ExternalBroker;
  await (
    await startBrokerAccess(testContext(database, undefined as never, { sealer, externalBroker: sharing }), log)
  ).stop();
  t.match(lines[1], { msg: /PARALLAX_NATS_PROBE_ACCOUNT/ }, 'and the log says what that means');
});

t.test('settings of a broker that do not go together are refused by name', (t) => {
  const none = Object.fromEntries(Object.keys(settings).map((key) => [key, undefined])) as unknown as typeof settings;
  t.equal(externalBroker({ ...none, natsUrl: settings.natsUrl }), undefined, 'a broker under our own keys');
  const refused = (more: Partial<typeof settings>, message: RegExp) =>
    t.throws(() => externalBroker({ ...none, ...more }), message);
  refused({ natsAccountSigningKey: settings.natsAccountSigningKey }, /set PARALLAX_NATS_URL, PARALLAX_NATS_ACCOUNT/);
  refused({ ...settings, natsSystemCredentials: undefined as never }, /revoke probes together: set both or neither/);
  refused({ ...settings, natsProbeAccount: undefined as never }, /PROBE_ACCOUNT_SIGNING_KEY belong together/);
  refused({ ...settings, natsProbeAccountSigningKey: 'SAnonsense' }, /PROBE_ACCOUNT_SIGNING_KEY: not a NATS seed/);
  refused(
    { ...settings, natsAccountSigningKey: operator.seedText },
    /ACCOUNT_SIGNING_KEY: expected the seed of an account/,
  );
  refused(
    { ...settings, natsOperatorSigningKey: account.seedText },
    /OPERATOR_SIGNING_KEY: expected the seed of an operator/,
  );
  refused({ ...settings, natsAccountSigningKey: 'SAnonsense' }, /ACCOUNT_SIGNING_KEY: not a NATS seed/);
  t.end();
});
