import { createHash } from 'node:crypto';
import type { PasskeyAnswer } from '@parallax/api-contract';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import ipaddr from 'ipaddr.js';

/** Whom a passkey is for: the host of the public URL. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/** The relying party of a public URL; undefined where it has an address, which no passkey is made for (Web Authentication, section 5.1.2). */
export function relyingParty(publicUrl: string): RelyingParty | undefined {
  const { hostname, origin } = new URL(publicUrl);
  if (hostname.startsWith('[') || ipaddr.isValid(hostname)) return undefined;
  return { id: hostname, origin };
}

/** The challenge of a step, made from the token that names it: as fresh as that, and nothing more is to be kept. */
export function challengeOf(token: string): Buffer {
  return createHash('sha256').update(`passkey challenge ${token}`).digest();
}

/** What an authenticator gives back as its user: tells nothing of the account. */
export function userHandleOf(userId: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(`user ${userId}`));
}

// Ed25519, ES256 and RS256 (RFC 9053, RFC 8812): what authenticators make today. The library's own list depends on the runtime.
const supportedAlgorithmIDs = [-8, -7, -257];

type Known = { readonly credentialId: Uint8Array; readonly transports: readonly string[] };

const descriptor = ({ credentialId, transports }: Known) => ({
  id: Buffer.from(credentialId).toString('base64url'),
  transports: [...transports] as AuthenticatorTransport[],
});

/** `PublicKeyCredentialCreationOptionsJSON` for a new passkey of a user. */
export async function registrationOptions(
  party: RelyingParty,
  user: { readonly id: number; readonly name: string; readonly passkeys: readonly Known[] },
  token: string,
): Promise<Record<string, unknown>> {
  return {
    ...(await generateRegistrationOptions({
      rpName: 'Parallax',
      rpID: party.id,
      userName: user.name,
      userID: userHandleOf(user.id),
      challenge: Uint8Array.from(challengeOf(token)),
      attestationType: 'none',
      supportedAlgorithmIDs,
      excludeCredentials: user.passkeys.map(descriptor),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    })),
  };
}

/** What a registration brought. */
export type NewPasskey = {
  readonly credentialId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
};

/** Judges a registration; undefined when it does not hold. */
export async function judgeRegistration(
  party: RelyingParty,
  response: RegistrationResponseJSON,
  token: string,
): Promise<NewPasskey | undefined> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challengeOf(token).toString('base64url'),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      // A key without a PIN is a second factor all the same; alone it does not suffice.
      requireUserVerification: false,
      supportedAlgorithmIDs,
    });
    if (!verified) return undefined;
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: Buffer.from(credential.id, 'base64url'),
      publicKey: credential.publicKey,
      counter: credential.counter,
      transports: (response.response.transports ?? []).filter((transport) => /^[a-z-]{1,20}$/.test(transport)),
      backedUp: credentialBackedUp,
    };
  } catch {
    // The library throws for whatever does not hold, down to bytes that are no CBOR.
    return undefined;
  }
}

/** `PublicKeyCredentialRequestOptionsJSON`: any passkey that is kept for this host, or one of those given. */
export async function requestOptions(
  party: RelyingParty,
  passkeys: readonly Known[] | undefined,
  token: string,
): Promise<Record<string, unknown>> {
  return {
    ...(await generateAuthenticationOptions({
      rpID: party.id,
      challenge: Uint8Array.from(challengeOf(token)),
      userVerification: passkeys === undefined ? 'required' : 'preferred',
      allowCredentials: passkeys?.map(descriptor) ?? [],
    })),
  };
}

/** Judges the answer of a passkey; its new counter, undefined when it does not hold. @param isAlone it must have verified its user */
export async function judgeAnswer(
  party: RelyingParty,
  answer: PasskeyAnswer,
  token: string,
  passkey: { readonly userId: number; readonly publicKey: Uint8Array; readonly counter: number },
  isAlone: boolean,
): Promise<number | undefined> {
  const { userHandle } = answer.response;
  const expectedHandle = Buffer.from(userHandleOf(passkey.userId)).toString('base64url');
  if (userHandle !== undefined && userHandle !== null && userHandle !== expectedHandle) return undefined;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge: challengeOf(token).toString('base64url'),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id: answer.id,
        publicKey: Uint8Array.from(passkey.publicKey),
        counter: passkey.counter,
      },
      requireUserVerification: isAlone,
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
