import { z } from 'zod';
import type { CheckContext, CheckType, Target } from './check.ts';
import { certificateEvidence, certificateFailure, daysLeft, type PeerFacts } from './net/certificate.ts';
import { type Endpoint, locate } from './net/dial.ts';
import { type Failure, failed } from './net/failure.ts';
import { type HostPort, parseHost, parseHostPort } from './net/host.ts';
import { openTls } from './net/tls.ts';
import type { CheckOutcome, Phases } from './outcome.ts';

const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;

/** Settings of `ssl` and `tls`. */
const sslSettings = z.strictObject({
  /** Whether the chain, the dates and the name have to be right. Without it only what is pinned or asked for below counts. */
  verify_tls: z.boolean().default(true),
  /** Days before the end of the certificate from which on the check warns; 0 switches it off. */
  warn_days_before_expiry: z.int().min(0).max(365).default(14),
  /** Fewer days than these fail the check; 0 means only an expired certificate does. */
  min_days: z.int().min(0).max(365).default(0),
  /** SHA-256 of the certificate in hexadecimal digits, with or without colons. */
  fingerprint_sha256: z
    .string()
    .regex(/^(?:[0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}$/, 'A fingerprint has 64 hexadecimal digits.')
    .optional(),
  /** The oldest version that is good enough. */
  min_version: z.enum(versions).default('TLSv1.2'),
  /** Standard names such as TLS_AES_128_GCM_SHA256; empty: any. */
  allowed_ciphers: z.array(z.string().max(100)).max(50).default([]),
  /** Name to ask for and to find in the certificate, when it is not the host of the target. */
  server_name: z
    .string()
    .refine((name) => parseHost(name).kind === 'name', 'A server name is a host name.')
    .optional(),
  ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
  /** Authorities in PEM form to trust instead of the public ones. */
  ca_certificates: z
    .string()
    .max(64 * 1024)
    .regex(/-----BEGIN CERTIFICATE-----/, 'Certificates are written in PEM form.')
    .optional(),
});
export type SslSettings = z.infer<typeof sslSettings>;

/** The certificate and the handshake of a TLS service. */
export const ssl = sslCheck('ssl');
/** The same under its newer name. */
export const tls = sslCheck('tls');

function sslCheck<Name extends 'ssl' | 'tls'>(type: Name) {
  return {
    type,
    summary: 'A TLS certificate: chain, name, expiry, version, fingerprint',
    settings: sslSettings,
    secretFields: [],
    requires: [],
    cheap: true,
    validateTarget: (target) => {
      const parsed = readTarget(target);
      return typeof parsed === 'string' ? parsed : undefined;
    },
    run,
  } satisfies CheckType<Name, typeof sslSettings>;
}

function readTarget(target: Target): HostPort | string {
  return parseHostPort(target.url, {
    schemes: { ssl: 443, tls: 443, https: 443, imaps: 993, pop3s: 995, smtps: 465, ldaps: 636 },
    defaultPort: 443,
  });
}

async function run(target: Target, settings: SslSettings, context: CheckContext): Promise<CheckOutcome> {
  const parsed = readTarget(target);
  if (typeof parsed === 'string') throw new Error(`The target was not validated: ${parsed}`);
  const start = context.clock();
  const now = (context.wallClock ?? Date.now)();
  const phases: { -readonly [Phase in keyof Phases]: number } = {};
  const finish = (failure: Failure | undefined, endpoint?: Endpoint, peer?: PeerFacts): CheckOutcome => {
    const certificate = peer && certificateEvidence(peer, now);
    const evidence = { ...endpoint, ...(certificate && { certificate }) };
    const base = { outcome: 'ok', total: Math.round((context.clock() - start) * 1000), phases, evidence } as const;
    return failure === undefined ? base : { ...base, ...failure };
  };

  const located = await locate(parsed.host, parsed.port, context, { family: settings.ip_version });
  phases.dns = located.dnsUs;
  if (!located.ok) return finish(located.failure, located.endpoint);
  const host = settings.server_name ?? parsed.host.replace(/^\[|\]$/g, '');
  // Everything is accepted during the handshake, so that what is wrong can be said and shown.
  const opened = await openTls(
    located.endpoint,
    { host, verify: false, context: { caCertificates: settings.ca_certificates, anyVersion: true } },
    context,
  );
  if (opened.connectUs !== undefined) phases.connect = opened.connectUs;
  if (opened.tlsUs !== undefined) phases.tls = opened.tlsUs;
  if (!opened.ok) return finish(opened.failure, located.endpoint, opened.peer);
  opened.socket.destroy();
  if (opened.peer === undefined) throw new Error('A handshake without facts about the other side.');
  return finish(judge(opened.peer, host, settings, now), located.endpoint, opened.peer);
}

/** The first thing that is wrong, gravest first: what the certificate is, then how long it lasts, then how the connection is protected. */
function judge(peer: PeerFacts, host: string, settings: SslSettings, nowMs: number): Failure | undefined {
  const invalid = settings.verify_tls ? certificateFailure(peer, host, nowMs) : undefined;
  if (invalid !== undefined) return invalid;
  const pinned = settings.fingerprint_sha256?.replaceAll(':', '').toLowerCase();
  if (pinned !== undefined && peer.certificate?.fingerprint256.replaceAll(':', '').toLowerCase() !== pinned) {
    return failed('tls_fingerprint', 'The certificate is not the pinned one.');
  }
  const days = daysLeft(peer.notAfter, nowMs);
  const soon = `The certificate ends in ${days} days, on ${new Date(peer.notAfter).toISOString().slice(0, 10)}.`;
  if (settings.min_days > 0 && days < settings.min_days) return failed('tls_expires_soon', soon);
  if (versions.findIndex((each) => each === peer.protocol) < versions.indexOf(settings.min_version)) {
    return failed(
      'tls_weak',
      `The server speaks ${peer.protocol ?? 'an unknown version'}, older than ${settings.min_version}.`,
    );
  }
  if (settings.allowed_ciphers.length > 0 && !settings.allowed_ciphers.includes(peer.cipher ?? '')) {
    return failed('tls_weak', `The cipher ${peer.cipher ?? 'unknown'} is not among the allowed ones.`);
  }
  if (days < settings.warn_days_before_expiry)
    return { outcome: 'warn', source: 'target', code: 'tls_expires_soon', message: soon };
  return undefined;
}
