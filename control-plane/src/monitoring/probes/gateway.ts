import * as grpc from '@grpc/grpc-js';
import type { Logger } from '@parallax/telemetry';
import { probesChangedSubject } from '../../platform/bus/subjects.ts';
import type { RunningService } from '../../platform/running-service.ts';
import type { Context } from '../../context.ts';
import { loadAuthority, loadNatsAuthority } from '../../installation/index.ts';
import { addEnrolmentService, maxEnrolmentMessageBytes } from './enrolment/gateway.ts';
import type { EnrolmentOptions } from './enrolment/gateway.ts';
import { maxSessionMessageBytes, SessionGateway } from './sessions/gateway.ts';
import type { SessionLimits } from './sessions/gateway.ts';

/** The two listeners that probes dial, with the ports that they got. */
export type ProbeListeners = RunningService & {
  readonly sessionPort: number;
  readonly enrolmentPort: number;
  readonly sessions: SessionGateway;
};

export type ProbeListenerLimits = {
  readonly sessions?: Partial<SessionLimits>;
  readonly enrolmentRate?: EnrolmentOptions['rate'];
};

const keepalive: grpc.ServerOptions = {
  // A half-open connection is found within 25 s.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5_000,
};

/**
 * Opens the listener for sessions (mutual TLS) and the one for enrolment (server TLS). The server's certificate is made anew
 * at every start and answers to every name that probes are told to dial.
 */
export async function startProbeListeners(
  context: Context,
  log: Logger,
  limits: ProbeListenerLimits = {},
): Promise<ProbeListeners> {
  const { worker, signals } = context.database;
  const authority = await loadAuthority(worker, context.sealer, context.now());
  const natsAuthority = context.externalBroker?.access ?? (await loadNatsAuthority(worker, context.sealer));
  const names = [context.listen.grpcHost, hostOf(context.addresses.session), hostOf(context.addresses.enrolment)];
  const server = await authority.issueServerCertificate(names.filter(isDialled), context.now());
  const pair = [{ cert_chain: Buffer.from(server.chainPem), private_key: Buffer.from(server.keyPem) }];

  const sessions = new SessionGateway({
    pool: worker,
    signals,
    bus: context.bus,
    sealer: context.sealer,
    natsAuthority,
    replica: context.replica,
    shards: context.shards,
    brokerAddress: context.addresses.broker,
    deniedListeners: context.deniedListeners,
    allowedPrivateTargets: context.allowedPrivateTargets,
    now: context.now,
    log,
    ...(limits.sessions === undefined ? {} : { limits: limits.sessions }),
  });
  const sessionServer = new grpc.Server({
    ...keepalive,
    'grpc.max_concurrent_streams': 4,
    'grpc.max_receive_message_length': maxSessionMessageBytes,
    'grpc.max_send_message_length': -1,
  });
  sessions.addTo(sessionServer);

  const enrolmentServer = new grpc.Server({
    ...keepalive,
    'grpc.max_concurrent_streams': 4,
    'grpc.max_receive_message_length': maxEnrolmentMessageBytes,
    'grpc.max_connection_idle_ms': 60_000,
  });
  addEnrolmentService(enrolmentServer, {
    pool: worker,
    authority,
    addresses: context.addresses,
    now: context.now,
    log,
    onEnrolled: () => context.bus.hint(probesChangedSubject, {}),
    ...(limits.enrolmentRate === undefined ? {} : { rate: limits.enrolmentRate }),
  });

  const { grpcHost, grpcPort, enrolmentPort } = context.listen;
  const authorityPem = Buffer.from(authority.certificatePem);
  const bound: grpc.Server[] = [];
  try {
    const boundSessionPort = await bind(
      sessionServer,
      grpcHost,
      grpcPort,
      grpc.ServerCredentials.createSsl(authorityPem, pair, true),
    );
    bound.push(sessionServer);
    const boundEnrolmentPort = await bind(
      enrolmentServer,
      grpcHost,
      enrolmentPort,
      grpc.ServerCredentials.createSsl(null, pair, false),
    );
    bound.push(enrolmentServer);
    sessions.start();
    log.info({ session_port: boundSessionPort, enrolment_port: boundEnrolmentPort }, 'listening for probes');
    return {
      sessionPort: boundSessionPort,
      enrolmentPort: boundEnrolmentPort,
      sessions,
      stop: async () => {
        // Not the servers first: a connection that was told to go away does not survive the next keepalive.
        await sessions.stop();
        sessionServer.forceShutdown();
        enrolmentServer.forceShutdown();
      },
    };
  } catch (error) {
    for (const server of bound) server.forceShutdown();
    throw error;
  }
}

function bind(server: grpc.Server, host: string, port: number, credentials: grpc.ServerCredentials): Promise<number> {
  const address = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, boundPort) => {
      if (error === null) resolve(boundPort);
      else reject(new Error(`cannot listen for probes at ${address}: ${error.message}`, { cause: error }));
    });
  });
}

/** "host" of "host:port" and "[v6]:port". */
function hostOf(address: string): string {
  return address.replace(/:\d+$/u, '').replace(/^\[|\]$/gu, '');
}

/** Nobody dials the address of "everywhere". */
function isDialled(host: string): boolean {
  return host !== '' && host !== '0.0.0.0' && host !== '::';
}
