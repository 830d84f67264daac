import type { CheckContext, CheckResult, CheckType, Target } from './check.ts';
import { ask } from './http/ask.ts';
import { headerOf } from './http/body.ts';
import { type Credentials, credentialsFor } from './http/credentials.ts';
import { evidenceBytes, outcomeOf, type Progress } from './http/outcome.ts';
import { isRedirect, nextHop, type Hop, writeRequest, type WireRequest } from './http/request.ts';
import { defaultLimits, ResponseParser } from './http/response-parser.ts';
import { createRedactor } from './http/secrets.ts';
import { httpSettings, type HttpSettings, statusExpected } from './http/settings.ts';
import { readUrl } from './http/target.ts';
import { judgeResponse, looksIntoBody } from './http/verdict.ts';
import { type Failure, failed } from './net/failure.ts';

const both = ['http:', 'https:'];
const secureOnly = ['https:'];

/** Web pages and interfaces over HTTP/1.1, on a fresh connection for every check. */
export const http = webCheck('http', 'A web page or API: status, keyword, redirects, timings', both);
/** The same, and the target must use TLS. */
export const https = webCheck('https', 'A web page or API over TLS, with the certificate verified', secureOnly);

function webCheck<Name extends 'http' | 'https'>(type: Name, summary: string, schemes: readonly string[]) {
  return {
    type,
    summary,
    reference: {
      targets: [`${type}://www.example.com/health`],
      settings: { keyword: 'Welcome' },
      phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
      details: {},
    },
    settings: httpSettings,
    secretFields: ['password', 'bearer_token', 'secret_headers', 'client_secret', 'client_key'],
    requires: [],
    cheap: true,
    validateTarget: (target) => {
      const url = readUrl(target, type, schemes);
      return typeof url === 'string' ? url : undefined;
    },
    run: (target, settings, context) => runHttp(prepare(target, settings, context.userAgent, type), settings, context),
  } satisfies CheckType<Name, ReturnType<typeof httpSettings>>;
}

type Prepared = {
  readonly settings: HttpSettings;
  readonly userAgent: string;
  readonly protocol: string;
  readonly hop: Hop;
  readonly request: WireRequest;
};
/** The first request of a monitor does not change between its checks, so it is written once for each target object. */
const prepared = new WeakMap<Target, Prepared>();

function prepare(target: Target, settings: HttpSettings, userAgent: string, protocol: 'http' | 'https'): Prepared {
  const known = prepared.get(target);
  if (known?.settings === settings && known.userAgent === userAgent && known.protocol === protocol) return known;
  const url = readUrl(target, protocol, both);
  if (typeof url === 'string') throw new Error(`The target was not validated: ${url}`);
  const hop: Hop = { url, method: settings.method, trusted: true, withBody: settings.body !== undefined };
  const made = { settings, userAgent, protocol, hop, request: writeRequest(hop, settings, userAgent) };
  prepared.set(target, made);
  return made;
}

function runHttp(first: Prepared, settings: HttpSettings, context: CheckContext): Promise<CheckResult> {
  const progress: Progress = { startedAt: context.clock(), phases: {}, redirects: 0, url: first.hop.url, obtained: [] };
  const credentials = credentialsFor(settings, context, progress);
  const conclude = (failure: Failure | undefined) => outcomeOf(progress, failure, settings, context);
  if (credentials !== undefined) return follow(first, credentials, settings, context, progress).then(conclude);
  // Nearly every check is one request whose answer leads nowhere else: it gets by with one step.
  return visit(first.request, settings, context, progress).then((failure) => {
    if (failure !== undefined || !leadsOn(progress, settings))
      return conclude(failure ?? judgeResponse(progress, settings));
    return follow(first, undefined, settings, context, progress).then(conclude);
  });
}

function leadsOn({ head }: Progress, settings: HttpSettings): boolean {
  return head !== undefined && settings.follow_redirects && isRedirect(head.status);
}

/**
 * Walks the redirects, at most five, each address judged anew. Gives the failure, or undefined when all is well. Without credentials
 * the first answer is in `progress` already.
 */
async function follow(
  first: Prepared,
  credentials: Credentials | undefined,
  settings: HttpSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  let { hop, request } = first;
  let isAnswered = credentials === undefined;
  const write = () => writeRequest(hop, settings, context.userAgent, credentials?.authorization());
  if (credentials !== undefined) {
    const failure = await credentials.begin();
    if (failure !== undefined) return failure;
    request = write();
  }
  for (;;) {
    progress.url = hop.url;
    const failure = isAnswered ? undefined : await visit(request, settings, context, progress, hop.trusted);
    isAnswered = false;
    if (failure !== undefined) return failure;
    const { head } = progress;
    if (credentials !== undefined && hop.trusted && head?.status === 401) {
      const again = await credentials.refused(hop, head);
      if (typeof again === 'object') return again;
      if (again) {
        request = write();
        continue;
      }
    }
    const next =
      head && leadsOn(progress, settings) ? nextHop(hop, head.status, headerOf(head, 'location')) : undefined;
    if (next === undefined) return judgeResponse(progress, settings);
    if (typeof next === 'string') return failed('http_redirect', next);
    if (progress.redirects >= settings.max_redirects)
      return failed('http_redirect', `More than ${settings.max_redirects} redirects.`);
    progress.redirects += 1;
    context.trace?.('redirect', createRedactor(settings, progress.obtained).text(next.url.href));
    hop = next;
    credentials?.moved();
    request = write();
  }
}

/** One request on one connection, keeping as much of the body as will be looked at. */
function visit(
  request: WireRequest,
  settings: HttpSettings,
  context: CheckContext,
  progress: Progress,
  trusted = true,
): Promise<Failure | undefined> {
  const parser: ResponseParser = new ResponseParser(request.method, defaultLimits, (head) => {
    if (settings.follow_redirects && isRedirect(head.status) && headerOf(head, 'location') !== undefined)
      parser.skipBody();
    else if (looksIntoBody(settings) || context.wanted?.has('body') === true)
      parser.keepBytes = defaultLimits.maxBodyBytes;
    else if (!statusExpected(head.status, settings.expected_status)) parser.keepBytes = evidenceBytes;
  });
  return ask(trusted, request, parser, settings, withTrace(settings, context, progress), progress);
}

/** A trace shows no secret that comes up on the way either: a server may send a token back in an address. */
function withTrace(settings: HttpSettings, context: CheckContext, { obtained }: Progress): CheckContext {
  const { trace } = context;
  if (trace === undefined) return context;
  return { ...context, trace: (step, detail) => trace(step, createRedactor(settings, obtained).text(detail)) };
}
