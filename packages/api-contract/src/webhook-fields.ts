import { z } from 'zod';

/** An address that a tenant names: http or https, without user information or fragment, at most 2,000 characters. */
export const webAddress = z
  .string()
  .max(2_000)
  .refine((text) => webAddressProblem(text) === undefined, {
    error: (issue) => webAddressProblem(String(issue.input)) ?? 'must be a URL',
  });

function webAddressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  if (url.hash !== '') return 'must not have a fragment';
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain spaces or control characters';
  return undefined;
}

/** A token, key or password: printable ASCII, so that it fits into a header. */
export function secretText(most = 500): z.ZodString {
  return z
    .string()
    .min(1)
    .max(most)
    .regex(/^[!-~]+( +[!-~]+)*$/, 'must be printable ASCII, without spaces around it');
}

/** Headers that belong to the connection, to the signature or to the description of the body. */
const reserved =
  /^(host|connection|content-length|content-type|content-encoding|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|cookie|user-agent|webhook-.*)$/i;

// RFC 9110, 5.1: the name of a field is a token.
const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of a header')
  .refine((name) => !reserved.test(name), 'is set by the product');

/** Headers of the customer's own that go with each request. */
export const ownHeaders = z
  .record(headerName, secretText(2_000))
  .refine((headers) => Object.keys(headers).length <= 20, 'at most 20 headers');

/** A secret of Standard Webhooks: `whsec_` and base64 of 24 to 64 bytes. */
export const standardSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ and base64 of 24 to 64 bytes')
  .refine((text) => {
    const { length } = Buffer.from(text.slice('whsec_'.length), 'base64');
    return length >= 24 && length <= 64;
  }, 'must be whsec_ and base64 of 24 to 64 bytes');
