import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { sendUnaryData, ServerDuplexStream } from '@grpc/grpc-js';
import { createAuthority, openAuthority, probeIdOfUri, verifyRenewal } from '@parallax/pki';
import type { Authority, ServerCertificate } from '@parallax/pki';
import { EnrolmentService, ProbeService } from '@parallax/wire';
import type {
  AgentMessage,
  Assignment,
  ControlMessage,
  EnrolmentServer,
  EnrolRequest,
  EnrolResponse,
  RenewResponse,
  Hello,
  ProbeServer,
  Welcome,
} from '@parallax/wire';
import type { TestContext } from '@parallax/testkit';
import { assignmentHash } from '../assignments/apply.ts';

/** One session as the test's control plane sees it. */
export type TestSession = {
  readonly probeId: number;
  readonly hello: Hello;
  readonly received: NonNullable<AgentMessage['message']>[];
  send(message: NonNullable<ControlMessage['message']>): void;
  sendSnapshot(assignments: readonly Assignment[], revision: bigint): void;
  end(): void;
};

export type TestControlPlane = {
  readonly authority: Authority;
  readonly certificate: ServerCertificate;
  readonly enrolmentAddress: string;
  readonly sessionAddress: string;
  readonly sessions: TestSession[];
  readonly enrolments: EnrolRequest[];
  readonly renewals: number[];
  /** Sent with snapshots; empty from a control plane that knows no private targets. */
  privateTargetsBasis: string;
  /** What a probe is told when it connects. */
  welcome: Partial<Welcome>;
  /** Given for enrolments and renewals from now on, in days; negative has run out already. */
  certificateDays: number;
  onSession: (session: TestSession) => void;
  /** It knows no probe any more: sessions and renewals are refused. */
  revoked: boolean;
  /** Milliseconds that the server's clock is ahead of the machine's. */
  clockAheadMs: number;
  joinToken(secret?: string): string;
};

const goodSecret = 'the-secret-of-this-token';

/** A control plane in the test's process, over real TLS on loopback: enrolment and sessions. The join token's secret decides the answer. */
export async function testControlPlane(
  t: TestContext,
  options: { brokerAddress?: string; host?: string } = {},
): Promise<TestControlPlane> {
  const authority = await openAuthority(await createAuthority(Date.now()));
  const certificate = await authority.issueServerCertificate(['127.0.0.1'], Date.now());
  const pair = { cert_chain: Buffer.from(certificate.chainPem), private_key: Buffer.from(certificate.keyPem) };
  const enrolmentServer = new Server();
  const sessionServer = new Server();
  t.teardown(() => {
    enrolmentServer.forceShutdown();
    sessionServer.forceShutdown();
  });
  const state: Omit<TestControlPlane, 'enrolmentAddress' | 'sessionAddress'> = {
    authority,
    certificate,
    sessions: [],
    enrolments: [],
    renewals: [],
    privateTargetsBasis: '1:',
    welcome: {},
    certificateDays: 30,
    onSession: () => {},
    revoked: false,
    clockAheadMs: 0,
    joinToken: (secret = goodSecret) => `token1.${secret}.${authority.fingerprint}`,
  };
  const addresses = { enrolmentAddress: '', sessionAddress: '' };
  const issue = async (csrDer: Uint8Array): Promise<Buffer> => {
    const { certificateDer } = await authority.issueProbeCertificate(7, csrDer, Date.now(), state.certificateDays);
    return Buffer.from(certificateDer);
  };
  const authorityDer = Buffer.from(authority.certificateDer);
  const answerEnrolment = async (csrDer: Uint8Array, done: sendUnaryData<EnrolResponse>): Promise<void> => {
    const certificateDer = await issue(csrDer);
    const brokerAddress = options.brokerAddress ?? '127.0.0.1:1';
    done(null, {
      probeId: 7,
      name: 'berlin-1',
      region: 'eu-central',
      certificateDer,
      authorityDer,
      ...addresses,
      brokerAddress,
    });
  };
  const answerRenewal = async (csrDer: Uint8Array, done: sendUnaryData<RenewResponse>): Promise<void> => {
    done(null, { certificateDer: await issue(csrDer), authorityDer });
  };
  const enrolment: EnrolmentServer = {
    enrol(call, done) {
      state.enrolments.push(call.request);
      if (call.request.token !== `token1.${goodSecret}`) {
        done({ code: status.PERMISSION_DENIED, details: 'this join token was used already' });
        return;
      }
      void answerEnrolment(call.request.csrDer, done);
    },
    renew(call, done) {
      const { certificateDer, csrDer, issuedAtMs, proof } = call.request;
      if (state.revoked) {
        done({ code: status.PERMISSION_DENIED, details: 'the probe was revoked' });
        return;
      }
      if (!verifyRenewal(certificateDer, csrDer, issuedAtMs, proof)) {
        done({ code: status.PERMISSION_DENIED, details: 'the proof does not hold' });
        return;
      }
      state.renewals.push(Number(issuedAtMs));
      void answerRenewal(csrDer, done);
    },
  };
  const probe: ProbeServer = { session: (stream) => serveSession(stream, state) };
  enrolmentServer.addService(EnrolmentService, enrolment);
  sessionServer.addService(ProbeService, probe);
  const { host = '127.0.0.1' } = options;
  const root = Buffer.from(authority.certificatePem);
  addresses.enrolmentAddress = await listen(enrolmentServer, ServerCredentials.createSsl(null, [pair], false), host);
  addresses.sessionAddress = await listen(sessionServer, ServerCredentials.createSsl(root, [pair], true), host);
  return Object.assign(state, addresses);
}

function serveSession(
  stream: ServerDuplexStream<AgentMessage, ControlMessage>,
  state: Omit<TestControlPlane, 'enrolmentAddress' | 'sessionAddress'>,
): void {
  const names = stream.getAuthContext()?.sslPeerCertificate?.subjectaltname;
  const probeId = probeIdOfUri(names?.replace(/^URI:/, ''));
  const received: TestSession['received'] = [];
  const nowUs = (): bigint => BigInt(Math.round((Date.now() + state.clockAheadMs) * 1_000));
  stream.on('error', () => {});
  if (state.revoked) {
    stream.emit('error', { code: status.UNAUTHENTICATED, details: 'the probe was revoked' });
    return;
  }
  stream.on('data', ({ message }: AgentMessage) => {
    if (message === undefined) return;
    received.push(message);
    if (message.$case === 'clockRequest')
      send({ $case: 'clockReply', value: { nonce: message.value.nonce, serverUs: nowUs() } });
    if (message.$case !== 'hello') return;
    const session: TestSession = {
      probeId: probeId ?? 0,
      hello: message.value,
      received,
      send,
      sendSnapshot,
      end: () => stream.end(),
    };
    send({
      $case: 'welcome',
      value: {
        serverUs: nowUs(),
        probeId: probeId ?? 0,
        name: 'berlin-1',
        region: 'eu-central',
        deniedListeners: [],
        brokerAddress: '',
        credentials: undefined,
        shards: 1,
        maxBatchResults: 0,
        ...state.welcome,
      },
    });
    state.sessions.push(session);
    state.onSession(session);
  });

  function send(message: NonNullable<ControlMessage['message']>): void {
    stream.write({ message });
  }

  function sendSnapshot(assignments: readonly Assignment[], revision: bigint): void {
    const count = assignments.length;
    send({ $case: 'snapshotBegin', value: { revision, count } });
    for (let at = 0; at < count; at += 500)
      send({ $case: 'assignmentChunk', value: { assignments: assignments.slice(at, at + 500) } });
    send({
      $case: 'snapshotEnd',
      value: { revision, count, hash: assignmentHash(assignments), privateTargetsBasis: state.privateTargetsBasis },
    });
  }
}

function listen(server: Server, credentials: ServerCredentials, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:0`, credentials, (error, port) => {
      if (error) reject(error);
      else resolve(`${host}:${port}`);
    });
  });
}

/** An assignment with everything that a test does not care about. */
export function anAssignment(changes: Partial<Assignment> & { readonly monitorId: number }): Assignment {
  return {
    revision: 1n,
    probeRevision: 1,
    shard: 0,
    protocol: 'http',
    url: 'http://127.0.0.1:1/',
    intervalSeconds: 60,
    timeoutSeconds: 5,
    confirmations: 2,
    degradedThresholdMs: 0,
    settingsJson: Buffer.from('{}'),
    supplement: false,
    privateTargets: undefined,
    ...changes,
  };
}
