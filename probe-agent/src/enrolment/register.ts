import { createHash, X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  certificateFacts,
  createEd25519Pair,
  createSigningRequest,
  ed25519PublicKey,
  fingerprint,
  probeIdOfUri,
} from '@parallax/pki';
import type { EnrolResponse } from '@parallax/wire';
import { z } from 'zod';
import { writeFileAtomically } from '../state/files.ts';
import { readIdentity, writeIdentity } from '../state/identity.ts';
import type { Identity } from '../state/identity.ts';
import { agentVersion } from '../version.ts';
import { EnrolmentError, fetchAuthority } from './authority.ts';
import { callEnrolment, describeCallError } from './client.ts';
import { parseJoinToken } from './join-token.ts';

export type RegisterOptions = {
  readonly stateDir: string;
  /** Enrolment address, "host:port". */
  readonly controlPlane: string;
  readonly joinToken: string;
  readonly publicAddresses: readonly string[];
};

/**
 * Registers this machine as a probe and keeps its identity in the state folder. Keys are made here and never leave it. Keys of a try whose
 * answer was lost are used again, so the same token gives the same probe.
 * @throws EnrolmentError when the folder has a probe already, the token or its fingerprint does not fit, or the control plane refuses
 */
export async function register(options: RegisterOptions): Promise<Identity> {
  const held = await readIdentity(options.stateDir);
  if (held !== undefined) {
    throw new EnrolmentError(
      `${options.stateDir} belongs to the probe "${held.name}" already; start it with "probe-agent run", or name another --state-dir`,
    );
  }
  const token = parseJoinToken(options.joinToken);
  if (typeof token === 'string') throw new EnrolmentError(token);
  const authorityDer = await fetchAuthority(options.controlPlane, token.fingerprint);
  const keys = await pendingKeys(options.stateDir, token.credential);
  const { csrDer } = await createSigningRequest(keys.keyPem);
  const response = await callEnrolment<EnrolResponse>(options.controlPlane, authorityDer, (client, parts, done) =>
    client.enrol(
      {
        token: token.credential,
        csrDer: Buffer.from(csrDer),
        signingPublicKey: Buffer.from(ed25519PublicKey(keys.signingSeed)),
        agentVersion,
        publicAddresses: [...options.publicAddresses],
      },
      ...parts,
      done,
    ),
  ).catch((error: unknown) => {
    throw describeCallError(
      error,
      options.controlPlane,
      'make a new token with "control-plane join-token create --name NAME --region REGION"',
    );
  });
  const identity = checkedIdentity(response, keys, authorityDer);
  await writeIdentity(options.stateDir, identity);
  await rm(pendingFile(options.stateDir), { force: true });
  return identity;
}

function checkedIdentity(
  response: EnrolResponse,
  keys: { readonly keyPem: string; readonly signingSeed: Uint8Array },
  authorityDer: Uint8Array,
): Identity {
  assertOwnCertificate(response.certificateDer, authorityDer, keys.keyPem, response.probeId);
  if (fingerprint(response.authorityDer) !== fingerprint(authorityDer)) {
    throw new EnrolmentError('the control plane answered with another authority than it had shown; nothing was kept');
  }
  return {
    probeId: response.probeId,
    name: response.name,
    region: response.region,
    keyPem: keys.keyPem,
    certificateDer: new Uint8Array(response.certificateDer),
    authorityDer,
    signingSeed: keys.signingSeed,
    sessionAddress: response.sessionAddress,
    enrolmentAddress: response.enrolmentAddress,
    brokerAddress: response.brokerAddress,
  };
}

/** @throws EnrolmentError when a certificate is not signed by the authority, not for our key or not for this probe */
export function assertOwnCertificate(
  certificateDer: Uint8Array,
  authorityDer: Uint8Array,
  keyPem: string,
  probeId: number,
): void {
  const certificate = new X509Certificate(Buffer.from(certificateDer));
  const isSigned = certificate.verify(new X509Certificate(Buffer.from(authorityDer)).publicKey);
  const isOurs = certificate.checkPrivateKey(createPrivateKey(keyPem));
  const isForProbe = probeIdOfUri(certificateFacts(certificateDer).uri) === probeId;
  if (!isSigned || !isOurs || !isForProbe) {
    throw new EnrolmentError(
      'the control plane answered with a certificate that is not for this probe; nothing was kept',
    );
  }
}

const pending = z.object({ token: z.string(), key_pem: z.string(), signing_seed: z.string() });
const pendingFile = (stateDir: string): string => path.join(stateDir, 'registration.json');

/** The keys of an earlier try with this token, or new ones, on disk before they are used. */
async function pendingKeys(stateDir: string, credential: string): Promise<{ keyPem: string; signingSeed: Uint8Array }> {
  const token = createHash('sha256').update(credential).digest('hex');
  const text = await readFile(pendingFile(stateDir), 'utf8').catch(() => '');
  const earlier = text === '' ? undefined : pending.safeParse(parse(text)).data;
  if (earlier?.token === token)
    return { keyPem: earlier.key_pem, signingSeed: new Uint8Array(Buffer.from(earlier.signing_seed, 'base64')) };
  const { keyPem } = await createSigningRequest();
  const signingSeed = new Uint8Array(createEd25519Pair().seed);
  const content = { token, key_pem: keyPem, signing_seed: Buffer.from(signingSeed).toString('base64') };
  await writeFileAtomically(pendingFile(stateDir), JSON.stringify(content));
  return { keyPem, signingSeed };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
