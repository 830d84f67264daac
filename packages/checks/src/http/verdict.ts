import type { CheckContext } from '../check.ts';
import type { CheckOutcome, Evidence, Phases } from '../outcome.ts';
import { certificateEvidence, daysLeft, type PeerFacts } from '../net/certificate.ts';
import type { Endpoint } from '../net/dial.ts';
import { type Failure, failed } from '../net/failure.ts';
import { decodeBody, textOf } from './body.ts';
import { type Keyword, occurs, searchable, shown } from './keyword.ts';
import type { ResponseHead, ResponseParser } from './response-parser.ts';
import { createRedactor } from './secrets.ts';
import { type HttpSettings, type StatusExpectation, statusExpected } from './settings.ts';

/** What a check has seen so far. Filled while it runs, read when it ends. Times are whole microseconds. */
export type Progress = {
  readonly startedAt: number;
  readonly phases: { -readonly [Phase in keyof Phases]: number };
  url: URL;
  redirects: number;
  endpoint?: Endpoint | undefined;
  head?: ResponseHead | undefined;
  parser?: ResponseParser | undefined;
  peer?: PeerFacts | undefined;
  /** The earliest end of a certificate on the way, milliseconds since 1970. */
  soonestEnd?: number;
};

/** Bytes of a bad answer's body that are kept to be shown, before they are inflated, redacted and cut to 4 KiB. */
export const evidenceBytes = 16 * 1024;
const shownBytes = 4 * 1024;
/** Largest headers that are kept beside a result, in characters. */
const shownHeaders = 64 * 1024;

/** Judges a complete answer: its status first, then its body. */
export function judgeResponse(progress: Progress, settings: HttpSettings): Failure | undefined {
  const { head, parser } = progress;
  if (head === undefined || parser === undefined)
    return failed('http_protocol', 'The server did not answer with HTTP.');
  if (!statusExpected(head.status, settings.expected_status)) {
    const said = `${head.status} ${head.statusText}`.trim().slice(0, 200);
    return failed('http_status', `The server answered ${said}; expected is ${listed(settings.expected_status)}.`);
  }
  const { keyword, keyword_absent: absent } = settings;
  if (keyword === undefined && absent === undefined) return undefined;
  const decoded = decodeBody(head, parser.body);
  if (!decoded.ok) {
    if (decoded.problem === 'too_large')
      return failed('http_too_large', 'The body is larger than 4 MiB when inflated.');
    return failed('http_protocol', `The body cannot be decoded (Content-Encoding ${decoded.detail}).`);
  }
  return judgeText(textOf(head, decoded.bytes), parser.truncated, keyword, absent);
}

function judgeText(text: string, truncated: boolean, keyword?: Keyword, absent?: Keyword): Failure | undefined {
  if (keyword !== undefined && !occurs(keyword, text)) {
    const cut = cutFor(keyword, text, truncated);
    if (cut !== undefined)
      return failed('http_too_large', `${shown(keyword)} does not occur in the first ${cut} of the body.`);
    return failed('keyword_missing', `${shown(keyword)} does not occur in the body.`);
  }
  if (absent === undefined) return undefined;
  if (occurs(absent, text)) return failed('keyword_present', `${shown(absent)} occurs in the body.`);
  const cut = cutFor(absent, text, truncated);
  if (cut === undefined) return undefined;
  return failed(
    'http_too_large',
    `The body is longer than the first ${cut} in which ${shown(absent)} could be ruled out.`,
  );
}

/** How much of a longer body could be searched; undefined when all of it was. */
function cutFor(keyword: Keyword, text: string, truncated: boolean): string | undefined {
  if (text.length > searchable(keyword)) return `${searchable(keyword)} characters`;
  return truncated ? '1 MiB' : undefined;
}

/** The outcome of a check with its times and, unless all is well, what a person needs to understand it. */
export function outcomeOf(
  progress: Progress,
  failure: Failure | undefined,
  settings: HttpSettings,
  context: CheckContext,
): CheckOutcome {
  const total = Math.round((context.clock() - progress.startedAt) * 1000);
  const verdict = failure ?? expiryWarning(progress, settings, context);
  const base = { outcome: verdict?.outcome ?? 'ok', total, phases: progress.phases } as const;
  if (verdict === undefined)
    return context.trace ? { ...base, evidence: evidenceOf(progress, settings, context) } : base;
  const message = createRedactor(settings).text(verdict.message);
  return {
    ...base,
    source: verdict.source,
    code: verdict.code,
    message,
    evidence: evidenceOf(progress, settings, context),
  };
}

function expiryWarning(progress: Progress, settings: HttpSettings, context: CheckContext): Failure | undefined {
  const { soonestEnd } = progress;
  if (soonestEnd === undefined || !settings.verify_tls || settings.warn_days_before_expiry === 0) return undefined;
  const days = daysLeft(soonestEnd, (context.wallClock ?? Date.now)());
  if (days >= settings.warn_days_before_expiry) return undefined;
  const message = `The certificate ends in ${days} days, on ${new Date(soonestEnd).toISOString().slice(0, 10)}.`;
  return { outcome: 'warn', source: 'target', code: 'tls_expires_soon', message };
}

function evidenceOf(progress: Progress, settings: HttpSettings, context: CheckContext): Evidence {
  const { endpoint, head, parser, peer } = progress;
  const redactor = createRedactor(settings);
  const certificate = peer && certificateEvidence(peer, (context.wallClock ?? Date.now)());
  const body = head && parser && bodyEvidence(head, parser, redactor.text);
  return {
    ...(endpoint && { address: endpoint.address, port: endpoint.port }),
    ...(head && {
      status: head.status,
      status_text: redactor.text(head.statusText.slice(0, 500)),
      http_version: head.httpVersion,
      headers: bounded(redactor.headers(head.headers)),
    }),
    ...(body && { body }),
    ...(progress.redirects > 0 && {
      final_url: redactor.text(progress.url.href.slice(0, 2048)),
      redirects: progress.redirects,
    }),
    ...(certificate && { certificate }),
  };
}

/** Secrets are taken out before the text is cut, so that no part of one stands at the end. */
function bodyEvidence(head: ResponseHead, parser: ResponseParser, redact: (text: string) => string): string {
  const decoded = decodeBody(head, parser.body.subarray(0, evidenceBytes));
  if (!decoded.ok) return '';
  const text = redact(textOf(head, decoded.bytes.subarray(0, evidenceBytes)));
  const cut = Buffer.from(text.replaceAll('\0', '\ufffd')).subarray(0, shownBytes).toString('utf8');
  return cut.replace(/\ufffd$/, '');
}

function bounded(headers: ReadonlyArray<readonly [string, string]>): ReadonlyArray<readonly [string, string]> {
  let room = shownHeaders;
  return headers.filter(([name, value]) => (room -= name.length + value.length) >= 0);
}

function listed(expected: StatusExpectation): string {
  return expected.slice(0, 10).join(', ');
}
