import type { CustomHmac, RefusalReason } from '@parallax/api-contract';

/** The values of a header, each time that it was sent; none when it was not. Names in lower case. */
export type Headers = (name: string) => readonly string[];

/** What a delivery claims about its signature, as its form spells it. */
export type Claim = {
  readonly algorithm: CustomHmac['algorithm'];
  /** Signed before the body. */
  readonly before: string;
  /** Any of them may be the one. */
  readonly signatures: readonly Buffer[];
  /** When it was signed, in seconds since the epoch; null: the form does not say. */
  readonly timestampSeconds: number | null;
};

/** A claim, or why there is none that could be judged. */
export type Reading = Claim | { readonly refusal: RefusalReason };

/** Signatures in one delivery that are looked at: a sender has two while it changes its secret. */
export const mostSignatures = 16;

const lowerHex = /^[0-9a-f]+$/;
const anyHex = /^[0-9a-fA-F]+$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Bytes of a digest, from hexadecimal digits of exactly its length; undefined for anything else. */
export function ofHex(text: string, bytes: number, isAnyCase = false): Buffer | undefined {
  return text.length === bytes * 2 && (isAnyCase ? anyHex : lowerHex).test(text) ? Buffer.from(text, 'hex') : undefined;
}

/** The same from base64 with its padding; bits behind the last byte must be none (RFC 4648, section 3.5). */
export function ofBase64(text: string, bytes: number): Buffer | undefined {
  if (!base64.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64');
  return decoded.length === bytes && decoded.toString('base64') === text ? decoded : undefined;
}

/** Seconds since the epoch as plain digits; undefined for anything else. */
export function ofSeconds(text: string): number | undefined {
  return /^[0-9]{1,12}$/.test(text) ? Number(text) : undefined;
}

/**
 * The one value of a header that may stand once only.
 * @param missing the reason when it is absent or empty
 * @param malformed the reason when it stands there twice
 */
export function single(
  headers: Headers,
  name: string,
  missing: RefusalReason,
  malformed: RefusalReason,
): string | { readonly refusal: RefusalReason } {
  const [first, ...others] = headers(name);
  if (first === undefined || first === '') return { refusal: missing };
  return others.length > 0 ? { refusal: malformed } : first;
}
