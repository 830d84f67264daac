import { Secret, TOTP } from 'otpauth';

const periodSeconds = 30;
// Clocks of telephones and the time it takes to type: one step on either side (RFC 6238, section 5.2).
const window = 1;

/** 160 bits, the length of the hash (RFC 4226, section 4). */
export const totpSecretBytes = 20;

// SHA-1 and six digits: what every authenticator app takes for granted.
function totpOf(secret: Uint8Array, label: string): TOTP {
  return new TOTP({
    issuer: 'Parallax',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: periodSeconds,
    secret: new Secret({ buffer: Uint8Array.from(secret).buffer }),
  });
}

/** A secret as people and QR codes are given it. @param label whose it is, as the app shows it */
export function describeTotp(secret: Uint8Array, label: string): { readonly base32: string; readonly url: string } {
  const totp = totpOf(secret, label);
  return { base32: totp.secret.base32, url: totp.toString() };
}

/** The 30-second step since the epoch that a code of six digits belongs to; undefined when it is of none within one step of now. */
export function matchingStep(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const delta = totpOf(secret, '').validate({ token: code, timestamp: nowMs, window });
  return delta === null ? undefined : Math.floor(nowMs / 1_000 / periodSeconds) + delta;
}
