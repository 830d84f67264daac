import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  controlPlaneServerName,
  createEd25519Pair,
  inboxPrefix,
  nkeyPublic,
  resultSubject,
  signEd25519,
} from '@parallax/pki';
import { natsServer, quietLog, testAuthority } from '@parallax/testkit';
import t from 'tap';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadNatsAuthority, prepareInstallation } from '../../../installation/index.ts';
import { connectBus } from '../../../platform/bus/nats-bus.ts';
import { ensureResultsStream, resultsStream } from '../../../platform/bus/results-stream.ts';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { testContext } from '../../../testing/probes.ts';
import { pushAccounts, startBrokerAccess } from './job.ts';

const { urls, database } = await testDatabase(t);
const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-broker-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
const prepared = await prepareInstallation({
  dataDir,
  databaseUrls: urls,
  shards: 2,
  serverNames: ['127.0.0.1'],
  nowMs: Date.now(),
});
const server = await natsServer(t, prepared.nats);
const bus = await connectBus({
  servers: server.url,
  authorityPem: prepared.authorityPem,
  credentials: prepared.nats.controlPlaneCredentials,
  name: 'test',
  log: quietLog,
});
t.teardown(() => bus.close());
const nats = await loadNatsAuthority(database.worker, prepared.sealer);

type Probe = { readonly id: number; readonly connection: NatsConnection; readonly dial: () => Promise<NatsConnection> };

async function newProbe(expiresInMs = 3_600_000): Promise<Probe> {
  const pair = createEd25519Pair();
  const { id } = await database.worker.one(sql.typeAlias('id')`
    insert into probes (name, region, signing_public_key)
    values (${randomBytes(4).toString('hex')}, 'eu', ${sql.binary(Buffer.from(pair.publicKey))}) returning id`);
  const nowMs = Date.now();
  const jwt = nats.mintProbeJwt({
    probeId: id,
    publicKey: pair.publicKey,
    shards: 2,
    nowMs,
    expiresAtMs: nowMs + expiresInMs,
  });
  const dial = (): Promise<NatsConnection> =>
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
  const connection = await dial();
  t.teardown(() => connection.close());
  return { id, connection, dial };
}

const publish = (probe: Probe, subject: string) =>
  jetstream(probe.connection).publish(subject, 'x', { timeout: 1_000, retries: 0 });

t.test('a probe publishes its own results of every shard and nothing else', async (t) => {
  const [own, other] = [await newProbe(), await newProbe()];
  await ensureResultsStream(bus.connection, { shards: 2, probeIds: [own.id, other.id] });
  t.ok(await publish(own, resultSubject(own.id, 0)));
  t.ok(await publish(own, resultSubject(own.id, 1)));
  const refused = async (subject: string) => t.rejects(publish(own, subject), Error, subject);
  await refused(resultSubject(other.id, 0));
  await refused(resultSubject(own.id, 2));
  await refused('dispatch.1');
  await t.rejects(own.connection.request('$JS.API.STREAM.DELETE.RESULTS', '', { timeout: 500 }), Error, 'the stream');
  const heard: string[] = [];
  for (const subject of ['results.>', `_INBOX_${other.id}.>`, '_INBOX.>', 'dispatch.>', '>']) {
    own.connection.subscribe(subject, {
      callback: (error, message) => void (error === null && heard.push(message.subject)),
    });
  }
  await own.connection.flush();
  t.ok(await publish(other, resultSubject(other.id, 0)));
  bus.hint(`dispatch.${other.id}`, {});
  await bus.connection.flush();
  await own.connection.flush();
  t.same(heard, [], "a probe hears nobody else's messages");
});

t.test('what a probe names as the reply of its own message reaches nothing', async (t) => {
  const [bad, other] = [await newProbe(), await newProbe()];
  await ensureResultsStream(bus.connection, { shards: 2, probeIds: [bad.id, other.id] });
  const subject = resultSubject(other.id, 0);
  for (let waiting = 0; waiting < 990; waiting += 1) other.connection.publish(subject, 'waiting');
  await other.connection.flush();
  const manager = await jetstreamManager(bus.connection);
  const consumer = await manager.consumers.add(resultsStream, {
    durable_name: 'waiting',
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
  });
  const heard: string[] = [];
  const watched = [`dispatch.${other.id}`, 'config.0', 'outbox', 'probes.changed', 'live.wanted', '$JS.API.>'];
  for (const each of watched) {
    bus.connection.subscribe(each, {
      callback: (_error, { subject: at, data }) => {
        // The stream's answer names itself; the requests of this test do not.
        if (new TextDecoder().decode(data).startsWith(`{"stream":"${resultsStream}"`)) heard.push(at);
      },
    });
  }
  await bus.connection.flush();
  const attacks = [
    `$JS.API.STREAM.PURGE.${resultsStream}`,
    `$JS.API.STREAM.DELETE.${resultsStream}`,
    `$JS.API.CONSUMER.DELETE.${resultsStream}.${consumer.name}`,
    `dispatch.${other.id}`,
    resultSubject(other.id, 0),
    resultSubject(other.id, 1),
    'config.0',
    'outbox',
    'probes.changed',
    'live.wanted',
  ];
  for (const reply of attacks) bad.connection.publish(resultSubject(bad.id, 0), 'x', { reply });
  await bad.connection.flush();
  // The stream answers one message after the other: when this one is answered, all before it are.
  t.ok(await publish(bad, resultSubject(bad.id, 0)));
  await bus.connection.flush();
  const { state } = await manager.streams.info(resultsStream, { subjects_filter: 'results.>' });
  t.match(
    state.subjects,
    { [subject]: 990, [resultSubject(bad.id, 0)]: attacks.length + 1 },
    'all that waited is there',
  );
  t.notOk(state.subjects?.[resultSubject(other.id, 1)], 'and nothing came in the name of another probe');
  t.equal((await manager.consumers.info(resultsStream, 'waiting')).num_pending, 990);
  t.same(heard, [], 'no process was told anything');
});

t.test('credentials end at their time', async (t) => {
  const short = await newProbe(1_500);
  const error = await short.connection.closed();
  t.match(String(error), /expired/i);
});

t.test(
  'a revoked probe is cut off within seconds and stays out, also after the broker was restarted; others go on',
  async (t) => {
    const context = testContext(database, bus, { sealer: prepared.sealer, shards: 2 });
    const access = await startBrokerAccess(context, quietLog);
    t.teardown(() => access.stop());
    const [bad, good] = [await newProbe(), await newProbe()];
    await ensureResultsStream(bus.connection, { shards: 2, probeIds: [bad.id, good.id] });
    const startedMs = performance.now();
    await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${bad.id}`);
    await bad.connection.closed();
    const tookMs = performance.now() - startedMs;
    t.comment(`cut off after ${Math.round(tookMs)} ms`);
    t.ok(tookMs < 5_000);
    await t.rejects(bad.dial(), /[Aa]uth/);
    t.ok(await publish(good, resultSubject(good.id, 0)));
    // Started with the accounts of the beginning, which know of no revocation.
    await server.stop();
    await server.start();
    const isRefused = async (): Promise<boolean> => {
      const connection = await bad.dial().catch(() => undefined);
      await connection?.close();
      return connection === undefined;
    };
    const untilMs = performance.now() + 10_000;
    while (!(await isRefused())) {
      if (performance.now() > untilMs) throw new Error('the revoked probe still gets in');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await (await good.dial()).close();
  },
);

t.test(
  'the list is handed over to a broker by the one name that all its certificates have, and to no other',
  async (t) => {
    const certificates = await testAuthority();
    const withCertificateOf = async (name: string) => {
      const { port } = await natsServer(t, {
        ...prepared.nats,
        tls: await certificates.issue({ names: [name] }),
      });
      return pushAccounts({
        server: `127.0.0.1:${port}`,
        authorityPem: certificates.certificatePem,
        credentials: nats.systemCredentials(Date.now()),
        accountJwts: nats.accountJwts([], Date.now()),
      });
    };
    await t.resolves(withCertificateOf(controlPlaneServerName), 'without localhost and without its address');
    await t.rejects(withCertificateOf('localhost'), /certificate|altname/i);
  },
);
