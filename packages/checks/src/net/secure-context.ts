import tls from 'node:tls';

/** What makes one secure context differ from another. */
export type SecureContextSettings = {
  /** PEM text of the authorities to trust instead of the public ones. */
  readonly caCertificates?: string | undefined;
  /** Take every version and cipher that OpenSSL still has, to be able to say what a server offers. */
  readonly anyVersion?: boolean | undefined;
};

const maxKept = 128;
const kept = new Map<string, tls.SecureContext>();

/** A secure context for these settings, made once and shared: a fresh one per handshake costs more than a third of it. */
export function sharedSecureContext(settings: SecureContextSettings): tls.SecureContext {
  const key = `${settings.anyVersion === true ? 'any' : 'safe'} ${settings.caCertificates ?? ''}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = tls.createSecureContext({
    ...(settings.caCertificates !== undefined && { ca: settings.caCertificates }),
    ...(settings.anyVersion === true && { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
  });
  const oldest = kept.keys().next();
  if (kept.size >= maxKept && oldest.done !== true) kept.delete(oldest.value);
  kept.set(key, made);
  return made;
}
