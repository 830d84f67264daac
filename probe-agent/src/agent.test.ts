import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { credsAuthenticator, connect } from '@nats-io/transport-node';
import { createNatsSeeds, ed25519PublicKey, openNatsAuthority } from '@parallax/pki';
import { httpTarget, leakGuard, natsServer } from '@parallax/testkit';
import t from 'tap';
import { startAgent } from './agent.ts';
import type { Agent } from './agent.ts';
import { register } from './enrolment/register.ts';
import { silentLogger } from './ports.ts';
import { createChecker } from './runner/checker.ts';
import { statusOfRunningAgent } from './state/lock.ts';
import { anAssignment, testControlPlane } from './testing/control-plane.ts';
import type { TestSession } from './testing/control-plane.ts';
import { TestIngest, consume, createResultStream } from './testing/ingest.ts';
import { scratchFolder } from './testing/results.ts';
import { until } from './testing/until.ts';

leakGuard(t);

void t.test(
  'a probe enrols, takes its assignments, checks, publishes through a broker with TLS and frees what is committed',
  async (t) => {
    const stateDir = scratchFolder(t);
    const controlPlane = await testControlPlane(t);
    const nats = openNatsAuthority(createNatsSeeds());
    const server = await natsServer(t, {
      operator: {
        operatorJwt: nats.operatorJwt(Date.now()),
        systemAccount: nats.systemAccount,
        accounts: {
          ...nats.accountJwts([], Date.now()),
          [nats.systemAccount]: nats.systemAccountJwt(Date.now()),
        },
      },
      tls: { certificatePem: controlPlane.certificate.chainPem, keyPem: controlPlane.certificate.keyPem },
    });
    const service = await connect({
      servers: `127.0.0.1:${server.port}`,
      authenticator: credsAuthenticator(Buffer.from(nats.controlPlaneCredentials(Date.now()))),
      tls: { ca: controlPlane.authority.certificatePem },
    });
    t.teardown(() => service.close());
    await createResultStream(service, ['results.7.0']);

    const identity = await register({
      stateDir,
      controlPlane: controlPlane.enrolmentAddress,
      joinToken: controlPlane.joinToken(),
      publicAddresses: [],
    });
    t.equal(identity.probeId, 7);
    const publicKey = ed25519PublicKey(identity.signingSeed);
    const ingest = new TestIngest(publicKey);
    let session: TestSession | undefined;
    const target = await httpTarget(t);
    const down = anAssignment({ monitorId: 2, url: 'http://127.0.0.1:9/', intervalSeconds: 1, revision: 2n });
    controlPlane.welcome = {
      brokerAddress: `127.0.0.1:${server.port}`,
      credentials: {
        jwt: nats.mintProbeJwt({
          probeId: 7,
          publicKey,
          shards: 1,
          nowMs: Date.now(),
          expiresAtMs: Date.now() + 3_600_000,
        }),
        expiresAtMs: BigInt(Date.now() + 3_600_000),
      },
    };
    controlPlane.onSession = (started) => {
      session = started;
      session.sendSnapshot([anAssignment({ monitorId: 1, url: target.url, intervalSeconds: 1 }), down], 2n);
    };
    await consume(service, (message) => {
      const taken = ingest.take(message.data);
      message.ack();
      if (taken === undefined || session === undefined) return;
      const position = 'committed' in taken ? taken.committed : taken.missing;
      const value = { epoch: BigInt(position.epoch), shard: position.shard, seq: BigInt(position.seq) };
      if ('committed' in taken) session.send({ $case: 'acknowledgements', value: { positions: [value] } });
      else session.send({ $case: 'resendFrom', value: { position: value } });
    });

    const checker = createChecker({ allowedPrivate: ['127.0.0.0/8'], sourceAddress: undefined });
    const agent: Agent = await startAgent({
      stateDir,
      identity,
      bootId: 'boot',
      capabilities: [],
      publicAddresses: [],
      sourceAddresses: async () => ['192.0.2.5', '2001:db8::5'],
      maxInFlight: 10,
      check: checker.check,
      denyListeners: checker.denyListeners,
      logger: silentLogger,
      onFatal: (error) => t.fail(error.message),
    });
    t.teardown(() => agent.stop());

    await until('the session stands', () => session !== undefined);
    const hello = session?.received.find((message) => message.$case === 'hello');
    t.match(hello?.value, { sourceAddresses: ['192.0.2.5', '2001:db8::5'] });
    await until('both monitors have several results', () => {
      const results = ingest.all;
      return [1, 2].every((id) => results.filter((result) => result.monitorId === id).length >= 2);
    });
    const up = ingest.all.find((result) => result.monitorId === 1);
    const failing = ingest.all.find((result) => result.monitorId === 2);
    t.match(up, { outcome: 'ok', kind: 'scheduled', error: 0, freshS: 15 });
    t.ok(Math.abs((up?.effectiveUs ?? 0) / 1_000 - Date.now()) < 10_000, 'stamped with server time');
    t.match(failing, { outcome: 'fail', source: 'target' });
    t.match(failing?.evidence?.message, /refused/i, 'the first failure carries its evidence');
    t.equal(ingest.refused.length, 0);
    await until('everything published is freed', () => Number(agent.status()['unacknowledged_results']) < 3);

    session?.send({
      $case: 'runCheck',
      value: {
        requestId: 'r1',
        monitorId: 1,
        kind: 2,
        deadlineMs: 5_000,
        assignment: undefined,
        trace: true,
        diagnose: false,
        readChain: false,
        expiresUs: 0n,
      },
    });
    await until(
      'the manual check is answered',
      () => session?.received.some((message) => message.$case === 'checkAnswer') ?? false,
    );
    const answer = session?.received.find((message) => message.$case === 'checkAnswer');
    t.match(JSON.parse(answer?.$case === 'checkAnswer' ? answer.value.outcomeJson.toString() : '{}'), {
      outcome: 'ok',
    });
    await until('the manual result is recorded', () => ingest.all.some((result) => result.kind === 'manual'));
  },
);

void t.test(
  'as a process: it registers, renews a certificate that has run out, says how it is, refuses a second one, and ends on SIGTERM',
  async (t) => {
    const controlPlane = await testControlPlane(t);
    controlPlane.certificateDays = -1;
    const stateDir = scratchFolder(t);
    const env = {
      PATH: process.env['PATH'],
      PARALLAX_PROBE_CONTROL_PLANE: controlPlane.enrolmentAddress,
      PARALLAX_PROBE_JOIN_TOKEN: controlPlane.joinToken(),
      PARALLAX_PROBE_STATE_DIR: stateDir,
    };
    const main = path.join(import.meta.dirname, 'main.ts');
    await register({
      stateDir,
      controlPlane: controlPlane.enrolmentAddress,
      joinToken: controlPlane.joinToken(),
      publicAddresses: [],
    });
    controlPlane.certificateDays = 30;
    const agent = spawn(process.execPath, [main, 'run'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let log = '';
    agent.stdout.on('data', (part: Buffer) => {
      log += part.toString();
    });
    const ended = new Promise<number | null>((resolve) => agent.once('close', resolve));
    t.teardown(() => agent.kill('SIGKILL'));
    await until('the session stands', () => controlPlane.sessions.length === 1);
    t.equal(controlPlane.renewals.length, 1, 'seen by its own dates, renewed first');
    const status = await statusOfRunningAgent(stateDir);
    t.match(status, {
      pid: agent.pid,
      probe_id: 7,
      session_connected: true,
      broker_connected: false,
      unacknowledged_results: 0,
    });
    const second = spawn(process.execPath, [main, 'run'], { env, stdio: 'ignore' });
    t.equal(await new Promise((resolve) => second.once('close', resolve)), 1);
    agent.kill('SIGTERM');
    t.equal(await ended, 0);
    t.equal(await statusOfRunningAgent(stateDir), undefined);
    t.notMatch(log, controlPlane.joinToken().split('.')[1], 'no secret in the log');
  },
);

void t.test(
  'a restarted agent checks what it was assigned while the control plane is away, asks only for what has changed, and stops when it is revoked',
  async (t) => {
    const stateDir = scratchFolder(t);
    const controlPlane = await testControlPlane(t);
    const registered = await register({
      stateDir,
      controlPlane: controlPlane.enrolmentAddress,
      joinToken: controlPlane.joinToken(),
      publicAddresses: [],
    });
    const assigned = Array.from({ length: 3 }, (_, index) =>
      anAssignment({ monitorId: index + 1, intervalSeconds: 1 }),
    );
    controlPlane.onSession = (session) => {
      if (session.hello.knownRevision === 0n) session.sendSnapshot(assigned, 41n);
    };
    controlPlane.welcome = { deniedListeners: [{ address: '127.0.0.1', port: 5432 }] };
    const checked: number[] = [];
    const denied: unknown[] = [];
    const warnings: string[] = [];
    const start = async (sessionAddress: string): Promise<Agent> => {
      const agent = await startAgent({
        stateDir,
        identity: { ...registered, sessionAddress },
        bootId: 'boot',
        capabilities: [],
        publicAddresses: [],
        maxInFlight: 10,
        check: async ({ monitorId }) => {
          checked.push(monitorId);
          return { outcome: 'ok', total: 1, phases: {} };
        },
        denyListeners: (listeners) => denied.push(...listeners),
        logger: { ...silentLogger, warn: (_fields, message) => void warnings.push(message) },
        onFatal: (error) => t.fail(error.message),
      });
      t.teardown(() => agent.stop());
      return agent;
    };
    const first = await start(controlPlane.sessionAddress);
    await until('everything is checked', () => new Set(checked).size === 3);
    await first.stop();

    checked.length = 0;
    denied.length = 0;
    const offline = await start('127.0.0.1:1');
    t.match(denied, [{ address: '127.0.0.1', port: 5432 }], 'also what no check may reach');
    await until('everything is checked from the cache', () => new Set(checked).size === 3);
    t.match(offline.status(), { session_connected: false, assignments: 3, assignments_revision: 41 });
    await offline.stop();

    const back = await start(controlPlane.sessionAddress);
    await until('the session stands again', () => controlPlane.sessions.length === 2);
    t.equal(controlPlane.sessions[1]?.hello.knownRevision, 41n);
    t.ok(readdirSync(stateDir).includes('assignments.sealed'));
    controlPlane.revoked = true;
    controlPlane.sessions[1]?.end();
    await until('nothing is assigned any more', () => back.status()['assignments'] === 0);
    await until('nothing is kept any more', () => !readdirSync(stateDir).includes('assignments.sealed'));
    await back.stop();
    t.notOk(readdirSync(stateDir).includes('assignments.sealed'), 'nor written at the end');
  },
);
