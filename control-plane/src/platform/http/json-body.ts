import { Problem } from '@parallax/api-contract';
import { parseJson } from './json-text.ts';

const maxDepth = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the bytes of a JSON body: UTF-8, at most 32 levels, strict as `parseJson` says.
 * @returns undefined for an empty body
 * @throws Problem `invalid_json`
 */
export function readJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    throw new Problem('invalid_json', 'the body is not valid UTF-8', {
      errors: [{ in: 'body', path: '', code: 'encoding', message: 'not valid UTF-8' }],
      cause: error,
    });
  }
  return text.trim() === '' ? undefined : parseJson(text, { maxDepth });
}

/** True for `application/json`, with no parameters but `charset=utf-8`. */
export function isJsonMediaType(contentType: string): boolean {
  return /^\s*application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i.test(contentType);
}
