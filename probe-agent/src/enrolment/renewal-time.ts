import { certificateFacts, probeCertificateBackdatedMs } from '@parallax/pki';

const dayMs = 86_400_000;
/** Probes that were registered together renew spread over so long. */
const spreadMs = 6 * 3_600_000;

/** When a certificate was made, is to be renewed, and ends. Milliseconds since the epoch, by the server's clock. */
export type CertificateTimes = { readonly issuedMs: number; readonly dueMs: number; readonly endsMs: number };

/**
 * A certificate is renewed a day after it was made, or after half of a shorter life, and up to six hours later by a share that its random
 * serial number gives: the same at every start, another with every certificate.
 */
export function certificateTimes(certificateDer: Uint8Array): CertificateTimes {
  const { serial, notBeforeMs, notAfterMs } = certificateFacts(certificateDer);
  const issuedMs = notBeforeMs + probeCertificateBackdatedMs;
  const lifeMs = Math.max(0, notAfterMs - issuedMs);
  const share = (Number.parseInt(serial.slice(-8), 16) || 0) / 2 ** 32;
  return {
    issuedMs,
    dueMs: issuedMs + Math.min(dayMs, lifeMs / 2) + share * Math.min(spreadMs, lifeMs / 8),
    endsMs: notAfterMs,
  };
}

/** How a certificate stands by its own dates. */
export function certificateState(certificateDer: Uint8Array, nowMs: number): 'good' | 'due' | 'expired' {
  const { dueMs, endsMs } = certificateTimes(certificateDer);
  if (nowMs >= endsMs) return 'expired';
  return nowMs >= dueMs ? 'due' : 'good';
}
