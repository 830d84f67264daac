import { longestFirst, spellingsOf } from '../net/secret-words.ts';

/** The settings that hold secrets of a monitor, as far as its type has them. */
export type SecretSettings = {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly bearer_token?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly secret_headers: Readonly<Record<string, string>>;
};

/** Response headers whose values are credentials of the session that the server opened. */
const credentialHeaders = new Set(['set-cookie', 'set-cookie2', 'authorization', 'proxy-authorization', 'cookie']);
const hidden = '[redacted]';

/** Removes the monitor's secrets from whatever a server sent back. */
export type Redactor = {
  readonly text: (text: string) => string;
  readonly headers: (headers: ReadonlyArray<readonly [string, string]>) => ReadonlyArray<readonly [string, string]>;
  /** Characters of the longest secret: text that will be cut has to be redacted with this much more. */
  readonly longest: number;
};

/**
 * A redactor for the secrets of these settings in every spelling that servers echo them in.
 *
 * @param obtained secrets that came up during the check: tokens, answers to challenges
 */
export function createRedactor(settings: SecretSettings, obtained: readonly string[] = []): Redactor {
  const { username, password, bearer_token: bearer, secret_headers: secretHeaders } = settings;
  const given = [password, bearer, settings.client_secret, ...Object.values(secretHeaders), ...obtained];
  const plain = given.filter((each) => each !== undefined);
  // The credentials inside `Scheme credentials`, and each value of a cookie.
  const parts = Object.values(secretHeaders).flatMap((value) => [
    value.replace(/^\S+\s+/, ''),
    ...value.split(';').map((pair) => pair.replace(/^[^=]*=/, '').trim()),
  ]);
  if (username !== undefined) plain.push(basicCredentials(username, password ?? ''));
  const secrets = longestFirst([...plain, ...parts].flatMap(spellingsOf));

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
