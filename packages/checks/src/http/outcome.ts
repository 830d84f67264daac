import type { CheckContext, CheckResult } from '../check.ts';
import type { Facts } from '../facts.ts';
import { certificateEvidence, daysLeft, type PeerFacts } from '../net/certificate.ts';
import type { Endpoint } from '../net/dial.ts';
import type { Failure } from '../net/failure.ts';
import type { Evidence, Phases } from '../outcome.ts';
import { decodeBody, textOf } from './body.ts';
import type { ResponseHead, ResponseParser } from './response-parser.ts';
import { createRedactor, type SecretSettings } from './secrets.ts';

/** What a check has seen so far. Filled while it runs, read when it ends. Times are whole microseconds. */
export type Progress = {
  startedAt: number;
  phases: { -readonly [Phase in keyof Phases]: number };
  url: URL;
  redirects: number;
  endpoint?: Endpoint | undefined;
  head?: ResponseHead | undefined;
  parser?: ResponseParser | undefined;
  peer?: PeerFacts | undefined;
  /** The earliest end of a certificate on the way, milliseconds since 1970. */
  soonestEnd?: number;
  /** Secrets that came up on the way: tokens, answers to challenges. */
  readonly obtained: string[];
};

/** Adds to a phase what one more step of it took. */
export function addPhase(
  progress: Pick<Progress, 'phases'>,
  phase: keyof Progress['phases'],
  durationUs: number | undefined,
): void {
  if (durationUs !== undefined) progress.phases[phase] = (progress.phases[phase] ?? 0) + durationUs;
}

/** Bytes of a bad answer's body that are kept to be shown, before they are inflated, redacted and cut to 4 KiB. */
export const evidenceBytes = 16 * 1024;
const shownBytes = 4 * 1024;
/** Largest headers that are kept beside a result, in characters. */
const shownHeaders = 64 * 1024;

/** What the outcome needs to know of the settings. */
export type OutcomeSettings = SecretSettings & {
  readonly verify_tls: boolean;
  readonly warn_days_before_expiry: number;
};

/** What a check type adds to what every check over HTTP says. Texts are redacted by whoever gives them. */
export type More = {
  /** When the verdict was there, on the context's clock; absent: now. */
  readonly endedAt?: number;
  readonly evidence?: Evidence;
  readonly facts?: Facts;
};

/** The outcome of a check with its times and, unless all is well, what a person needs to understand it. */
export function outcomeOf(
  progress: Progress,
  failure: Failure | undefined,
  settings: OutcomeSettings,
  context: CheckContext,
  more: More = {},
): CheckResult {
  const total = Math.round(((more.endedAt ?? context.clock()) - progress.startedAt) * 1000);
  const verdict = failure ?? expiryWarning(progress, settings, context);
  const base = { outcome: verdict?.outcome ?? 'ok', total, phases: progress.phases } as const;
  const { trace, wanted } = context;
  if (verdict === undefined && trace === undefined && wanted === undefined) return base;
  return {
    ...base,
    ...(verdict && {
      source: verdict.source,
      code: verdict.code,
      message: createRedactor(settings, progress.obtained).text(verdict.message),
    }),
    evidence: { ...evidenceOf(progress, settings, context), ...more.evidence },
    ...(wanted && { facts: { ...factsOf(progress, context), ...more.facts } }),
  };
}

/**
 * What assertions look at: what the server sent, the settings' secrets included, which go out of the sentence of a failed one. What came
 * up on the way is not known there and taken out here.
 */
function factsOf(progress: Progress, context: CheckContext): Facts {
  const { head, parser, url, redirects, soonestEnd } = progress;
  const { text } = createRedactor({ secret_headers: {} }, progress.obtained);
  const decoded = head && parser && context.wanted?.has('body') ? decodeBody(head, parser.body) : undefined;
  return {
    finalUrl: text(url.href),
    redirects,
    ...(head && {
      status: head.status,
      headers: head.headers.map(([name, value]) => [name, text(value)] as const),
      version: head.httpVersion,
    }),
    ...(parser && { bodyBytes: parser.bodyBytes, bodyTruncated: parser.truncated }),
    ...(head && decoded?.ok === true && { body: text(textOf(head, decoded.bytes)) }),
    ...(soonestEnd !== undefined && { certificateDays: daysLeft(soonestEnd, (context.wallClock ?? Date.now)()) }),
  };
}

function expiryWarning(progress: Progress, settings: OutcomeSettings, context: CheckContext): Failure | undefined {
  const { soonestEnd } = progress;
  if (soonestEnd === undefined || !settings.verify_tls || settings.warn_days_before_expiry === 0) return undefined;
  const days = daysLeft(soonestEnd, (context.wallClock ?? Date.now)());
  if (days >= settings.warn_days_before_expiry) return undefined;
  const message = `The certificate ends in ${days} days, on ${new Date(soonestEnd).toISOString().slice(0, 10)}.`;
  return { outcome: 'warn', source: 'target', code: 'tls_expires_soon', message };
}

function evidenceOf(progress: Progress, settings: OutcomeSettings, context: CheckContext): Evidence {
  const { endpoint, head, parser, peer } = progress;
  const redactor = createRedactor(settings, progress.obtained);
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
