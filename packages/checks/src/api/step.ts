import { evaluate, verdictsOf } from '../assertions/evaluate.ts';
import { leavesOf } from '../assertions/settings.ts';
import type { CheckContext } from '../check.ts';
import type { Known } from '../facts.ts';
import { ask } from '../http/ask.ts';
import { decodeBody, headerOf, textOf } from '../http/body.ts';
import type { Progress } from '../http/outcome.ts';
import { isRedirect, maxRedirects, nextHop, type WireRequest, writeRequest } from '../http/request.ts';
import { defaultLimits, ResponseParser } from '../http/response-parser.ts';
import { daysLeft } from '../net/certificate.ts';
import { type Failure, failed } from '../net/failure.ts';
import { outcomeOfSeverity } from '../run/plan.ts';
import type { CheckOutcome } from '../outcome.ts';
import type { CookieJar } from './cookies.ts';
import type { Answer } from './extract.ts';
import type { WrittenStep } from './request.ts';
import type { Step } from './settings.ts';
import { verdictsTrace, writeVerdicts } from './told.ts';

/** A verdict that may also be `slow`, which an assertion can ask for. */
export type Verdict = Omit<Failure, 'outcome'> & { readonly outcome: Failure['outcome'] | 'slow' };

/**
 * Asks for a step and walks its redirects, at most five, each address judged anew and each connection fresh. What was seen goes into
 * `progress`, cookies into the jar. Gives the failure, or undefined when there is an answer.
 */
export async function askStep(
  { hop: first, request }: WrittenStep,
  step: Step,
  caCertificates: string | undefined,
  jar: CookieJar,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  const trust = { verify_tls: step.verify_tls, ca_certificates: caCertificates };
  const ownCookie = Object.keys(request.headers).some((name) => name.toLowerCase() === 'cookie');
  let hop = first;
  for (;;) {
    progress.url = hop.url;
    const cookies = hop.trusted && ownCookie ? undefined : jar.fieldFor(hop.url);
    const wire = withCookies(writeRequest(hop, request, context.userAgent), cookies);
    const parser: ResponseParser = new ResponseParser(hop.method, defaultLimits, (head) => {
      if (step.follow_redirects && isRedirect(head.status) && headerOf(head, 'location') !== undefined)
        parser.skipBody();
      else parser.keepBytes = defaultLimits.maxBodyBytes;
    });
    const failure = await ask(hop.trusted, wire, parser, trust, context, progress);
    if (failure !== undefined) return failure;
    const { head } = progress;
    if (head === undefined) return failed('http_protocol', 'The server did not answer with HTTP.');
    const fields = head.headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
    jar.take(hop.url, fields, (context.wallClock ?? Date.now)());
    if (!step.follow_redirects) return undefined;
    const next = nextHop(hop, head.status, headerOf(head, 'location'));
    if (next === undefined) return undefined;
    if (typeof next === 'string') return failed('http_redirect', next);
    if (progress.redirects >= maxRedirects) return failed('http_redirect', `More than ${maxRedirects} redirects.`);
    progress.redirects += 1;
    context.trace?.('redirect', next.url.href);
    hop = next;
  }
}

/** The Cookie field goes wherever its cookies belong, also where nothing else of the customer's goes. */
function withCookies(request: WireRequest, cookies: string | undefined): WireRequest {
  if (cookies === undefined) return request;
  return { ...request, isPublic: false, head: request.head.replace('\r\n', () => `\r\nCookie: ${cookies}\r\n`) };
}

/** The answer with its body as text; a failure where the body cannot be decoded. */
export function answerOf({ head, parser, url }: Progress): Answer | Failure {
  if (head === undefined || parser === undefined)
    return failed('http_protocol', 'The server did not answer with HTTP.');
  const decoded = decodeBody(head, parser.body);
  if (!decoded.ok && decoded.problem === 'too_large')
    return failed('http_too_large', 'The body is larger than 4 MiB when inflated.');
  return {
    url,
    status: head.status,
    headers: head.headers,
    body: decoded.ok ? textOf(head, decoded.bytes) : undefined,
    bodyTruncated: parser.truncated,
  };
}

/** Judges an answer by the step's assertions, and by its status where they leave that alone. */
export function judgeStep(
  { assertions }: Step,
  answer: Answer,
  progress: Progress,
  run: Pick<CheckOutcome, 'total' | 'phases'>,
  context: CheckContext,
  redact: (text: string) => string,
): Verdict | undefined {
  const judgesStatus = assertions !== undefined && leavesOf(assertions).some(({ subject }) => subject === 'status');
  if (!judgesStatus && (answer.status < 200 || answer.status > 399)) {
    const said = `${answer.status} ${progress.head?.statusText ?? ''}`.trim().slice(0, 100);
    return failed('http_status', `The server answered ${said}; expected is 200-399.`);
  }
  if (assertions === undefined) return undefined;
  const known = knownOf(answer, progress, run, context);
  if (context.trace !== undefined) context.trace(verdictsTrace, writeVerdicts(verdictsOf(assertions, known)));
  const breach = evaluate(assertions, known, redact);
  if (breach === undefined) return undefined;
  const outcome = outcomeOfSeverity(breach.severity);
  return { outcome, source: 'target', code: 'assertion_failed', message: breach.message };
}

function knownOf(
  answer: Answer,
  { head, parser, endpoint, redirects, soonestEnd }: Progress,
  { total, phases }: Pick<CheckOutcome, 'total' | 'phases'>,
  context: CheckContext,
): Known {
  return {
    totalUs: total,
    phases,
    status: answer.status,
    headers: answer.headers,
    ...(answer.body !== undefined && { body: answer.body }),
    bodyTruncated: answer.bodyTruncated,
    finalUrl: answer.url.href,
    redirects,
    ...(parser && { bodyBytes: parser.bodyBytes }),
    ...(head && { version: head.httpVersion }),
    ...(endpoint && { address: endpoint.address }),
    ...(soonestEnd !== undefined && { certificateDays: daysLeft(soonestEnd, (context.wallClock ?? Date.now)()) }),
  };
}
