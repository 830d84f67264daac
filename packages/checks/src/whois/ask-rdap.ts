import type { CheckContext } from '../check.ts';
import { ask } from '../http/ask.ts';
import { decodeBody, headerOf } from '../http/body.ts';
import type { Progress as HttpProgress } from '../http/outcome.ts';
import { type Hop, maxRedirects, nextHop, writeRequest } from '../http/request.ts';
import { defaultLimits, ResponseParser } from '../http/response-parser.ts';
import { type Failure, failed } from '../net/failure.ts';
import { type LookedUp, lookedUp, type LookupSettings, notKnown, type Progress } from './lookup.ts';
import { readRdap } from './rdap-json.ts';

const fields = { headers: { Accept: 'application/rdap+json, application/json;q=0.9' }, secret_headers: {} };

/** Asks one RDAP server (RFC 7480, RFC 9082) about a domain. Its redirects are judged like the first address. */
export async function askRdap(
  base: string,
  domain: string,
  settings: LookupSettings,
  context: CheckContext,
  progress: Progress,
): Promise<LookedUp> {
  const first = new URL(`domain/${domain}`, base.endsWith('/') ? base : `${base}/`);
  let hop: Hop = { url: first, method: 'GET', trusted: true, withBody: false };
  for (let redirects = 0; ; redirects += 1) {
    const { host } = hop.url;
    progress.server = host;
    const got = await get(hop, settings, context, progress);
    if ('failure' in got) return notKnown(got.failure);
    const { head, body } = got;
    context.trace?.('rdap', `${host} answered ${head.status}, ${body.length} bytes`);
    const next = nextHop(hop, head.status, headerOf(head, 'location'));
    if (head.status === 404 && /^text\/html\b/i.test(headerOf(head, 'content-type') ?? ''))
      // A web server that has no such page, perhaps since RDAP has moved, is no registry that has no such domain.
      return notKnown(failed('http_status', `${host} answered 404 with a web page instead of RDAP.`));
    if (next === undefined) return judge(head.status, body, domain, host);
    if (typeof next === 'string') return notKnown(failed('http_redirect', `${host} redirects to nowhere: ${next}`));
    if (redirects >= maxRedirects) return notKnown(failed('http_redirect', `More than ${maxRedirects} redirects.`));
    hop = next;
  }
}

function judge(status: number, body: string, domain: string, server: string): LookedUp {
  if (status === 404) return lookedUp({ kind: 'not_found' }, domain, server);
  if (status === 429) return lookedUp({ kind: 'rate_limited' }, domain, server);
  if (status !== 200) return notKnown(failed('http_status', `${server} answered ${status}; expected is 200.`));
  return lookedUp(readRdap(body), domain, server);
}

type Got =
  | { readonly head: NonNullable<ResponseParser['head']>; readonly body: string }
  | { readonly failure: Failure };

async function get(hop: Hop, settings: LookupSettings, context: CheckContext, progress: Progress): Promise<Got> {
  const parser = new ResponseParser('GET');
  parser.keepBytes = defaultLimits.maxBodyBytes;
  const { phases } = progress;
  const seen: HttpProgress = { startedAt: context.clock(), phases, redirects: 0, url: hop.url, obtained: [] };
  const failure = await ask(false, writeRequest(hop, fields, context.userAgent), parser, settings, context, seen);
  progress.endpoint = seen.endpoint;
  if (failure !== undefined) return { failure };
  if (parser.head === undefined) return { failure: failed('http_protocol', 'The server did not answer with HTTP.') };
  const decoded = decodeBody(parser.head, parser.body);
  if (!decoded.ok) return { failure: failed('http_protocol', `${hop.url.host} sent a body that cannot be decoded.`) };
  const body = decoded.bytes.toString('utf8');
  progress.answer = body;
  return { head: parser.head, body };
}
