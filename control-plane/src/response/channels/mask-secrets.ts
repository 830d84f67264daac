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
  const path = pathOf(secret);
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    ...(path === undefined ? [] : [path, path.replace(/\/$/, '').split('/').at(-1) ?? '']),
  ];
}

function pathOf(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  const url = URL.parse(text);
  return url === null ? undefined : `${url.pathname}${url.search}`.replace(/^\//, '');
}
