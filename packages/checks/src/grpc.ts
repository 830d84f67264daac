import type { TLSSocket } from 'node:tls';
import type { CheckContext, CheckResult, CheckType, Target } from './check.ts';
import type { Called } from './grpc/call.ts';
import { grpcSettings, type GrpcSettings } from './grpc/settings.ts';
import { connect, type Place } from './http/connect.ts';
import { outcomeOf, type Progress } from './http/outcome.ts';
import { createRedactor } from './http/secrets.ts';
import { failed } from './net/failure.ts';
import { parseHostPort } from './net/host.ts';

const alpn = ['h2'];
const form = { schemes: { grpc: undefined, grpcs: 443 }, defaultPort: undefined };

/** A gRPC server: what it says of its health, or of the health of one of its services. `grpcs://` is with TLS, all else is without. */
export const grpc = {
  type: 'grpc',
  summary: 'A gRPC server or service, by the health protocol',
  reference: {
    targets: ['grpcs://api.example.com', 'api.example.com:50051'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      health: 'What the health service says of the service.',
      grpc_status: 'Status code of the call, by name.',
      grpc_message: 'What the server says with it.',
    },
  },
  settings: grpcSettings,
  secretFields: ['password', 'bearer_token', 'secret_headers', 'client_key'],
  requires: [],
  cheap: true,
  validateTarget: (target) => {
    const parsed = readTarget(target);
    return typeof parsed === 'string' ? parsed : undefined;
  },
  addressOf: (target) => {
    const parsed = readTarget(target);
    if (typeof parsed === 'string') return parsed;
    return { host: parsed.host, port: parsed.port, tls: parsed.secure ? 'implicit' : 'none' };
  },
  run,
} satisfies CheckType<'grpc', ReturnType<typeof grpcSettings>>;

function readTarget(target: Target): (Place & { readonly url: URL }) | string {
  const parsed = parseHostPort(target.url, form);
  if (typeof parsed === 'string') return parsed;
  const host = parsed.host.replace(/^\[|\]$/g, '');
  const secure = /^\s*grpcs:/i.test(target.url);
  const url = `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${parsed.port}`;
  if (!URL.canParse(url)) return 'A zone is no part of an address that can be checked.';
  return { host, port: parsed.port, secure, url: new URL(url) };
}

async function run(target: Target, settings: GrpcSettings, context: CheckContext): Promise<CheckResult> {
  const place = readTarget(target);
  if (typeof place === 'string') throw new Error(`The target was not validated: ${place}`);
  const { url } = place;
  // HTTP/2 takes half a megabyte in each thread, and most probes check no gRPC.
  const { callHealth } = await import('./grpc/call.ts');
  const progress: Progress = { startedAt: context.clock(), phases: {}, redirects: 0, url, obtained: [] };
  const connected = await connect(place, place.secure ? alpn : undefined, settings, context, progress);
  if ('failure' in connected) return outcomeOf(progress, connected.failure, settings, context);
  const { socket } = connected;
  if (place.secure && (socket as TLSSocket).alpnProtocol !== 'h2') {
    socket.destroy();
    const failure = failed('grpc_protocol', 'The server does not offer HTTP/2 (h2) in the TLS handshake.');
    return outcomeOf(progress, failure, settings, context);
  }

  const called = await callHealth(socket, url, settings, context);
  const { firstAt, sentAt, endedAt } = called;
  if (firstAt !== undefined) {
    progress.phases.first_byte = Math.max(0, Math.round((firstAt - sentAt) * 1000));
    progress.phases.transfer = Math.max(0, Math.round((endedAt - firstAt) * 1000));
  }
  if (called.state !== undefined) context.trace?.('health', called.state);
  return outcomeOf(progress, called.failure, settings, context, { endedAt, ...seen(called, settings) });
}

function seen({ httpStatus, grpcStatus, grpcMessage, state }: Called, settings: GrpcSettings) {
  const { text } = createRedactor(settings);
  const details = {
    ...(state !== undefined && { health: state }),
    ...(grpcStatus !== undefined && { grpc_status: grpcStatus }),
    ...(grpcMessage !== undefined && { grpc_message: text(grpcMessage).slice(0, 500) }),
  };
  return {
    evidence: { ...(httpStatus !== undefined && { status: httpStatus, http_version: '2' }), details },
    facts: { ...(httpStatus !== undefined && { version: '2' }), details },
  };
}
