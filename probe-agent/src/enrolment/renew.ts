import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { createSigningRequest, serverTimeMetadata, signRenewal } from '@parallax/pki';
import type { RenewResponse } from '@parallax/wire';
import type { Identity } from '../state/identity.ts';
import { ProbeRefused } from './probe-refused.ts';
import { callEnrolment, describeCallError } from './client.ts';
import { assertOwnCertificate } from './register.ts';

/**
 * A new certificate for the same key, by proof of possession; also after the old one has run out (for 30 days).
 * Gives the identity with the new certificate; it is for the caller to keep it.
 * @param nowMs the server's time as well as it is known; when it is wrong, the refusal tells the right one
 * @throws ProbeRefused when there is none for this probe, EnrolmentError when the control plane cannot be reached or is not able to now
 */
export async function renew(identity: Identity, nowMs: number): Promise<Identity> {
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
  const response = await attempt(BigInt(Math.round(nowMs)))
    .catch((error: unknown) => {
      const hint = serverTimeOf(error);
      if (hint === undefined) throw error;
      return attempt(hint);
    })
    .catch((error: unknown) => {
      const described = describeCallError(
        error,
        identity.enrolmentAddress,
        'when the probe was removed or revoked, register it again with a new join token',
      );
      const isFinal = (error as Partial<ServiceError>).code === status.PERMISSION_DENIED;
      throw isFinal ? new ProbeRefused(described.message, { cause: error }) : described;
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
