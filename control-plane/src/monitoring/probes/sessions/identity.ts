import { certificateFacts, probeIdOfUri } from '@parallax/pki';
import type { SessionCall } from './outbound.ts';
import type { PresentedIdentity } from './queries.ts';

/** Reads who a stream's client certificate says it is; undefined without a certificate of a probe. TLS has verified its chain and dates. */
export function presentedIdentity(call: Pick<SessionCall, 'getAuthContext'>): PresentedIdentity | undefined {
  const raw = call.getAuthContext().sslPeerCertificate?.raw;
  if (raw === undefined || raw.length === 0) return undefined;
  const facts = certificateFacts(raw);
  const probeId = probeIdOfUri(facts.uri);
  if (probeId === undefined) return undefined;
  return {
    probeId,
    serial: facts.serial,
    publicKeyFingerprint: facts.publicKeyFingerprint,
    certificateDer: raw,
  };
}
