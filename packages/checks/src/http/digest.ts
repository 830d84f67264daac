import { createHash } from 'node:crypto';

/** A challenge of the Digest scheme (RFC 7616, 3.3) that can be answered. */
export type DigestChallenge = {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: Algorithm;
  /** Absent for servers of RFC 2069, which know no quality of protection. */
  readonly qop: 'auth' | 'auth-int' | undefined;
  readonly userhash: boolean;
  /** The name and password were right, only the nonce had grown old. */
  readonly stale: boolean;
};

type Algorithm = { readonly name: string; readonly hash: string; readonly session: boolean };

/** What can be answered, the strongest first. Names are matched without regard to case. */
const algorithms: readonly Algorithm[] = [
  { name: 'SHA-512-256', hash: 'sha512-256', session: false },
  { name: 'SHA-512-256-sess', hash: 'sha512-256', session: true },
  { name: 'SHA-256', hash: 'sha256', session: false },
  { name: 'SHA-256-sess', hash: 'sha256', session: true },
  { name: 'MD5', hash: 'md5', session: false },
  { name: 'MD5-sess', hash: 'md5', session: true },
];

const maxChallenges = 16;
const maxField = 8 * 1024;
/** A parameter of a challenge, or the scheme that begins the next one. Both begin with a token, so no part can match what another could. */
const part = /[\s,]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;

/** The strongest challenge of the Digest scheme in the WWW-Authenticate fields of a response that can be answered; undefined when there is none. */
export function digestChallenge(fields: readonly string[]): DigestChallenge | undefined {
  const challenges = fields.slice(0, maxChallenges).flatMap(challengesOf);
  const usable = challenges.map(usableChallenge).filter((each) => each !== undefined);
  const strength = (each: DigestChallenge) => algorithms.indexOf(each.algorithm);
  return usable.sort((a, b) => strength(a) - strength(b))[0];
}

/** Who asks, for what, and the one-time values; `clientNonce` is random text of printable ASCII characters without quotes. */
export type DigestQuestion = {
  readonly username: string;
  readonly password: string;
  readonly method: string;
  /** Path and query as they stand in the request line. */
  readonly uri: string;
  readonly body: Buffer | undefined;
  readonly clientNonce: string;
};

/** The value of the Authorization field that answers a challenge (RFC 7616, 3.4). */
export function digestAnswer(challenge: DigestChallenge, question: DigestQuestion): string {
  const { realm, nonce, opaque, algorithm, qop, userhash } = challenge;
  const { username, password, method, uri, clientNonce } = question;
  const hash = (value: string | Buffer) => createHash(algorithm.hash).update(value).digest('hex');
  const count = '00000001';

  // The realm is taken in the bytes in which it came, which a header is read from as Latin-1.
  const inRealm = (rest: string) =>
    createHash(algorithm.hash).update(`${username}:`).update(realm, 'latin1').update(rest).digest('hex');
  const user = inRealm(`:${password}`);
  const secret = algorithm.session ? hash(`${user}:${nonce}:${clientNonce}`) : user;
  const request = qop === 'auth-int' ? `${method}:${uri}:${hash(question.body ?? '')}` : `${method}:${uri}`;
  const proven =
    qop === undefined
      ? hash(`${secret}:${nonce}:${hash(request)}`)
      : hash(`${secret}:${nonce}:${count}:${clientNonce}:${qop}:${hash(request)}`);
  // oxlint-disable-next-line no-control-regex -- beyond ASCII a name goes in the encoding of RFC 8187
  const spelled = /^[\0-\x7f]*$/.test(username)
    ? `username=${quoted(username)}`
    : `username*=UTF-8''${extended(username)}`;
  const parts = [
    userhash ? `username=${quoted(inRealm(''))}` : spelled,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `algorithm=${algorithm.name}`,
    `response="${proven}"`,
    ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ...(qop === undefined ? [] : [`qop=${qop}`, `nc=${count}`, `cnonce="${clientNonce}"`]),
    ...(userhash ? ['userhash=true'] : []),
  ];
  return `Digest ${parts.join(', ')}`;
}

/** Takes one field apart into the parameters of its Digest challenges; other schemes may stand between them. */
function challengesOf(field: string): ReadonlyArray<ReadonlyMap<string, string>> {
  const found: Array<Map<string, string>> = [];
  let current: Map<string, string> | undefined;
  const text = field.slice(0, maxField);
  part.lastIndex = 0;
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    const name = (match[1] ?? '').toLowerCase();
    const value = match[2]?.replace(/\\(.)/g, '$1') ?? match[3];
    if (value !== undefined) {
      if (current?.has(name) === false) current.set(name, value);
      continue;
    }
    current = name === 'digest' ? new Map() : undefined;
    if (current !== undefined && found.length < maxChallenges) found.push(current);
  }
  return found;
}

function usableChallenge(parameters: ReadonlyMap<string, string>): DigestChallenge | undefined {
  const realm = parameters.get('realm');
  const nonce = parameters.get('nonce');
  const named = (parameters.get('algorithm') ?? 'MD5').toLowerCase();
  const algorithm = algorithms.find((each) => each.name.toLowerCase() === named);
  if (realm === undefined || nonce === undefined || algorithm === undefined) return undefined;
  const offered = parameters
    .get('qop')
    ?.split(',')
    .map((each) => each.trim().toLowerCase());
  const qop = (['auth', 'auth-int'] as const).find((each) => offered?.includes(each));
  if (offered !== undefined && qop === undefined) return undefined;
  const says = (name: string) => parameters.get(name)?.toLowerCase() === 'true';
  return {
    realm,
    nonce,
    opaque: parameters.get('opaque'),
    algorithm,
    qop,
    userhash: says('userhash'),
    stale: says('stale'),
  };
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}
