import type { CheckContext, CheckType, Target } from './check.ts';
import { Exchange, type Exchanged } from './http/exchange.ts';
import { headerOf } from './http/body.ts';
import { isRedirect, maxRedirects, nextHop, type Hop, writeRequest, type WireRequest } from './http/request.ts';
import { defaultLimits, ResponseParser } from './http/response-parser.ts';
import { createRedactor } from './http/secrets.ts';
import { httpSettings, type HttpSettings, statusExpected } from './http/settings.ts';
import { evidenceBytes, judgeResponse, outcomeOf, type Progress } from './http/verdict.ts';
import { locate, locateAddress } from './net/dial.ts';
import { type Failure, failed } from './net/failure.ts';
import { parseHost } from './net/host.ts';
import { openTls } from './net/tls.ts';

const maxUrlLength = 2048;

/** Web pages and interfaces over HTTP/1.1, on a fresh connection for every check. */
export const http = webCheck('http', 'A web page or API: status, keyword, redirects, timings', ['http:', 'https:']);
/** The same, and the target must use TLS. */
export const https = webCheck('https', 'A web page or API over TLS, with the certificate verified', ['https:']);

function webCheck<Name extends 'http' | 'https'>(type: Name, summary: string, schemes: readonly string[]) {
  return {
    type,
    summary,
    settings: httpSettings,
    secretFields: ['password', 'bearer_token', 'secret_headers'],
    requires: [],
    cheap: true,
    validateTarget: (target) => {
      const url = readUrl(target, type);
      return typeof url === 'string' ? url : schemeProblem(url, schemes);
    },
    run: (target, settings, context) => runHttp(prepare(target, settings, context.userAgent, type), settings, context),
  } satisfies CheckType<Name, typeof httpSettings>;
}

/** The address of a target; a missing scheme is that of the protocol. Gives a sentence when it cannot be checked. */
function readUrl(target: Target, protocol: 'http' | 'https'): URL | string {
  const text = target.url.trim();
  if (text.length > maxUrlLength) return `A URL has at most ${maxUrlLength} characters.`;
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${protocol}://${text}`);
  } catch {
    return `"${text.slice(0, 100)}" is not a URL such as ${protocol}://example.com/health.`;
  }
  if (url.username !== '' || url.password !== '') {
    return 'A user name or password does not belong in the URL; use the settings username and password.';
  }
  const host = parseHost(url.hostname);
  if (host.kind === 'invalid') return host.reason;
  url.hash = '';
  return url;
}

function schemeProblem(url: URL, schemes: readonly string[]): string | undefined {
  if (schemes.includes(url.protocol)) return undefined;
  return `This protocol takes URLs that begin with ${schemes.map((each) => `${each}//`).join(' or ')}.`;
}

type Prepared = {
  readonly target: string;
  readonly userAgent: string;
  readonly protocol: string;
  readonly hop: Hop;
  readonly request: WireRequest;
};
/** The first request of a monitor does not change between its checks, so it is written once per settings object. */
const prepared = new WeakMap<HttpSettings, Prepared>();

function prepare(target: Target, settings: HttpSettings, userAgent: string, protocol: 'http' | 'https'): Prepared {
  const known = prepared.get(settings);
  if (known?.target === target.url && known.userAgent === userAgent && known.protocol === protocol) return known;
  const url = readUrl(target, protocol);
  if (typeof url === 'string') throw new Error(`The target was not validated: ${url}`);
  const hop: Hop = { url, method: settings.method, trusted: true, withBody: settings.body !== undefined };
  const made = { target: target.url, userAgent, protocol, hop, request: writeRequest(hop, settings, userAgent) };
  prepared.set(settings, made);
  return made;
}

async function runHttp(first: Prepared, settings: HttpSettings, context: CheckContext) {
  const progress: Progress = { startedAt: context.clock(), phases: {}, redirects: 0, url: first.hop.url };
  const failure = await follow(first, settings, context, progress);
  return outcomeOf(progress, failure, settings, context);
}

/** Walks the redirects, at most five, each address judged anew. Gives the failure, or undefined when all is well. */
async function follow(
  first: Prepared,
  settings: HttpSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  let { hop, request } = first;
  for (;;) {
    progress.url = hop.url;
    const failure = await visit(hop, request, settings, context, progress);
    if (failure !== undefined) return failure;
    const { head } = progress;
    const next =
      head && settings.follow_redirects && isRedirect(head.status)
        ? nextHop(hop, head.status, headerOf(head, 'location'))
        : undefined;
    if (next === undefined) return judgeResponse(progress, settings);
    if (typeof next === 'string') return failed('http_redirect', next);
    if (progress.redirects >= maxRedirects) return failed('http_redirect', `More than ${maxRedirects} redirects.`);
    progress.redirects += 1;
    context.trace?.('redirect', createRedactor(settings).text(next.url.href));
    hop = next;
    request = writeRequest(hop, settings, context.userAgent);
  }
}

/** One request on one connection. What was seen goes into `progress`, times are added up over the hops. */
async function visit(
  hop: Hop,
  request: WireRequest,
  settings: HttpSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  const { url } = hop;
  const secure = url.protocol === 'https:';
  const host = bareHost(url);
  progress.head = undefined;
  progress.parser = undefined;
  const port = Number(url.port || (secure ? 443 : 80));
  const family = { family: settings.ip_version };
  const located = locateAddress(host, port, context, family) ?? (await locate(host, port, context, family));
  progress.endpoint = located.endpoint;
  add(progress, 'dns', located.dnsUs);
  if (!located.ok) return located.failure;

  const parser = new ResponseParser(request.method, defaultLimits, (head) => {
    if (settings.follow_redirects && isRedirect(head.status) && headerOf(head, 'location') !== undefined)
      parser.skipBody();
    else if (settings.keyword !== undefined || settings.keyword_absent !== undefined)
      parser.keepBytes = defaultLimits.maxBodyBytes;
    else if (!statusExpected(head.status, settings.expected_status)) parser.keepBytes = evidenceBytes;
  });
  const exchange = new Exchange(parser, context);
  let exchanging: Promise<Exchanged>;
  if (secure) {
    const options = { host, verify: settings.verify_tls, alpn, onread: exchange.onread };
    const trusted = { caCertificates: settings.ca_certificates };
    const opened = await openTls(located.endpoint, { ...options, context: trusted }, context);
    add(progress, 'connect', opened.connectUs);
    add(progress, 'tls', opened.tlsUs);
    progress.peer = opened.peer;
    if (opened.peer !== undefined)
      progress.soonestEnd = Math.min(progress.soonestEnd ?? Infinity, opened.peer.notAfter);
    if (!opened.ok) return opened.failure;
    exchanging = exchange.over(opened.socket, request);
  } else exchanging = exchange.open(located.endpoint, request);
  const exchanged = await exchanging;
  add(progress, 'connect', exchanged.connectUs);
  progress.head = parser.head;
  progress.parser = parser;
  add(progress, 'first_byte', exchanged.firstByteUs);
  add(progress, 'transfer', exchanged.transferUs);
  if (parser.head !== undefined) context.trace?.('answer', `${parser.head.status}, ${parser.bodyBytes} bytes of body`);
  return exchanged.failure;
}

const alpn = ['http/1.1'];

/** Without brackets, as sockets and certificates want it. */
function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function add(progress: Progress, phase: keyof Progress['phases'], durationUs: number | undefined): void {
  if (durationUs !== undefined) progress.phases[phase] = (progress.phases[phase] ?? 0) + durationUs;
}
