/** Shorter ones are found in every other word. */
const leastCharacters = 4;
const mask = '***';

/**
 * Replaces secrets in a text that is shown or kept: as they are, as they stand in URLs, in JSON and in base64. The whole address of a
 * destination is a secret by its path and query, so host names stay readable.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(formsOf).filter((form) => form.length >= leastCharacters);
  // The longest first: what holds another one is replaced as a whole.
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return sorted.reduce((masked, form) => masked.replaceAll(form, mask), text);
}

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    ...partsOf(secret),
  ];
}

/** What of an address must not be repeated alone: its path, the end of that, and each part that is long enough to be a key and no plain word. */
function partsOf(address: string): readonly string[] {
  const url = /^https?:\/\//i.test(address) ? URL.parse(address) : null;
  if (url === null) return [];
  const path = `${url.pathname}${url.search}`.replace(/^\//, '');
  const keys = url.pathname.split('/').filter((part) => part.length >= 16 || (part.length >= 8 && /[0-9]/.test(part)));
  const values = [...url.searchParams.values()].flatMap((value) =>
    value.length >= 8 ? [value, encodeURIComponent(value.toWellFormed())] : [],
  );
  return [path, path.replace(/\/$/, '').split('/').at(-1) ?? '', ...keys, ...values];
}
