import type { HttpSettings } from './settings.ts';

/** Response headers whose values are credentials of the session that the server opened. */
const credentialHeaders = new Set(['set-cookie', 'set-cookie2', 'authorization', 'proxy-authorization', 'cookie']);
const hidden = '[redacted]';
/** Shorter values would blank out ordinary text. */
const minLength = 4;

/** Removes the monitor's secrets from whatever a server sent back. */
export type Redactor = {
  readonly text: (text: string) => string;
  readonly headers: (headers: ReadonlyArray<readonly [string, string]>) => ReadonlyArray<readonly [string, string]>;
  /** Characters of the longest secret: text that will be cut has to be redacted with this much more. */
  readonly longest: number;
};

/** A redactor for the secrets of these settings in every spelling that servers echo them in. */
export function createRedactor(settings: HttpSettings): Redactor {
  const { username, password, bearer_token: bearer, secret_headers: secretHeaders } = settings;
  const plain = [password, bearer, ...Object.values(secretHeaders)].filter((each) => each !== undefined);
  // The credentials inside `Scheme credentials`, and each value of a cookie.
  const parts = Object.values(secretHeaders).flatMap((value) => [
    value.replace(/^\S+\s+/, ''),
    ...value.split(';').map((pair) => pair.replace(/^[^=]*=/, '').trim()),
  ]);
  if (username !== undefined) plain.push(basicCredentials(username, password ?? ''));
  const spellings = [...plain, ...parts].flatMap((each) => [
    each,
    JSON.stringify(each).slice(1, -1),
    encodeURIComponent(each),
    htmlEscaped(each),
  ]);
  const secrets = [...new Set(spellings)]
    .filter((each) => each.length >= minLength)
    .sort((a, b) => b.length - a.length);

  const text = (value: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, hidden), value);
  return {
    text,
    headers: (headers) =>
      headers.map(([name, value]) => [name, credentialHeaders.has(name) ? hidden : text(value)] as const),
    longest: secrets[0]?.length ?? 0,
  };
}

/** The credentials of basic authentication (RFC 7617), in UTF-8. */
export function basicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}

function htmlEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
