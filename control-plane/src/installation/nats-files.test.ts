import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '@nats-io/transport-node';
import { chooseDataFolder, findNatsServer, runProcess } from '@parallax/embedded';
import { createEd25519Pair, inboxPrefix, nkeyPublic, signEd25519 } from '@parallax/pki';
import { freePort } from '@parallax/testkit';
import t from 'tap';
import { pushAccounts } from '../monitoring/probes/broker-access/job.ts';
import { testDatabase } from '../platform/database/testing.ts';
import { writeNatsFiles } from './nats-files.ts';
import { openInstallation } from './open.ts';
import { prepareInstallation } from './prepare.ts';

const checkout = path.resolve(import.meta.dirname, '../../..');
// Neither this address nor a name of it stands in the certificate: it is known by the name that all of ours carry.
const host = '127.0.0.2';
const serverName = { servername: 'parallax-control-plane' };

t.test(
  'a nats-server of its own that is restarted alone still refuses the probes that were revoked, whatever its files say',
  async (t) => {
    const { urls, database } = await testDatabase(t);
    const folder = mkdtempSync(path.join(tmpdir(), 'parallax-nats-files-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const nowMs = Date.now();
    await prepareInstallation({ dataDir: folder, databaseUrls: urls, shards: 1, serverNames: [], nowMs });
    const installation = await openInstallation({ dataDir: folder, pool: database.worker, nowMs });
    const { nats, authority } = installation;
    const port = await freePort();
    const dir = path.join(folder, 'nats');
    const write = () =>
      writeNatsFiles({
        installation,
        pool: database.worker,
        folder: dir,
        listen: { host, port },
        names: ['nats'],
        nowMs,
      });
    await write();
    const { folder: dataDir } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout });
    const start = () =>
      runProcess({
        name: 'nats-server',
        command: findNatsServer(process.env, { dataDir })?.path ?? '',
        args: ['--config', path.join(dir, 'nats-server.conf')],
        env: {},
        cwd: dir,
        readiness: { line: /Server is ready/, timeoutMs: 20_000 },
        stopSteps: [{ signal: 'SIGTERM', waitMs: 5_000 }],
        onLine: () => undefined,
      });
    let server = await start();
    t.teardown(() => server.stop());

    const dial = async (probeId: number, pair: ReturnType<typeof createEd25519Pair>): Promise<boolean> => {
      const { publicKey, seed } = pair;
      const request = { probeId, publicKey, shards: 1, nowMs, expiresAtMs: nowMs + 3_600_000 };
      const jwt = nats.mintProbeJwt(request);
      const tls = { ca: authority.certificatePem, ...serverName };
      const connection = await connect({
        servers: `${host}:${port}`,
        inboxPrefix: inboxPrefix(probeId),
        tls,
        reconnect: false,
        timeout: 5_000,
        authenticator: (nonce) => ({
          jwt,
          nkey: nkeyPublic('user', publicKey),
          sig: Buffer.from(signEd25519(seed, Buffer.from(nonce ?? ''))).toString('base64url'),
        }),
      }).catch((error: unknown) => {
        if (!/authoriz|authentic|revoked/i.test(String(error))) throw error;
        return undefined;
      });
      await connection?.close();
      return connection !== undefined;
    };
    const [bad, good] = [createEd25519Pair(), createEd25519Pair()];
    t.ok(await dial(1, bad));
    t.ok(await dial(2, good));

    // Two seconds on, since these lists are told apart by whole seconds.
    await pushAccounts({
      server: `${host}:${port}`,
      authorityPem: authority.certificatePem,
      credentials: nats.systemCredentials(nowMs),
      accountJwts: nats.accountJwts([{ publicKey: bad.publicKey, revokedAtMs: nowMs + 1_000 }], nowMs + 2_000),
    });
    t.notOk(await dial(1, bad));

    await server.stop();
    t.same(await write(), [], 'the files know of no revocation');
    server = await start();
    t.notOk(await dial(1, bad), 'it kept what it was sent');
    t.ok(await dial(2, good));
  },
);
