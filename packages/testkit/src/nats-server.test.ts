import { existsSync } from 'node:fs';
import { connect, credsAuthenticator, nanos } from '@nats-io/transport-node';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { createNatsSeeds, openNatsAuthority } from '@parallax/pki';
import t from 'tap';
import { testAuthority } from './certificates.ts';
import { leakGuard } from './leak-guard.ts';
import { natsServer } from './nats-server.ts';

leakGuard(t);

t.test('a server in simple mode keeps its stream over kill and start, and is gone with the test', async (t) => {
  let dataDir = '';
  let pid = 0;
  await t.test('while it runs', async (t) => {
    const server = await natsServer(t);
    dataDir = server.dataDir;
    const first = await connect({ servers: server.url, reconnect: false });
    await (await jetstreamManager(first)).streams.add({ name: 'S', subjects: ['s.*'] });
    await jetstream(first).publish('s.1', 'kept');
    await server.kill();
    await first.closed();
    await server.start();
    pid = server.pid();
    const second = await connect({ servers: server.url });
    t.equal((await (await jetstreamManager(second)).streams.info('S')).state.messages, 1);
    await second.close();
  });
  t.notOk(existsSync(dataDir));
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

t.test('a server in operator mode lets in who has credentials, over TLS, and nobody else', async (t) => {
  const authority = openNatsAuthority(createNatsSeeds());
  const now = Date.now();
  const certificates = await testAuthority();
  const server = await natsServer(t, {
    operator: {
      operatorJwt: authority.operatorJwt(now),
      systemAccount: authority.systemAccount,
      accounts: {
        [authority.systemAccount]: authority.systemAccountJwt(now),
        ...authority.accountJwts([], now),
      },
    },
    // For an address the client checks the certificate against the name localhost.
    tls: await certificates.issue({ names: ['localhost'] }),
  });
  const tls = { ca: certificates.certificatePem };
  const authenticator = credsAuthenticator(Buffer.from(authority.controlPlaneCredentials(now)));
  const connection = await connect({ servers: server.url, tls, authenticator });
  await (await jetstreamManager(connection)).streams.add({ name: 'S', subjects: ['s.*'], max_age: nanos(60_000) });
  await connection.close();
  await t.rejects(connect({ servers: server.url, tls, reconnect: false, timeout: 2_000 }), /authoriz/i);
});
