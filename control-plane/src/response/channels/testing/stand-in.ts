import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from '@parallax/testkit';
import type { AnySettings, SubscribedBrowsers } from '../channel.ts';

/*
 * A stand-in is a small server on loopback that does what a service documents: it looks at method, path, headers, body and signature, answers
 * as the service does, and keeps what it got. It is written from the service's documentation, by another hand than the kind.
 *
 * One file in `stand-ins/`, one value:
 *
 *   // Written from memory of https://… (title). Read on 2026-11-23: its list of fields, in two clients the path; the errors are from memory.
 *   export const pushover: StandIn = {
 *     channel: 'pushover',
 *     documents: ['https://pushover.net/api'],
 *     settings: () => ({ token: 'a'.repeat(30) }),
 *     target: 'u'.repeat(30),
 *     handle: (request, must) => {
 *       must(request.method === 'POST' && request.path === '/1/messages.json', 'POST /1/messages.json');
 *       …
 *       return { status: 200, json: { status: 1, request: 'abc' } };
 *     },
 *     troubles: {
 *       refused_credentials: { status: 400, json: { token: 'invalid', errors: ['application token is invalid'], status: 0 } },
 *       unknown_target: { … }, rate_limited: { … }, refused_message: { … }, service_unavailable: { status: 500, text: '' },
 *     },
 *   };
 *
 * and one line in `stand-ins/all.ts`. What `must` finds wrong fails the test; the answer is then 400. `troubles` are the service's documented
 * answers; the contract test expects that the kind calls each by its name (`DeliveryErrorCode`). Those that a service does not know are left out.
 */

/** A request as it arrived. Names of headers are in lower case. */
export type SeenRequest = {
  readonly method: string;
  /** Decoded by nobody, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
  readonly form: URLSearchParams;
};

export type StandInAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly text?: string;
};

/** Notes what is not as the document says. */
export type Must = (holds: boolean, what: string) => void;

export type Trouble =
  | 'refused_credentials'
  | 'unknown_target'
  | 'rate_limited'
  | 'refused_message'
  | 'service_unavailable';

export type StandIn = {
  /** Name of the channel. */
  readonly channel: string;
  /** Which pages it was written from. */
  readonly documents: readonly string[];
  /** Settings that the service would take. Use secrets that stand nowhere else, so that leaks are found. */
  readonly settings: (baseUrl: string) => AnySettings;
  readonly target: string;
  /** Of web push only: the browsers that have subscribed at it. */
  readonly browsers?: (baseUrl: string) => SubscribedBrowsers;
  readonly handle: (request: SeenRequest, must: Must, seen: readonly SeenRequest[]) => StandInAnswer;
  /**
   * What the service answers when it is in trouble. `rate_limited` asks to wait 7 s in the service's own way where it has one. A function looks at
   * the request first, for services whose sending takes several exchanges; undefined: as usual.
   */
  readonly troubles: Partial<Record<Trouble, StandInAnswer | ((request: SeenRequest) => StandInAnswer | undefined)>>;
  /** Whether the service says how long to wait when it is rate limited. */
  readonly saysHowLong?: boolean;
};

export type RunningStandIn = {
  readonly baseUrl: string;
  readonly seen: readonly SeenRequest[];
  /** What was not as documented. */
  readonly problems: readonly string[];
  /** From now on every request meets this trouble; undefined: none any more. */
  readonly meet: (trouble: Trouble | undefined) => void;
};

/** Starts a stand-in; it ends with the test. */
export async function startStandIn(t: TestContext, standIn: StandIn): Promise<RunningStandIn> {
  const seen: SeenRequest[] = [];
  const problems: string[] = [];
  let trouble: Trouble | undefined;
  const answerTo = (request: SeenRequest): StandInAnswer => {
    const wrong: string[] = [];
    const must: Must = (holds, what) => {
      if (!holds) wrong.push(what);
    };
    const answer = standIn.handle(request, must, seen);
    seen.push(request);
    if (wrong.length > 0) {
      problems.push(...wrong.map((what) => `${request.method} ${request.path}: ${what}`));
      return { status: 400, json: { error: wrong.join('; ') } };
    }
    const instead = trouble === undefined ? undefined : standIn.troubles[trouble];
    return (typeof instead === 'function' ? instead(request) : instead) ?? answer;
  };
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { status, headers = {}, json, text = '' } = answerTo(await readRequest(request));
      const body = json === undefined ? text : JSON.stringify(json);
      const type = json === undefined ? 'text/plain' : 'application/json';
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    };
    answer().catch((error: unknown) => {
      problems.push(`the stand-in failed: ${String(error)}`);
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { baseUrl: `http://127.0.0.1:${port}`, seen, problems, meet: (next) => (trouble = next) };
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const bytes = await buffer(request);
  const text = bytes.toString('utf8');
  const at = (request.url ?? '/').indexOf('?');
  const path = at < 0 ? (request.url ?? '/') : (request.url ?? '/').slice(0, at);
  return {
    method: request.method ?? '',
    path,
    query: new URLSearchParams(at < 0 ? '' : (request.url ?? '').slice(at + 1)),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    text,
    bytes,
    json: parsed(text),
    form: new URLSearchParams(text),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
