import { constants } from 'node:crypto';
import tls from 'node:tls';

/** What makes one secure context differ from another. */
export type SecureContextSettings = {
  /** PEM text of the authorities to trust instead of the public ones. */
  readonly caCertificates?: string | undefined;
  /** PEM text of a certificate to show to the server, with its key. */
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Take every version and cipher that OpenSSL still has, to be able to say what a server offers. */
  readonly anyVersion?: boolean | undefined;
  /**
   * A handshake that costs a tenth less, for what anybody may read: without the share of the hybrid key exchange (ML-KEM), which keeps
   * what is recorded today from the computers of tomorrow, and with the shorter cipher of TLS 1.3 first, as browsers have it. A server that
   * takes nothing but hybrid keys refuses it, see `TlsOpened`.
   */
  readonly quick?: boolean | undefined;
};

/** What OpenSSL offers by itself, without the hybrid one. Only the first comes with a share. */
const quickGroups = 'X25519:P-256:X448:P-384:P-521:ffdhe2048:ffdhe3072';
/** In another order, nothing left out. */
const quickCiphers = `TLS_AES_128_GCM_SHA256:${tls.DEFAULT_CIPHERS}`;

const maxKept = 128;
const kept = new Map<string, tls.SecureContext>();

/** A secure context for these settings, made once and shared: a fresh one per handshake costs more than a third of it. */
export function sharedSecureContext(settings: SecureContextSettings): tls.SecureContext {
  const { clientCertificate: cert, clientKey } = settings;
  const own = cert === undefined ? '' : ` ${cert} ${clientKey}`;
  const kind = settings.anyVersion === true ? 'any' : settings.quick === true ? 'quick' : 'safe';
  const key = `${kind} ${settings.caCertificates ?? ''}${own}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = tls.createSecureContext({
    // Servers with TLS 1.2 that do not know RFC 5746 are reached, as browsers reach them: a check never renegotiates, so it loses nothing.
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
    ...(settings.caCertificates !== undefined && { ca: settings.caCertificates }),
    ...(cert !== undefined && { cert, key: clientKey }),
    ...(settings.quick === true && { ecdhCurve: quickGroups, ciphers: quickCiphers }),
    ...(settings.anyVersion === true && { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
  });
  const oldest = kept.keys().next();
  if (kept.size >= maxKept && oldest.done !== true) kept.delete(oldest.value);
  kept.set(key, made);
  return made;
}
