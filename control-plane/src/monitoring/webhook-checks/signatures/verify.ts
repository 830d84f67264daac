import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CustomHmac, RefusalReason, SignatureForm } from '@parallax/api-contract';
import type { Claim, Headers, Reading } from './claim.ts';
import { digestBytes, readCustom, readGithub, readSlack, readStandard, readStripe } from './forms.ts';

/** How far a time stamp may lie from now, either way. Standard Webhooks, Stripe and Slack all advise five minutes. */
export const toleranceSeconds = 300;

/** What deliveries of a check are judged by. */
export type Signing = {
  readonly signature: SignatureForm;
  /** With `custom_hmac`. */
  readonly custom: CustomHmac | null;
  /** Of the secret, and of the one before it or a stand-in: always two, so that each delivery costs the same. */
  readonly keys: readonly [Uint8Array, Uint8Array];
};

/** Bytes of a delivery as they came. */
export type Delivery = { readonly headers: Headers; readonly body: Uint8Array };

/**
 * Whether a delivery is signed as a check asks, and lately. Every delivery costs the same two HMACs over the whole body, whatever is wrong with it, so that
 * time does not tell what was wrong nor whether there is a check.
 * @param nowMs milliseconds since the epoch
 * @returns null when it is; else why not
 */
export function refusalOf(signing: Signing, delivery: Delivery, nowMs: number): RefusalReason | null {
  const reading = readingOf(signing, delivery.headers);
  const claim: Claim = 'refusal' in reading ? decoy : reading;
  let isSigned = false;
  for (const key of signing.keys) {
    const digest = createHmac(claim.algorithm, key).update(claim.before).update(delivery.body).digest();
    for (const signature of claim.signatures) {
      if (signature.length === digest.length && timingSafeEqual(signature, digest)) isSigned = true;
    }
  }
  if (signing.signature === 'none') return null;
  if ('refusal' in reading) return reading.refusal;
  if (!isSigned) return 'signature_mismatch';
  return ageOf(reading.timestampSeconds, nowMs);
}

const decoy: Claim = {
  algorithm: 'sha256',
  before: '',
  signatures: [Buffer.alloc(digestBytes.sha256)],
  timestampSeconds: null,
};

function readingOf({ signature, custom }: Signing, headers: Headers): Reading {
  switch (signature) {
    case 'standard':
      return readStandard(headers);
    case 'github':
      return readGithub(headers);
    case 'stripe':
      return readStripe(headers);
    case 'slack':
      return readSlack(headers);
    case 'custom_hmac':
      return custom === null ? { refusal: 'signature_malformed' } : readCustom(headers, custom);
    case 'none':
      return { refusal: 'signature_missing' };
  }
}

function ageOf(timestampSeconds: number | null, nowMs: number): RefusalReason | null {
  if (timestampSeconds === null) return null;
  const ageMs = nowMs - timestampSeconds * 1_000;
  if (ageMs > toleranceSeconds * 1_000) return 'timestamp_too_old';
  return ageMs < -toleranceSeconds * 1_000 ? 'timestamp_in_future' : null;
}
