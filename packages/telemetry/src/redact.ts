/** What stands where a secret was. */
export const redacted = '[redacted]';

const secretWords =
  'password|passwd|passphrase|token|secret|authorization|cookie|set-cookie|x-api-key|api-?key|apikey|x-secret|seed|private-?key|privatekey|credential|credentials|creds|key-encryption-key|jwt';
// The word alone or as the last part of a longer name: refresh_token, joinToken, x-secret, clientSecret.
const secretKey = new RegExp(`(^|[.-])(${secretWords})(-(hash|pem|text|value))?$`, 'i');
const maxDepth = 8;
const maxItems = 200;

/** True for a key whose value must not be written down: `password`, `joinToken`, `x-api-key`, `private_key_pem` … */
export function isSecretKey(key: string): boolean {
  const spaced = key.replace(/([a-z0-9])([A-Z])/g, '$1-$2').replaceAll('_', '-');
  return secretKey.test(spaced);
}

/** Text with the password of every URL in it taken out. */
export function redactText(text: string): string {
  return text.includes('@') ? text.replace(/([a-z][a-z0-9+.-]*:\/\/[^/\s:@]*):[^/\s@]+@/gi, `$1:${redacted}@`) : text;
}

/**
 * A copy that is safe to log: secret keys emptied at any depth, passwords cut out of URLs, errors as plain objects with their
 * causes, big and cyclic structures cut short. Never throws.
 */
export function redact(value: unknown): unknown {
  return copy(value, 0, new Set());
}

function copy(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (above.has(value)) return '[circular]';
  if (depth >= maxDepth) return '[deep]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  above.add(value);
  try {
    if (value instanceof Error) return copyError(value, depth, above);
    if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => copy(item, depth + 1, above));
    if (value instanceof Map)
      return copyEntries(
        [...value].map(([key, item]) => [String(key), item]),
        depth,
        above,
      );
    if (value instanceof Set) return [...value].slice(0, maxItems).map((item) => copy(item, depth + 1, above));
    return copyEntries(Object.entries(value), depth, above);
  } catch {
    return '[unreadable]';
  } finally {
    above.delete(value);
  }
}

function copyEntries(entries: [string, unknown][], depth: number, above: Set<object>): Record<string, unknown> {
  return Object.fromEntries(
    entries.slice(0, maxItems).map(([key, item]) => {
      const hide = isSecretKey(key) && item !== undefined && item !== null && typeof item !== 'boolean';
      return [key, hide ? redacted : copy(item, depth + 1, above)];
    }),
  );
}

function copyError(error: Error, depth: number, above: Set<object>): Record<string, unknown> {
  const own = copyEntries(Object.entries(error), depth, above);
  const cause = error.cause === undefined ? {} : { cause: copy(error.cause, depth + 1, above) };
  return {
    ...own,
    ...cause,
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
  };
}
