import type { Sealer } from '../../platform/crypto/seal.ts';
import { randomKeyKind } from '../../platform/crypto/random-key.ts';
import type { SignatureForm } from '@parallax/api-contract';
import type { CheckRow } from './row.ts';
import { keyOf } from './signatures/secret.ts';
import type { Signing } from './signatures/verify.ts';

/** The part of a receiver's URL that names its check: 190 random bits. */
export const slugKind = randomKeyKind('whk_');

const slugContext = (checkId: number): string => `webhook check ${checkId} slug`;
const secretContext = (checkId: number): string => `webhook check ${checkId} secret`;

export const sealSlug = (sealer: Sealer, checkId: number, slug: string): Buffer =>
  sealer.seal(slug, slugContext(checkId));

export const sealSecret = (sealer: Sealer, checkId: number, secret: string): Buffer =>
  sealer.seal(secret, secretContext(checkId));

export const openSlug = (sealer: Sealer, row: Pick<CheckRow, 'id' | 'sealed_slug'>): string =>
  sealer.open(row.sealed_slug, slugContext(row.id)).toString('utf8');

export const openSecret = (sealer: Sealer, checkId: number, sealed: Uint8Array): string =>
  sealer.open(sealed, secretContext(checkId)).toString('utf8');

type Sealed = Pick<
  CheckRow,
  'id' | 'signature' | 'custom_hmac' | 'sealed_secret' | 'sealed_previous' | 'previous_until'
>;

/**
 * What deliveries of a check are judged by now.
 * @param standIn a key for each place where there is no secret
 */
export function signingOf(sealer: Sealer, row: Sealed, standIn: Uint8Array, nowMs: number): Signing {
  const key = (form: SignatureForm, sealed: Uint8Array | null): Uint8Array =>
    sealed === null ? standIn : keyOf(form, openSecret(sealer, row.id, sealed));
  const isPreviousTaken = row.previous_until !== null && row.previous_until > nowMs;
  return {
    signature: row.signature,
    custom: row.custom_hmac,
    keys: [key(row.signature, row.sealed_secret), key(row.signature, isPreviousTaken ? row.sealed_previous : null)],
  };
}
