import { randomBytes } from 'node:crypto';
import type { CheckContext } from '../check.ts';
import { type Failure, failed } from '../net/failure.ts';
import { digestAnswer, digestChallenge } from './digest.ts';
import type { Hop } from './request.ts';
import type { ResponseHead } from './response-parser.ts';
import type { HttpSettings } from './settings.ts';
import { bearerToken, forgetToken } from './token.ts';
import type { Progress } from './outcome.ts';

/** Credentials that have to be fetched or worked out while a check runs. */
export type Credentials = {
  /** Before the first request. Gives the failure when there will be none. */
  readonly begin: () => Promise<Failure | undefined>;
  /** What goes into the Authorization field of the next request. */
  readonly authorization: () => string | undefined;
  /** After a 401: whether the same request is to be made again with other credentials, or the failure. */
  readonly refused: (hop: Hop, head: ResponseHead) => Promise<boolean | Failure>;
  /** The next request goes to another URL. */
  readonly moved: () => void;
};

/** Undefined for the monitors that can say at once all they have to say, which is nearly all. */
export function credentialsFor(
  settings: HttpSettings,
  context: CheckContext,
  progress: Progress,
): Credentials | undefined {
  if (settings.token_url !== undefined) return tokenCredentials(settings, settings.token_url, context, progress);
  if (settings.auth_scheme === 'digest' && settings.username !== undefined)
    return digestCredentials(settings, settings.username, progress);
  return undefined;
}

/** The clock of the answer starts when the token is there: how long it took says nothing about the target. */
function tokenCredentials(
  settings: HttpSettings,
  tokenUrl: string,
  context: CheckContext,
  progress: Progress,
): Credentials {
  let token: string | undefined;
  let mayRenew = false;
  const fetchToken = async (): Promise<Failure | undefined> => {
    const got = await bearerToken(settings, tokenUrl, context);
    if (!got.ok) {
      progress.url = got.progress.url;
      progress.endpoint = got.progress.endpoint;
      progress.head = got.progress.head;
      progress.parser = undefined;
      progress.peer = got.progress.peer;
      return got.failure;
    }
    token = got.token;
    mayRenew = got.kept;
    progress.obtained.push(got.token);
    progress.startedAt = context.clock();
    return undefined;
  };
  return {
    begin: fetchToken,
    authorization: () => (token === undefined ? undefined : `Bearer ${token}`),
    refused: async () => {
      if (!mayRenew) return false;
      forgetToken(settings);
      progress.phases = {};
      return (await fetchToken()) ?? true;
    },
    moved: () => undefined,
  };
}

/** One answer to a challenge, and one more when only its nonce had grown old. */
function digestCredentials(settings: HttpSettings, username: string, progress: Progress): Credentials {
  let authorization: string | undefined;
  let answers = 0;
  return {
    begin: () => Promise.resolve(undefined),
    authorization: () => authorization,
    refused: async (hop, head) => {
      const fields = head.headers.filter(([name]) => name === 'www-authenticate').map(([, value]) => value);
      const challenge = digestChallenge(fields);
      if (challenge === undefined) {
        if (answers > 0) return false;
        return failed('http_challenge', 'The server asks for credentials, but not by a digest that this check knows.');
      }
      if (answers > 0 && (answers > 1 || !challenge.stale)) return false;
      answers += 1;
      authorization = digestAnswer(challenge, {
        username,
        password: settings.password ?? '',
        method: hop.method,
        uri: `${hop.url.pathname}${hop.url.search}`,
        body: hop.withBody && settings.body !== undefined ? Buffer.from(settings.body, 'utf8') : undefined,
        clientNonce: randomBytes(16).toString('hex'),
      });
      progress.obtained.push(/response="(\w+)"/.exec(authorization)?.[1] ?? authorization);
      return true;
    },
    moved: () => {
      authorization = undefined;
      answers = 0;
    },
  };
}
