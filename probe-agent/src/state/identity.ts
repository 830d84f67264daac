import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from './files.ts';

/** Who this probe is: made at registration, changed by renewals of its certificate. */
export type Identity = {
  readonly probeId: number;
  readonly name: string;
  readonly region: string;
  /** Private key of the certificate, PKCS #8 PEM; never leaves this machine. */
  readonly keyPem: string;
  readonly certificateDer: Uint8Array;
  readonly authorityDer: Uint8Array;
  /** Raw Ed25519 seed: signs batches and answers the broker's challenge. */
  readonly signingSeed: Uint8Array;
  readonly sessionAddress: string;
  readonly enrolmentAddress: string;
  readonly brokerAddress: string;
};

const base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/=]+$/)
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

const stored = z.object({
  version: z.literal(1),
  probe_id: z.int().min(1),
  name: z.string(),
  region: z.string(),
  key_pem: z.string(),
  certificate: base64,
  authority: base64,
  signing_seed: base64.refine((seed) => seed.length === 32),
  session_address: z.string(),
  enrolment_address: z.string(),
  broker_address: z.string(),
});

const identityFile = (stateDir: string): string => path.join(stateDir, 'identity.json');

/** The identity in a state folder; undefined when nothing was registered there. Throws for a file that is damaged. */
export async function readIdentity(stateDir: string): Promise<Identity | undefined> {
  const file = identityFile(stateDir);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const parsed = stored.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new Error(`${file} is damaged; move the folder away and register this probe again with a new join token`);
  }
  const { data } = parsed;
  return {
    probeId: data.probe_id,
    name: data.name,
    region: data.region,
    keyPem: data.key_pem,
    certificateDer: data.certificate,
    authorityDer: data.authority,
    signingSeed: data.signing_seed,
    sessionAddress: data.session_address,
    enrolmentAddress: data.enrolment_address,
    brokerAddress: data.broker_address,
  };
}

/** Replaces the identity in a state folder, durably. */
export async function writeIdentity(stateDir: string, identity: Identity): Promise<void> {
  const content: z.input<typeof stored> = {
    version: 1,
    probe_id: identity.probeId,
    name: identity.name,
    region: identity.region,
    key_pem: identity.keyPem,
    certificate: text(identity.certificateDer),
    authority: text(identity.authorityDer),
    signing_seed: text(identity.signingSeed),
    session_address: identity.sessionAddress,
    enrolment_address: identity.enrolmentAddress,
    broker_address: identity.brokerAddress,
  };
  await writeFileAtomically(identityFile(stateDir), `${JSON.stringify(content, undefined, 2)}\n`);
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
