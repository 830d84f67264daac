import { createHash } from 'node:crypto';
import { invalidInput } from '@parallax/api-contract';

const maxCharacters = 255;

/**
 * The key that a request bears; undefined when it bears none.
 * @throws Problem `invalid_input` for one that is empty, too long, or not printable ASCII
 */
export function givenKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = typeof header === 'string' ? header : header.join(', ');
  if (key.length <= maxCharacters && /^[ -~]+$/.test(key)) return key;
  throw invalidInput(
    'header',
    '/Idempotency-Key',
    'invalid_key',
    `Idempotency-Key must be 1 to ${maxCharacters} printable ASCII characters, such as a UUID`,
  );
}

/** What a request asks for, as 32 bytes: of its URL and its body. The order of the members of an object does not matter. */
export function requestDigest(url: string, body: unknown): Buffer {
  const hash = createHash('sha256').update(`${url}\n`);
  const bytes = fileBytes(body);
  if (bytes !== undefined) return hash.update('file\n').update(bytes).digest();
  return hash.update(canonical(body)).digest();
}

function fileBytes(body: unknown): Uint8Array | undefined {
  if (typeof body !== 'object' || body === null || !('bytes' in body)) return undefined;
  return body.bytes instanceof Uint8Array ? body.bytes : undefined;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nothing';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
