import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { certificateFacts, createSigningRequest, signRenewal } from '@parallax/pki';
import type { RenewResponse } from '@parallax/wire';
import type { Identity } from '../state/identity.ts';
import { callEnrolment, describeCallError } from './client.ts';
import { assertOwnCertificate } from './register.ts';

/** Trailing metadata of a refused renewal: the server's clock, for a machine whose own is wrong. Milliseconds since the epoch. */
export const serverTimeMetadata = 'parallax-server-ms';

/** How a certificate stands by its own dates: `renew` from two thirds of its life on, `expired` after its end. */
export function certificateState(certificateDer: Uint8Array, nowMs: number): 'good' | 'renew' | 'expired' {
  const { notBeforeMs, notAfterMs } = certificateFacts(certificateDer);
  if (nowMs >= notAfterMs) return 'expired';
  return nowMs >= notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3 ? 'renew' : 'good';
}

/**
 * A new certificate for the same key, by proof of possession; also after the old one has run out (for 30 days).
 * Gives the identity with the new certificate; it is for the caller to keep it.
 * @throws EnrolmentError when the control plane refuses or cannot be reached
 */
export async function renew(identity: Identity, wallMs: number): Promise<Identity> {
  const { csrDer } = await createSigningRequest(identity.keyPem);
  const attempt = (issuedAtMs: bigint): Promise<RenewResponse> =>
    callEnrolment<RenewResponse>(identity.enrolmentAddress, identity.authorityDer, (client, parts, done) =>
      client.renew(
        {
          certificateDer: Buffer.from(identity.certificateDer),
          csrDer: Buffer.from(csrDer),
          proof: Buffer.from(signRenewal(identity.keyPem, csrDer, issuedAtMs)),
          issuedAtMs,
        },
        ...parts,
        done,
      ),
    );
  const response = await attempt(BigInt(Math.round(wallMs)))
    .catch((error: unknown) => {
      const hint = serverTimeOf(error);
      if (hint === undefined) throw error;
      return attempt(hint);
    })
    .catch((error: unknown) => {
      throw describeCallError(
        error,
        identity.enrolmentAddress,
        'when the probe was removed or revoked, register it again with a new join token',
      );
    });
  assertOwnCertificate(response.certificateDer, identity.authorityDer, identity.keyPem, identity.probeId);
  return { ...identity, certificateDer: new Uint8Array(response.certificateDer) };
}

function serverTimeOf(error: unknown): bigint | undefined {
  const { code, metadata } = error as Partial<ServiceError>;
  if (code === status.UNAVAILABLE) return undefined;
  const value = metadata?.get(serverTimeMetadata)[0];
  return typeof value === 'string' && /^\d{13}$/.test(value) ? BigInt(value) : undefined;
}
