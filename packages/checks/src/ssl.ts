import { z } from 'zod';
import { changed, lazily } from './lazily.ts';
import { certificateFailure, expirySoon, type PeerFacts, weakKeyFailure } from './net/certificate.ts';
import { addressFields, tlsFields } from './net/connection-settings.ts';
import { conversation, readAddress } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import { startTls, startTlsPorts, startTlsProtocols } from './ssl/starttls.ts';

const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;

const directPorts = { ssl: 443, tls: 443, https: 443, imaps: 993, pop3s: 995, smtps: 465, ldaps: 636 };

/** Settings of `ssl` and `tls`. */
const sslSettings = lazily(() =>
  z.strictObject({
    ...addressFields(),
    ...tlsFields(),
    /** Whether the chain, the dates and the name have to be right. Without it only what is pinned or asked for below counts. */
    verify_tls: tlsFields().verify_tls,
    /** Fewer days than these fail the check; 0 means only an expired certificate does. */
    min_days: z.int().min(0).max(365).default(0),
    /** SHA-256 of the certificate in hexadecimal digits, with or without colons. */
    fingerprint_sha256: z
      .string()
      .regex(/^(?:[0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}$/, 'A fingerprint has 64 hexadecimal digits.')
      .optional(),
    /** The oldest version that is good enough. */
    min_version: z.enum(versions).default('TLSv1.2'),
    /** The newest version that may come about, for services that must not change unnoticed. */
    max_version: z.enum(versions).optional(),
    /** Standard names such as TLS_AES_128_GCM_SHA256; empty: any. */
    allowed_ciphers: z.array(z.string().max(100)).max(50).default([]),
    /** The protocol that is spoken first and asked to change to TLS; absent: TLS from the first byte. */
    starttls: z.enum(startTlsProtocols).optional(),
  }),
);
export type SslSettings = z.infer<ReturnType<typeof sslSettings>>;

/** The certificate and the handshake of a TLS service. */
export const ssl = conversation({
  type: 'ssl',
  summary: 'A TLS certificate: chain, name, expiry, version, fingerprint',
  reference: {
    targets: ['www.example.com', 'www.example.com:8443', 'smtps://mail.example.com'],
    settings: { warn_days_before_expiry: 21 },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {},
  },
  settings: sslSettings,
  peer: 'a TLS server',
  codes: 'starttls_protocol',
  target: ({ url }, { starttls }) =>
    starttls === undefined
      ? readAddress(url, { plain: {}, secure: directPorts }, 'implicit')
      : readAddress(url, { plain: startTlsPorts, defaultPort: startTlsPorts[starttls] }, 'starttls'),
  purpose: ({ starttls }) => (starttls === 'smtp' ? { mail: true } : undefined),
  // Everything is accepted during the handshake, so that what is wrong can be said and shown.
  connection: (settings) => ({ ...settings, verify_tls: false }),
  anyTlsVersion: true,
  talk: async (session, settings, to) => {
    await session.open();
    if (settings.starttls !== undefined) await startTls(settings.starttls, session);
    const { peer, context } = session;
    if (peer === undefined) throw new Error('A handshake without facts about the other side.');
    const host = settings.server_name ?? to.host.replace(/^\[|\]$/g, '');
    session.demand(judge(peer, host, settings, (context.wallClock ?? Date.now)()));
  },
});
/** The same under its newer name. */
export const tls = changed(ssl, { type: 'tls' });

/** The first thing that is wrong, gravest first: what the certificate is, then how long it lasts, then how the connection is protected. */
function judge(peer: PeerFacts, host: string, settings: SslSettings, nowMs: number): Failure | undefined {
  const invalid = settings.verify_tls ? certificateFailure(peer, host, nowMs) : undefined;
  if (invalid !== undefined) return invalid;
  // This handshake takes keys of every length, where that of other types refuses short ones.
  const weak = settings.verify_tls && peer.certificate !== undefined ? weakKeyFailure(peer.certificate) : undefined;
  if (weak !== undefined) return weak;
  const pinned = settings.fingerprint_sha256?.replaceAll(':', '').toLowerCase();
  if (pinned !== undefined && peer.certificate?.fingerprint256.replaceAll(':', '').toLowerCase() !== pinned) {
    return failed('tls_fingerprint', 'The certificate is not the pinned one.');
  }
  const soon = expirySoon(peer, settings.min_days, nowMs);
  if (settings.min_days > 0 && soon !== undefined) return failed('tls_expires_soon', soon.message);
  if (versions.findIndex((each) => each === peer.protocol) < versions.indexOf(settings.min_version)) {
    return failed(
      'tls_weak',
      `The server speaks ${peer.protocol ?? 'an unknown version'}, older than ${settings.min_version}.`,
    );
  }
  if (
    settings.max_version !== undefined &&
    versions.findIndex((each) => each === peer.protocol) > versions.indexOf(settings.max_version)
  ) {
    return failed(
      'tls_weak',
      `The server speaks ${peer.protocol ?? 'an unknown version'}, newer than ${settings.max_version}.`,
    );
  }
  if (settings.allowed_ciphers.length > 0 && !settings.allowed_ciphers.includes(peer.cipher ?? '')) {
    return failed('tls_weak', `The cipher ${peer.cipher ?? 'unknown'} is not among the allowed ones.`);
  }
  return undefined;
}
