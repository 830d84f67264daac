import * as grpc from '@grpc/grpc-js';
import {
  certificatePem,
  createEd25519Pair,
  createSigningRequest,
  fingerprint,
  openAuthority,
  serverTimeMetadata,
  createAuthority,
  signRenewal,
} from '@parallax/pki';
import { keptLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { EnrolmentClient, ProbeClient } from '@parallax/wire';
import type {
  AgentMessage,
  Assignment,
  ControlMessage,
  EnrolRequest,
  EnrolResponse,
  RenewRequest,
  RenewResponse,
} from '@parallax/wire';
import { randomBytes } from 'node:crypto';
import tls from 'node:tls';
import { once } from 'node:events';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { loadAuthority } from '../../installation/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { allowRanges } from '../../identity/workspaces/index.ts';
import {
  assignMonitor,
  closeAssignments,
  rebalanceAll,
  snapshotHash,
  touchAssignments,
  writeSeats,
} from '../assignments/index.ts';
import { askChain, askDiagnosis, askProbe } from './ask.ts';
import { dispatchSubject } from '../../platform/bus/subjects.ts';
import { startProbeListeners } from './gateway.ts';
import { createJoinToken } from './join-token.queries.ts';
import { revokeProbe } from './revoke.queries.ts';
import { makeMonitors, makeWorkspace, memoryBus, testContext } from '../../testing/probes.ts';

const { database } = await testDatabase(t);
const bus = memoryBus();
const { log, lines } = keptLog();
let deniedListeners = [{ address: '127.0.0.1', port: 5432 }];
const context = testContext(database, bus, { log, deniedListeners: () => deniedListeners });
const limits = { pollMs: 100, reportMs: 100, helloMs: 300 };
const listeners = await startProbeListeners(context, log, {
  sessions: limits,
  enrolmentRate: { burst: 1_000, perSecond: 1_000 },
});
t.teardown(() => listeners.stop());
const authority = await loadAuthority(database.worker, context.sealer, Date.now());
const owner = await makeWorkspace(database);

const clientOptions = {
  'grpc.ssl_target_name_override': 'parallax-control-plane',
  'grpc.default_authority': 'parallax-control-plane',
};
const enrolmentClient = new EnrolmentClient(
  `127.0.0.1:${listeners.enrolmentPort}`,
  grpc.credentials.createSsl(Buffer.from(authority.certificatePem)),
  clientOptions,
);
t.teardown(() => enrolmentClient.close());

function enrol(request: EnrolRequest): Promise<EnrolResponse> {
  return new Promise((resolve, reject) => {
    enrolmentClient.enrol(request, (error, response) => (error === null ? resolve(response) : reject(error)));
  });
}

function renew(request: RenewRequest): Promise<RenewResponse> {
  return new Promise((resolve, reject) => {
    enrolmentClient.renew(request, (error, response) => (error === null ? resolve(response) : reject(error)));
  });
}

let names = 0;
async function newToken(minutes?: number): Promise<string> {
  names += 1;
  const { token } = await createJoinToken(database.worker, {
    name: `probe-${names}`,
    region: 'eu',
    workspaceId: null,
    minutes,
    createdBy: null,
    fingerprint: authority.fingerprint,
    random: randomBytes,
  });
  return token.split('.').slice(0, 2).join('.');
}

async function requestOf(token: string, more: Partial<EnrolRequest> = {}): Promise<EnrolRequest & { keyPem: string }> {
  const { keyPem, csrDer } = await createSigningRequest();
  return {
    token,
    csrDer: Buffer.from(csrDer),
    signingPublicKey: Buffer.from(createEd25519Pair().publicKey),
    agentVersion: '1',
    publicAddresses: ['198.51.100.7'],
    keyPem,
    ...more,
  };
}

type Enrolled = { probeId: number; keyPem: string; certificateDer: Buffer };
async function newProbe(): Promise<Enrolled> {
  const request = await requestOf(await newToken());
  const { probeId, certificateDer } = await enrol(request);
  return { probeId, certificateDer, keyPem: request.keyPem };
}

type Body = NonNullable<ControlMessage['message']>;
type Values = { [Item in Body as Item['$case']]: Item['value'] };

/** A small agent: it opens a session and keeps what it is sent. */
class Agent {
  readonly messages: Body[] = [];
  readonly held = new Map<number, Assignment>();
  known = 0n;
  transferred = 0;
  ended: Promise<grpc.StatusObject>;
  readonly #client: ProbeClient;
  readonly #call: grpc.ClientDuplexStream<AgentMessage, ControlMessage>;
  #chunks: Assignment[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(
    t: TestContext,
    probe: Enrolled,
    hello: {
      knownRevision?: bigint;
      privateTargetsBasis?: string;
      /** An agent of a release that knows no private targets. */
      isOld?: boolean;
      epochs?: bigint[];
      silent?: boolean;
      port?: number;
      bootId?: string;
      agentVersion?: string;
    } = {},
  ) {
    const credentials = grpc.credentials.createSsl(
      Buffer.from(authority.certificatePem),
      Buffer.from(probe.keyPem),
      Buffer.from(certificatePem(probe.certificateDer)),
    );
    this.#client = new ProbeClient(`127.0.0.1:${hello.port ?? listeners.sessionPort}`, credentials, {
      ...clientOptions,
      'grpc.use_local_subchannel_pool': 1,
    });
    t.teardown(() => this.leave());
    this.known = hello.knownRevision ?? 0n;
    this.#call = this.#client.session();
    this.#call.on('data', (message: ControlMessage) => this.#receive(message));
    this.ended = new Promise((resolve) => {
      this.#call.on('status', (status: grpc.StatusObject) => {
        resolve(status);
        for (const check of this.#waiting) check();
      });
      this.#call.on('error', () => undefined);
    });
    if (hello.silent !== true) {
      this.send({
        $case: 'hello',
        value: {
          bootId: hello.bootId ?? 'boot',
          agentVersion: hello.agentVersion ?? '1.2.3',
          capabilities: ['icmp'],
          knownRevision: this.known,
          epochs: hello.epochs ?? [5n],
          publicAddresses: [],
          sourceAddresses: [],
          maxInFlight: 10,
          privateTargetsBasis: hello.privateTargetsBasis ?? '1:',
          obeysPrivateTargets: hello.isOld !== true,
        },
      });
    }
  }

  send(message: NonNullable<AgentMessage['message']>): void {
    this.#call.write({ message });
  }

  leave(): void {
    this.#call.cancel();
    this.#client.close();
  }

  /** Waits until something holds of what was received. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** The value of the first message of a kind, or of a later one. */
  async next<Case extends Body['$case']>($case: Case, skip = 0): Promise<Values[Case]> {
    const find = () => this.messages.filter((message) => message.$case === $case)[skip];
    await this.until(() => find() !== undefined);
    const value: unknown = find()?.value;
    return value as Values[Case];
  }

  #receive({ message }: ControlMessage): void {
    if (message === undefined) return;
    this.messages.push(message);
    if (message.$case === 'snapshotBegin') this.#chunks = [];
    if (message.$case === 'assignmentChunk') this.#chunks.push(...message.value.assignments);
    if (message.$case === 'snapshotEnd') {
      if (!snapshotHash(this.#chunks).equals(message.value.hash) || this.#chunks.length !== message.value.count) {
        throw new Error('the snapshot is not whole');
      }
      this.held.clear();
      for (const assignment of this.#chunks) this.held.set(assignment.monitorId, assignment);
      this.transferred += this.#chunks.length;
      this.known = message.value.revision;
    }
    if (message.$case === 'assignmentDelta') {
      for (const assignment of message.value.changed) this.held.set(assignment.monitorId, assignment);
      for (const { monitorId } of message.value.removed) this.held.delete(monitorId);
      this.transferred += message.value.changed.length + message.value.removed.length;
      this.known = message.value.revision;
    }
    for (const check of this.#waiting) check();
  }
}

const denied = { code: grpc.status.PERMISSION_DENIED };

t.test('an agent enrols with a token and nothing else, and knows the authority by its fingerprint', async (t) => {
  const socket = tls.connect({
    host: '127.0.0.1',
    port: listeners.enrolmentPort,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  await once(socket, 'secureConnect');
  const root = socket.getPeerX509Certificate()?.issuerCertificate;
  t.equal(root === undefined ? '' : fingerprint(root.raw), authority.fingerprint);
  socket.destroy();
  const request = await requestOf(await newToken());
  const answer = await enrol(request);
  t.match(answer, {
    name: `probe-${names}`,
    region: 'eu',
    sessionAddress: '127.0.0.1:9443',
    brokerAddress: '127.0.0.1:4222',
  });
  t.ok(await authority.hasIssued(answer.certificateDer));
  const again = await enrol(request);
  t.same(again, answer, 'the same token with the same key gets the same answer');
  await t.rejects(enrol(await requestOf(request.token)), { ...denied, details: /used already/ });
  await t.rejects(
    enrol({ ...request, signingPublicKey: randomBytes(32) }),
    denied,
    'the same request key with another signing key',
  );
});

t.test('of many agents with one token exactly one is enrolled', async (t) => {
  const token = await newToken();
  const requests = await Promise.all(Array.from({ length: 8 }, () => requestOf(token)));
  const results = await Promise.allSettled(requests.map(enrol));
  t.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  const repeated = await requestOf(await newToken());
  const same = await Promise.all(Array.from({ length: 4 }, () => enrol(repeated)));
  t.equal(new Set(same.map((answer) => answer.probeId)).size, 1, 'and one agent that asks at once gets one answer');
});

t.test('a token that is expired, foreign, mistyped or of a taken name is refused and named in the log', async (t) => {
  const expired = await newToken();
  await database.worker.query(
    sql.unsafe`update join_tokens set expires_at = now() where id = ${Number(expired.split('.')[0])}`,
  );
  lines.length = 0;
  await t.rejects(enrol(await requestOf(expired)), { ...denied, details: /expired/ });
  t.match(
    lines.find((line) => line['level'] === 'warn'),
    { join_token_id: Number(expired.split('.')[0]), reason: 'expired', remote_address: '127.0.0.1' },
  );
  const foreign = `${expired.split('.')[0]}.${randomBytes(32).toString('base64url')}`;
  await t.rejects(enrol(await requestOf(foreign)), { ...denied, details: /not known here/ });
  await t.rejects(enrol(await requestOf('nonsense')), { ...denied, details: /not known here/ });
  const first = await newToken();
  const { id } = await database.worker.one(sql.typeAlias('id')`
    insert into probes (name, region, signing_public_key) values (${`probe-${names}`}, 'eu', ${sql.binary(randomBytes(32))}) returning id`);
  await t.rejects(enrol(await requestOf(first)), { ...denied, details: /exists already/ });
  await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${id}`);
  t.ok(await enrol(await requestOf(first)), 'a refusal does not use the token up');
  t.notMatch(JSON.stringify(lines), expired.split('.')[1], 'no secret in the log');
});

t.test('a forged signing request and a wrong signing key are refused and leave the token unused', async (t) => {
  const request = await requestOf(await newToken());
  const forged = Buffer.from(request.csrDer);
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  const invalid = { code: grpc.status.INVALID_ARGUMENT };
  await t.rejects(enrol({ ...request, csrDer: forged }), invalid);
  await t.rejects(enrol({ ...request, csrDer: Buffer.from('x') }), invalid);
  await t.rejects(enrol({ ...request, signingPublicKey: Buffer.alloc(31) }), invalid);
  await t.rejects(enrol({ ...request, csrDer: Buffer.alloc(100_000) }), { code: grpc.status.RESOURCE_EXHAUSTED });
  t.ok(await enrol(request));
});

t.test(
  'a probe renews by proof of possession, also when expired; a stranger, a thief of the certificate and a revoked one do not',
  async (t) => {
    const probe = await newProbe();
    const renewal = async (more: { by?: string; held?: Buffer; atMs?: number } = {}): Promise<RenewRequest> => {
      const { csrDer } = await createSigningRequest();
      const issuedAtMs = BigInt(more.atMs ?? Date.now());
      const proof = Buffer.from(signRenewal(more.by ?? probe.keyPem, csrDer, issuedAtMs));
      return { certificateDer: more.held ?? probe.certificateDer, csrDer: Buffer.from(csrDer), proof, issuedAtMs };
    };
    const renewed = await renew(await renewal());
    t.ok(await authority.hasIssued(renewed.certificateDer));
    await t.rejects(renew(await renewal({ by: (await createSigningRequest()).keyPem })), {
      ...denied,
      details: /proof/,
    });
    const other = await newProbe();
    await t.rejects(
      renew(await renewal({ held: other.certificateDer })),
      { ...denied, details: /proof/ },
      "another's certificate",
    );
    const late = await renew(await renewal({ atMs: Date.now() - 3_600_000 })).catch(
      (error: grpc.ServiceError) => error,
    );
    t.match(late, { code: grpc.status.FAILED_PRECONDITION }, 'a proof of an hour ago');
    const hint = 'metadata' in late ? late.metadata.get(serverTimeMetadata)[0] : undefined;
    t.ok(await renew(await renewal({ atMs: Number(hint) })), "the server's hint is good for the next try");
    const foreignAuthority = await openAuthority(await createAuthority(Date.now()));
    const foreign = await createSigningRequest();
    const { certificateDer } = await foreignAuthority.issueProbeCertificate(probe.probeId, foreign.csrDer, Date.now());
    await t.rejects(renew(await renewal({ by: foreign.keyPem, held: Buffer.from(certificateDer) })), {
      ...denied,
      details: /not issued by/,
    });
    const expired = await createSigningRequest();
    const stale = await database.worker.transaction(async (tx) => {
      const { certificateDer: der, facts } = await authority.issueProbeCertificate(
        probe.probeId,
        expired.csrDer,
        Date.now() - 40 * 86_400_000,
      );
      await tx.query(sql.unsafe`
      insert into probe_certificates (serial, probe_id, key_fingerprint, not_before, not_after, certificate_der)
      values (${facts.serial}, ${probe.probeId}, ${facts.publicKeyFingerprint}, now() - interval '41 days', now() - interval '10 days', ${sql.binary(Buffer.from(der))})`);
      return Buffer.from(der);
    });
    t.ok(await renew(await renewal({ by: expired.keyPem, held: stale })), 'expired ten days ago');
    await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${probe.probeId}`);
    await t.rejects(renew(await renewal()), { ...denied, details: /revoked/ });
  },
);

t.test('a session greets, gives credentials and the time, and is recorded', async (t) => {
  const probe = await newProbe();
  const agent = new Agent(t, probe);
  const welcome = await agent.next('welcome');
  t.match(welcome, {
    probeId: probe.probeId,
    region: 'eu',
    shards: 1,
    maxBatchResults: 500,
    brokerAddress: '127.0.0.1:4222',
    deniedListeners: [{ address: '127.0.0.1', port: 5432 }],
  });
  t.ok(Math.abs(Number(welcome.serverUs) / 1_000 - Date.now()) < 5_000);
  t.ok(Number(welcome.credentials?.expiresAtMs) > Date.now() + 3_600_000);
  agent.send({ $case: 'clockRequest', value: { nonce: 9n } });
  t.equal((await agent.next('clockReply')).nonce, 9n);
  agent.send({ $case: 'credentialsRequest', value: {} });
  t.ok((await agent.next('credentials')).jwt);
  agent.send({
    $case: 'heartbeat',
    value: {
      monotonicUs: 1n,
      wallMs: 1n,
      oldestUnacknowledgedMs: 77n,
      inFlight: 3,
      unacknowledged: 1n,
      damagedRecords: 2n,
    },
  });
  await untilRow(
    () =>
      sql.unsafe`select 1 from probe_sessions where probe_id = ${probe.probeId} and in_flight = 3 and oldest_unacknowledged_ms = 77 and damaged_records = 2 and closed_at is null`,
  );
  await untilRow(
    () =>
      sql.unsafe`select 1 from probes where id = ${probe.probeId} and capabilities = '{icmp}' and agent_version = '1.2.3'`,
  );
  agent.leave();
  await untilRow(
    () => sql.unsafe`select 1 from probe_sessions where probe_id = ${probe.probeId} and closed_at is not null`,
  );
});

t.test('when the own listeners have moved, a session begins anew and learns of it', async (t) => {
  const probe = await newProbe();
  const agent = new Agent(t, probe);
  await agent.next('welcome');
  const before = deniedListeners;
  t.teardown(() => (deniedListeners = before));
  deniedListeners = [...before, { address: '172.18.0.4', port: 4222 }];
  t.match(await agent.ended, { code: grpc.status.UNAVAILABLE, details: /listeners of the control plane have changed/ });
  const welcome = await new Agent(t, probe).next('welcome');
  t.same(welcome.deniedListeners, deniedListeners);
});

/** A monitor that a probe checks, without more seats. */
async function seatOf(probeId: number, of: { userId: number; workspaceId: number }): Promise<number> {
  const [monitorId = 0] = await makeMonitors(database, of, 1);
  await database.worker.transaction((tx) => writeSeats(tx, [{ operation: 'open', monitorId, probeId, region: 'eu' }]));
  return monitorId;
}

t.test(
  'an assignment says what its workspace may reach, and a change of that travels to the agent at once',
  async (t) => {
    const probe = await newProbe();
    const [tenant, administrator] = [await makeWorkspace(database), await makeWorkspace(database)];
    const { worker } = database;
    await worker.query(sql.unsafe`update users set is_administrator = true where id = ${administrator.userId}`);
    const limited = await seatOf(probe.probeId, tenant);
    const free = await seatOf(probe.probeId, administrator);
    const agent = new Agent(t, probe);
    t.match(await agent.next('snapshotEnd'), { privateTargetsBasis: '1:' });
    const targets = (monitorId: number) => agent.held.get(monitorId)?.privateTargets;
    t.same(targets(limited), { all: false, ranges: [] });
    t.same(targets(free), { all: true, ranges: [] }, 'the list of the agent caps it');
    await allowRanges(worker, tenant.workspaceId, ['10.1.0.0/16']);
    await agent.until(() => targets(limited)?.ranges.length === 1);
    t.same(targets(limited), { all: false, ranges: ['10.1.0.0/16'] });
    await allowRanges(worker, tenant.workspaceId, []);
    await agent.until(() => targets(limited)?.ranges.length === 0);
    await worker.query(sql.unsafe`update users set is_administrator = false where id = ${administrator.userId}`);
    await agent.until(() => targets(free)?.all === false);
    await worker.query(sql.unsafe`update users set is_administrator = true where id = ${administrator.userId}`);
    await agent.until(() => targets(free)?.all === true);
    // As a transfer does: whoever hands a workspace to an administrator may stay its editor.
    await worker.query(sql.unsafe`
    update workspaces set owner_id = ${administrator.userId} where id = ${tenant.workspaceId}`);
    await allowRanges(worker, tenant.workspaceId, ['10.2.0.0/16']);
    await agent.until(() => targets(limited)?.ranges[0] === '10.2.0.0/16');
    t.equal(targets(limited)?.all, false, 'a workspace that was handed over is not an administrator’s');
    await worker.query(
      sql.unsafe`update probes set workspace_id = ${administrator.workspaceId} where id = ${probe.probeId}`,
    );
    const own = new Agent(t, probe);
    await own.next('snapshotEnd');
    t.same(own.held.get(limited)?.privateTargets, { all: true, ranges: [] }, 'a private probe has its own list only');
  },
);

t.test(
  'an agent that knows no private targets gets no limited assignment, and none that it would run by hand',
  async (t) => {
    const probe = await newProbe();
    const administrator = await makeWorkspace(database);
    await database.worker.query(
      sql.unsafe`update users set is_administrator = true where id = ${administrator.userId}`,
    );
    const limited = await seatOf(probe.probeId, await makeWorkspace(database));
    const free = await seatOf(probe.probeId, administrator);
    const old = new Agent(t, probe, { isOld: true, privateTargetsBasis: '' });
    await old.next('snapshotEnd');
    t.same([...old.held.keys()], [free]);
    const assignment = {
      protocol: 'http',
      url: 'http://10.0.0.1/',
      interval_seconds: 60,
      timeout_seconds: 5,
      confirmations: 1,
      degraded_threshold_ms: null,
      settings: {},
      private_targets: { all: false, ranges: ['10.0.0.0/8'] },
    };
    const request = { monitor_id: 0, kind: 'manual', deadline_ms: 1_000, trace: false, assignment } as const;
    t.match(await askProbe(bus, probe.probeId, request, 2_000), { refused: /too old/ });
    const { known } = old;
    old.leave();
    const again = new Agent(t, probe, { isOld: true, privateTargetsBasis: '', knownRevision: known });
    t.ok(await again.next('snapshotEnd'), 'it may hold what an older control plane sent it');
    again.leave();
    const updated = new Agent(t, probe, { privateTargetsBasis: '', knownRevision: known });
    await updated.next('snapshotEnd');
    t.same([...updated.held.keys()], [limited, free], 'once it is updated it gets everything');
  },
);

t.test('an agent whose assignments were made from other ranges gets a snapshot', async (t) => {
  const probe = await newProbe();
  const first = new Agent(t, probe);
  const { revision } = await first.next('snapshotEnd');
  const monitorId = await seatOf(probe.probeId, await makeWorkspace(database));
  await first.until(() => first.held.has(monitorId));
  const { known } = first;
  t.ok(known > revision);
  first.leave();
  const same = new Agent(t, probe, { knownRevision: known });
  const added = await seatOf(probe.probeId, await makeWorkspace(database));
  await same.until(() => same.held.has(added));
  t.notOk(
    same.messages.some(({ $case }) => $case === 'snapshotEnd'),
    'what it knows is kept',
  );
  same.leave();
  const other = new Agent(t, probe, { knownRevision: same.known, privateTargetsBasis: '1:10.0.0.0/8' });
  t.match(await other.next('snapshotEnd'), { privateTargetsBasis: '1:' });
  t.ok(other.held.has(monitorId));
});

t.test('the newest session of a probe wins; another probe is not touched', async (t) => {
  const probe = await newProbe();
  const bystander = new Agent(t, await newProbe());
  const older = new Agent(t, probe);
  await older.next('welcome');
  const newer = new Agent(t, probe);
  await newer.next('welcome');
  t.match(await older.ended, { code: grpc.status.ABORTED, details: /newer session/ });
  const { open } = await database.worker.one(sql.type(z.object({ open: z.number() }))`
    select count(*)::int as open from probe_sessions where probe_id = ${probe.probeId} and closed_at is null`);
  t.equal(open, 1);
  // A session that another replica opened is learnt from the database even when its hint was lost.
  await database.worker.query(
    sql.unsafe`update probe_sessions set closed_at = now() where probe_id = ${probe.probeId} and closed_at is null`,
  );
  await database.worker.query(
    sql.unsafe`insert into probe_sessions (probe_id, boot_id, replica) values (${probe.probeId}, 'x', 'elsewhere')`,
  );
  t.match(await newer.ended, { code: grpc.status.ABORTED });
  await bystander.next('welcome');
  bystander.send({ $case: 'clockRequest', value: { nonce: 1n } });
  t.ok(await bystander.next('clockReply'));
});

t.test('no certificate, one of another authority, an unknown or a revoked one opens no session', async (t) => {
  const probe = await newProbe();
  const foreign = await openAuthority(await createAuthority(Date.now()));
  const request = await createSigningRequest();
  const other = await foreign.issueProbeCertificate(probe.probeId, request.csrDer, Date.now());
  const stranger = new Agent(t, {
    probeId: 0,
    keyPem: request.keyPem,
    certificateDer: Buffer.from(other.certificateDer),
  });
  t.equal((await stranger.ended).code, grpc.status.UNAVAILABLE);
  // Signed by the right authority, but never handed out: as if its key had been stolen.
  const unlisted = await authority.issueProbeCertificate(probe.probeId, request.csrDer, Date.now());
  const ghost = new Agent(t, {
    probeId: 0,
    keyPem: request.keyPem,
    certificateDer: Buffer.from(unlisted.certificateDer),
  });
  await refusedAtOnce(t, ghost);
  await database.worker.query(
    sql.unsafe`update probe_certificates set revoked_at = now() where probe_id = ${probe.probeId}`,
  );
  await refusedAtOnce(t, new Agent(t, probe));
  t.match(
    lines.findLast((line) => line['level'] === 'warn'),
    { probe_id: probe.probeId, remote_address: '127.0.0.1' },
    'named in the log',
  );
  const anonymous = new ProbeClient(
    `127.0.0.1:${listeners.sessionPort}`,
    grpc.credentials.createSsl(Buffer.from(authority.certificatePem)),
    clientOptions,
  );
  t.teardown(() => anonymous.close());
  const call = anonymous.session();
  call.on('error', () => undefined);
  const status = await new Promise<grpc.StatusObject>((resolve) => call.on('status', resolve));
  t.equal(status.code, grpc.status.UNAVAILABLE);
});

t.test('a boot or version that cannot be stored is refused in clear words, without a stack', async (t) => {
  const probe = await newProbe();
  const before = lines.length;
  for (const hello of [{ bootId: 'bo\u0000ot' }, { agentVersion: '1\u00002' }]) {
    const { code, details } = await new Agent(t, probe, hello).ended;
    t.match(
      { code, details },
      { code: grpc.status.INVALID_ARGUMENT, details: /boot_id and agent_version .*control characters/ },
    );
  }
  await t.rejects(requestOf(await newToken(), { agentVersion: '1\u00002' }).then(enrol), {
    code: grpc.status.INVALID_ARGUMENT,
    details: /agent_version .*control characters/,
  });
  t.same(
    lines.slice(before).filter(({ err }) => err !== undefined),
    [],
    'no fault of ours is logged',
  );
  await new Agent(t, probe).next('welcome');
});

t.test('a stream that does not begin with a hello, or says it twice, is ended', async (t) => {
  const probe = await newProbe();
  t.match(await new Agent(t, probe, { silent: true }).ended, { code: grpc.status.INVALID_ARGUMENT });
  const odd = new Agent(t, probe, { silent: true });
  odd.send({ $case: 'clockRequest', value: { nonce: 1n } });
  t.match(await odd.ended, { code: grpc.status.INVALID_ARGUMENT });
  const twice = new Agent(t, probe);
  await twice.next('welcome');
  twice.send({
    $case: 'hello',
    value: {
      bootId: '',
      agentVersion: '',
      capabilities: [],
      knownRevision: 0n,
      epochs: [],
      publicAddresses: [],
      sourceAddresses: [],
      maxInFlight: 0,
      privateTargetsBasis: '',
      obeysPrivateTargets: true,
    },
  });
  t.match(await twice.ended, { code: grpc.status.INVALID_ARGUMENT });
});

t.test('a flood of messages ends the stream', async (t) => {
  const agent = new Agent(t, await newProbe());
  await agent.next('welcome');
  for (let index = 0; index < 3_000; index += 1) agent.send({ $case: 'clockRequest', value: { nonce: BigInt(index) } });
  t.match(await agent.ended, { code: grpc.status.RESOURCE_EXHAUSTED });
});

t.test('revocation cuts the stream without any hint, and the probe gets no other', async (t) => {
  const probe = await newProbe();
  const agent = new Agent(t, probe);
  await agent.next('welcome');
  const startedMs = performance.now();
  await database.worker.transaction((tx) => revokeProbe({ userId: null, workspaceIds: [] }, tx, probe.probeId));
  t.match(await agent.ended, { code: (await agent.ended).code, details: /revoked|closed elsewhere/ });
  t.ok(performance.now() - startedMs < 5_000);
  await refusedAtOnce(t, new Agent(t, probe));
});

t.test('a diagnosis is asked of the agent and answered; an agent that is too old, and nobody, are said', async (t) => {
  const probe = await newProbe();
  const agent = new Agent(t, probe);
  await agent.next('welcome');
  const ask = (deadlineMs: number) => askDiagnosis(bus, probe.probeId, { monitorId: 7, deadlineMs });
  const reply = (requestId: string, diagnosisJson: string) =>
    agent.send({
      $case: 'checkAnswer',
      value: {
        requestId,
        effectiveUs: 1n,
        outcomeJson: Buffer.from('{"outcome":"ok","total":1,"phases":{}}'),
        diagnosisJson: Buffer.from(diagnosisJson),
        chainJson: Buffer.alloc(0),
        trace: [],
        refused: '',
      },
    });
  for (const [number, [given, answer]] of (
    [
      ['{"host":"a.test"}', { diagnosis: { host: 'a.test' } }],
      ['', { refused: /too old/ }],
      ['{"host"', { refused: /cannot be read/ }],
      ['"text"', { refused: /cannot be read/ }],
      [`{"a":"${'x'.repeat(70_000)}"}`, { refused: /too large/ }],
    ] as const
  ).entries()) {
    const asked = ask(5_000);
    const run = await agent.next('runCheck', number);
    t.match(run, { monitorId: 7, deadlineMs: 5_000, diagnose: true });
    reply(run.requestId, given);
    t.match(await asked, answer);
  }
  agent.leave();
  await agent.ended;
  t.match(await askDiagnosis({ ask: async () => undefined }, 1, { monitorId: 7, deadlineMs: 1 }), {
    refused: /not connected/,
  });
});

t.test(
  'a certificate chain is asked of the agent and answered; an agent that is too old gives a diagnosis, and is said',
  async (t) => {
    const probe = await newProbe();
    const agent = new Agent(t, probe);
    await agent.next('welcome');
    for (const [number, [given, answer]] of (
      [
        ['{"code":"tls_timeout"}', { chain: { code: 'tls_timeout' } }],
        ['', { refused: /too old/ }],
        ['{"host"', { refused: /cannot be read/ }],
        [`{"a":"${'x'.repeat(300_000)}"}`, { refused: /too large/ }],
      ] as const
    ).entries()) {
      const asked = askChain(bus, probe.probeId, { monitor_id: 7, deadline_ms: 5_000 });
      const run = await agent.next('runCheck', number);
      t.match(run, { monitorId: 7, deadlineMs: 5_000, diagnose: true, readChain: true });
      const { requestId } = run;
      const outcomeJson = Buffer.alloc(0);
      const value = {
        requestId,
        effectiveUs: 0n,
        outcomeJson,
        diagnosisJson: Buffer.from('{"host":"a"}'),
        trace: [],
        refused: '',
      };
      agent.send({ $case: 'checkAnswer', value: { ...value, chainJson: Buffer.from(given) } });
      t.match(await asked, answer);
    }
    t.match(await askChain({ ask: async () => undefined }, 1, { monitor_id: 7, deadline_ms: 1 }), {
      refused: /not connected/,
    });
  },
);

t.test('a check that is asked for is run by the agent and answered; a gone session refuses at once', async (t) => {
  const probe = await newProbe();
  const agent = new Agent(t, probe);
  await agent.next('welcome');
  const request = { monitor_id: 7, kind: 'manual' as const, deadline_ms: 5_000, trace: true };
  const asked = askProbe(bus, probe.probeId, request, 6_000);
  const run = await agent.next('runCheck');
  t.match(run, { monitorId: 7, kind: 2, deadlineMs: 5_000, trace: true });
  const outcome = {
    outcome: 'fail',
    total: 10,
    phases: {},
    source: 'target',
    code: 'connect_refused',
    message: 'refused',
  };
  agent.send({
    $case: 'checkAnswer',
    value: {
      requestId: run.requestId,
      effectiveUs: 99n,
      outcomeJson: Buffer.from(JSON.stringify(outcome)),
      diagnosisJson: Buffer.alloc(0),
      chainJson: Buffer.alloc(0),
      trace: [{ atUs: 1n, step: 'dial', detail: '' }],
      refused: '',
    },
  });
  t.same(await asked, { answer: { effective_us: 99, outcome, trace: [{ at_us: 1, step: 'dial', detail: '' }] } });
  const lost = askProbe(bus, probe.probeId, request, 6_000);
  await agent.next('runCheck', 1);
  agent.leave();
  t.match(await lost, { refused: /session has ended/ });
  t.equal(await askProbe(bus, probe.probeId, request, 100), undefined, 'nobody holds a session');
});

t.test(
  'a silent probe is told apart from a broker that is away, and what was long on its way is not asked',
  async (t) => {
    const probe = await newProbe();
    const agent = new Agent(t, probe);
    await agent.next('welcome');
    const request = { monitor_id: 7, kind: 'manual' as const, trace: false };
    const nowMs = Date.now();
    const late = { ...request, deadline_ms: 60_000, expires_at_ms: nowMs - 60_000 };
    t.match(await askProbe(bus, probe.probeId, late, 60_000), { refused: /too long on its way/ });
    const asked = askProbe(bus, probe.probeId, { ...request, deadline_ms: 1, expires_at_ms: nowMs + 60_000 }, 60_000);
    const run = await agent.next('runCheck');
    t.match(run, { deadlineMs: 1, expiresUs: BigInt(nowMs + 60_000) * 1_000n });
    t.match(await asked, { refused: /did not answer in time/ });
    // The answer comes all the same: nobody waits for it, and the next one is not confused by it.
    const nothing = { diagnosisJson: Buffer.alloc(0), chainJson: Buffer.alloc(0), trace: [], refused: '' };
    const value = { requestId: run.requestId, effectiveUs: 99n, outcomeJson: Buffer.from('{}'), ...nothing };
    agent.send({ $case: 'checkAnswer', value });
    const again = askProbe(bus, probe.probeId, { ...request, deadline_ms: 60_000 }, 60_000);
    const next = await agent.next('runCheck', 1);
    t.equal(next.expiresUs, 0n);
    agent.send({ $case: 'checkAnswer', value: { ...value, requestId: next.requestId, refused: 'busy' } });
    t.same(await again, { refused: 'busy' });
  },
);

t.test('a monitor that was just saved can be checked by hand: its probe hears of it before it is asked', async (t) => {
  const unpolled = await startProbeListeners({ ...context, replica: 'unpolled' }, log, {
    sessions: { ...limits, pollMs: 3_600_000 },
  });
  t.teardown(() => unpolled.stop());
  const probe = await newProbe();
  const agent = new Agent(t, probe, { port: unpolled.sessionPort });
  await agent.next('snapshotEnd');
  const [monitorId = 0] = await makeMonitors(database, owner, 1);
  await database.worker.transaction(async (tx) => {
    await tx.query(
      sql.unsafe`update monitors set wanted_probe_ids = ${sql.array([probe.probeId], 'int4')} where id = ${monitorId}`,
    );
    await assignMonitor(tx, monitorId);
  });
  const request = { monitor_id: monitorId, kind: 'manual' as const, deadline_ms: 5_000, trace: false };
  const asked = askProbe(bus, probe.probeId, request, 6_000);
  t.match(await agent.next('runCheck'), { monitorId });
  const kinds = agent.messages.map(({ $case }) => $case);
  t.ok(agent.held.has(monitorId));
  t.ok(kinds.indexOf('assignmentDelta') < kinds.indexOf('runCheck'), kinds.join());
  agent.leave();
  await asked;
  await database.worker.query(sql.unsafe`update monitors set deleted_at = now() where id = ${monitorId}`);
  await database.worker.transaction((tx) => closeAssignments(tx, monitorId));
});

t.test('a stop ends idle sessions at once and those that owe an answer with it; nobody new is let in', async (t) => {
  const stopping = await startProbeListeners({ ...context, replica: 'stopping' }, log, {
    sessions: { ...limits, partingMs: 60_000 },
  });
  const port = stopping.sessionPort;
  const [idle, busy, late] = [await newProbe(), await newProbe(), await newProbe()];
  const idleAgent = new Agent(t, idle, { port });
  const busyAgent = new Agent(t, busy, { port });
  await Promise.all([idleAgent.next('welcome'), busyAgent.next('welcome')]);
  const request = { monitor_id: 7, kind: 'manual' as const, deadline_ms: 5_000, trace: false };
  const asked = askProbe(bus, busy.probeId, request, 6_000);
  const run = await busyAgent.next('runCheck');
  const stopped = stopping.stop();
  const gone = { code: grpc.status.UNAVAILABLE, details: /stopping/ };
  t.match(await idleAgent.ended, gone);
  t.match(await new Agent(t, late, { port }).ended, gone);
  const outcome = { outcome: 'ok', total: 10, phases: {} };
  busyAgent.send({
    $case: 'checkAnswer',
    value: {
      requestId: run.requestId,
      effectiveUs: 9n,
      outcomeJson: Buffer.from(JSON.stringify(outcome)),
      diagnosisJson: Buffer.alloc(0),
      chainJson: Buffer.alloc(0),
      trace: [],
      refused: '',
    },
  });
  t.match(await asked, { answer: { outcome } });
  t.match(await busyAgent.ended, gone);
  await stopped;
  await new Agent(t, busy).next('welcome');
});

t.test('a session that owes an answer does not hold up the stop for ever', async (t) => {
  const stopping = await startProbeListeners({ ...context, replica: 'stopping' }, log, {
    sessions: { ...limits, partingMs: 50 },
  });
  const probe = await newProbe();
  const agent = new Agent(t, probe, { port: stopping.sessionPort });
  await agent.next('welcome');
  const request = { monitor_id: 7, kind: 'manual' as const, deadline_ms: 60_000, trace: false };
  const asked = askProbe(bus, probe.probeId, request, 60_000);
  await agent.next('runCheck');
  await stopping.stop();
  t.match(await asked, { refused: /session has ended/ });
});

t.test('acknowledgements come by hint and from committed cursors; each once, none of old epochs', async (t) => {
  const probe = await newProbe();
  await database.worker.query(
    sql.unsafe`insert into cursors (probe_id, epoch, shard, seq) values (${probe.probeId}, 4, 0, 9), (${probe.probeId}, 5, 0, 10)`,
  );
  const agent = new Agent(t, probe, { epochs: [5n] });
  t.same((await agent.next('acknowledgements')).positions, [{ epoch: 5n, shard: 0, seq: 10n }]);
  bus.hint(dispatchSubject(probe.probeId), { type: 'acknowledged', positions: [{ epoch: 5, shard: 0, seq: 20 }] });
  t.same((await agent.next('acknowledgements', 1)).positions, [{ epoch: 5n, shard: 0, seq: 20n }]);
  await database.worker.query(sql.unsafe`update cursors set seq = 30 where probe_id = ${probe.probeId} and epoch = 5`);
  t.same((await agent.next('acknowledgements', 2)).positions, [{ epoch: 5n, shard: 0, seq: 30n }]);
  bus.hint(dispatchSubject(probe.probeId), { type: 'acknowledged', positions: [{ epoch: 5, shard: 0, seq: 25 }] });
  bus.hint(dispatchSubject(probe.probeId), { type: 'resend', epoch: 5, shard: 0, seq: 31 });
  bus.hint(dispatchSubject(probe.probeId), { type: 'recheck', monitor_ids: [3] });
  t.same((await agent.next('resendFrom')).position, { epoch: 5n, shard: 0, seq: 31n });
  t.match(await agent.next('runCheck'), { monitorId: 3, kind: 1 });
  t.equal(
    agent.messages.filter((message) => message.$case === 'acknowledgements').length,
    3,
    'an older position is no news',
  );
});

t.test(
  'a silent probe is lost after 45 s: one notice, another when it is back, none while the control plane is new',
  async (t) => {
    const probe = await newProbe();
    const agent = new Agent(t, probe);
    await agent.next('welcome');
    const quiet = await startProbeListeners({ ...context, replica: 'second' }, log, {
      sessions: { ...limits, quietMs: 0 },
    });
    t.teardown(() => quiet.stop());
    const notices = async (): Promise<readonly string[]> =>
      (
        await database.worker.any(
          sql.type(
            z.object({ kind: z.string() }),
          )`select kind from outbox where key = ${`probe:${probe.probeId}`} order by id`,
        )
      ).map((row) => row.kind);
    // The first replica began less than a minute ago, and what it does not know the second could not know better.
    await database.worker.query(sql.unsafe`
      update probes set last_seen_at = now() - interval '46 seconds' where id = ${probe.probeId}`);
    await database.worker.query(sql.unsafe`
      update probe_sessions set last_heartbeat_at = now() - interval '46 seconds' where probe_id = ${probe.probeId}`);
    const looks = async (): Promise<number> =>
      database.worker.oneFirst(sql.type(z.object({ looked_at: z.number() }))`select looked_at from lost_watch`);
    const seen = await looks();
    await until(async () => (await looks()) > seen + 300);
    t.same(await notices(), [], 'quiet');
    await database.worker.query(sql.unsafe`update lost_watch set quiet_until = now()`);
    await until(async () => {
      // The agent's own replica keeps writing that it hears of it until the silence has been noticed.
      await database.worker.query(sql.unsafe`
      update probe_sessions set last_heartbeat_at = now() - interval '46 seconds' where probe_id = ${probe.probeId} and closed_at is null`);
      await database.worker.query(sql.unsafe`
      update probes set last_seen_at = now() - interval '46 seconds' where id = ${probe.probeId} and offline_since is null`);
      return database.worker.exists(
        sql.unsafe`select 1 from probes where id = ${probe.probeId} and offline_since is not null`,
      );
    });
    t.same(await notices(), ['probe.offline']);
    await agent.ended;
    await new Agent(t, probe).next('welcome');
    t.same(await notices(), ['probe.offline', 'probe.online']);
    t.ok(
      await database.worker.exists(
        sql.unsafe`select from probes where id = ${probe.probeId} and returned_at > now() - interval '1 minute'`,
      ),
      'and since when it is back is kept: its supplements stay for ten minutes of votes',
    );
  },
);

t.test('a probe gets a seat with its first session: those that only enrolled leave N as it is', async (t) => {
  await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
  const [here, late, never] = [await newProbe(), await newProbe(), await newProbe()];
  await new Agent(t, here).next('welcome');
  const [monitor = 0, naming = 0] = await makeMonitors(database, owner, 2);
  await database.worker.query(sql.unsafe`
    update monitors set wanted_probe_ids = ${sql.array([late.probeId, never.probeId], 'int4')} where id = ${naming}`);
  for (const id of [monitor, naming]) await database.worker.transaction((tx) => assignMonitor(tx, id));
  const seats = async (monitorId: number): Promise<readonly number[]> =>
    database.worker.anyFirst(sql.type(z.object({ probe_id: z.number() }))`
      select probe_id from assignments where monitor_id = ${monitorId} and ended_at is null order by probe_id`);
  t.same([await seats(monitor), await seats(naming)], [[here.probeId], []], 'when the monitors were made');
  await rebalanceAll(database.worker);
  t.same([await seats(monitor), await seats(naming)], [[here.probeId], []], 'and when seats were looked through');
  // An installation from before this rule has such seats.
  await database.worker.query(sql.unsafe`
    insert into assignments (monitor_id, probe_id, region, started_at, revision)
    values (${monitor}, ${never.probeId}, 'eu', now(), 1)`);
  await new Agent(t, late).next('welcome');
  await rebalanceAll(database.worker);
  t.same([await seats(monitor), await seats(naming)], [[here.probeId, late.probeId], [late.probeId]]);
  await database.worker.query(sql.unsafe`update monitors set deleted_at = now()`);
});

t.test(
  '10,000 monitors: a change is there within 1 s, a reconnect brings only what changed, a deletion is not forgotten',
  async (t) => {
    const probe = await newProbe();
    await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id <> ${probe.probeId}`);
    const before = new Agent(t, probe);
    await before.next('welcome');
    before.leave();
    const monitors = await makeMonitors(database, owner, 10_000);
    t.equal(await rebalanceAll(database.worker), 10_000);
    let startedMs = performance.now();
    const agent = new Agent(t, probe);
    await agent.until(() => agent.held.size === 10_000);
    t.comment(`snapshot of 10,000 in ${Math.round(performance.now() - startedMs)} ms`);
    const [first = 0, second = 0, third = 0] = monitors;

    const change = async (monitorId: number, hint: boolean): Promise<number> => {
      const before = agent.held.get(monitorId)?.revision;
      const begunMs = performance.now();
      await database.worker.transaction(async (tx) => {
        await tx.query(sql.unsafe`update monitors set interval_seconds = interval_seconds + 1 where id = ${monitorId}`);
        await touchAssignments(tx, monitorId);
      });
      if (hint) bus.hint(dispatchSubject(probe.probeId), { type: 'assignments' });
      await agent.until(() => agent.held.get(monitorId)?.revision !== before);
      return performance.now() - begunMs;
    };
    let changes = 0;
    for (const hint of [true, false]) {
      // The quickest of a few: a busy machine delays some but hastens none.
      const tookMs = [await change(first, hint)];
      while (Math.min(...tookMs) >= 1_000 && tookMs.length < 5) tookMs.push(await change(first, hint));
      changes += tookMs.length;
      t.comment(`a change ${hint ? 'with' : 'without'} its hint in ${tookMs.map(Math.round).join(', ')} ms`);
      t.ok(Math.min(...tookMs) < 1_000);
    }
    t.equal(agent.held.get(first)?.intervalSeconds, 60 + changes);

    const { known } = agent;
    agent.leave();
    await database.worker.transaction(async (tx) => {
      await tx.query(sql.unsafe`update monitors set deleted_at = now() where id = ${second}`);
      await closeAssignments(tx, second);
      await tx.query(sql.unsafe`update monitors set is_active = false where id = ${third}`);
      await touchAssignments(tx, third);
    });
    const [added = 0] = await makeMonitors(database, owner, 1);
    await database.worker.transaction((tx) => assignMonitor(tx, added));
    // The row of the deleted monitor is gone altogether by the time the agent is back.
    await database.worker.query(sql.unsafe`delete from monitors where id = ${second}`);
    const back = new Agent(t, probe, { knownRevision: known });
    for (const [monitorId, assignment] of agent.held) back.held.set(monitorId, assignment);
    await back.until(() => back.held.has(added));
    t.equal(back.transferred, 3, 'only what changed');
    t.notOk(back.held.has(second));
    t.notOk(back.held.has(third));
    t.equal(back.held.size, 9_999);
    back.leave();

    startedMs = performance.now();
    const restored = new Agent(t, probe, { knownRevision: known + 1_000_000n });
    await restored.until(() => restored.held.size === 9_999);
    t.pass('an agent that knows more than the database is given a snapshot');
  },
);

/** Refused before anything was told: not let in and thrown out again. */
async function refusedAtOnce(t: Test, agent: Agent): Promise<void> {
  t.match(await agent.ended, { code: grpc.status.UNAUTHENTICATED });
  t.same(agent.messages, []);
}

function untilRow(query: () => ReturnType<typeof sql.unsafe>): Promise<void> {
  return until(() => database.worker.exists(query()));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; ) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not come');
}
