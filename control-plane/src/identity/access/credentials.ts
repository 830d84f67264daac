import { Problem } from '@parallax/api-contract';

/** What a request shows of its sender. */
export type GivenCredentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'api_key'; readonly key: string };

// Longer ones are none of ours.
const maxCharacters = 4_096;

/**
 * Reads the credentials of a request. A bearer token goes before an API key, and an API key before another scheme.
 * @throws Problem `invalid_credentials` for another scheme or form
 */
export function givenCredentials(headers: {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | string[] | undefined;
}): GivenCredentials {
  const { authorization } = headers;
  const key = headers['x-api-key'];
  // Other schemes are for who stands in front, such as a proxy with passwords of its own.
  const isOurs = authorization !== undefined && (key === undefined || /^Bearer\b/i.test(authorization));
  if (isOurs) {
    const token = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization)?.[1];
    if (token === undefined || token.length > maxCharacters) {
      throw new Problem('invalid_credentials', 'the header Authorization must be: Bearer <access token>');
    }
    return { kind: 'bearer', token };
  }
  if (key === undefined) return { kind: 'none' };
  if (typeof key !== 'string') throw new Problem('invalid_credentials', 'the API key is not valid');
  return { kind: 'api_key', key };
}
