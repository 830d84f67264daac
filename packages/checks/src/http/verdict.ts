import { type Failure, failed } from '../net/failure.ts';
import { decodeBody, textOf } from './body.ts';
import { judgeJson } from './json-query.ts';
import { type Keyword, occurs, searchable, shown } from './keyword.ts';
import type { Progress } from './outcome.ts';
import type { ResponseHead, ResponseParser } from './response-parser.ts';
import { type HttpSettings, type StatusExpectation, statusExpected } from './settings.ts';

/** Judges a complete answer: its status first, then its body. */
export function judgeResponse(progress: Progress, settings: HttpSettings): Failure | undefined {
  const { head, parser } = progress;
  if (head === undefined || parser === undefined)
    return failed('http_protocol', 'The server did not answer with HTTP.');
  if (!statusExpected(head.status, settings.expected_status)) {
    const said = `${head.status} ${head.statusText}`.trim().slice(0, 200);
    return failed('http_status', `The server answered ${said}; expected is ${listed(settings.expected_status)}.`);
  }
  return judgeManner(progress, head, parser, settings) ?? judgeBody(head, parser, settings);
}

/** How the answer came: where from, in which version, how large. */
function judgeManner(
  progress: Progress,
  head: ResponseHead,
  parser: ResponseParser,
  settings: HttpSettings,
): Failure | undefined {
  const { expected_final_url: finalUrl, expected_http_version: version } = settings;
  const { min_body_bytes: least, max_body_bytes: most } = settings;
  if (finalUrl !== undefined) {
    const url = progress.url.href;
    const wanted = typeof finalUrl === 'string' && URL.canParse(finalUrl) ? new URL(finalUrl).href : finalUrl;
    if (typeof wanted === 'string' ? url !== wanted : !occurs(wanted, url))
      return failed('http_final_url', `The redirects led to ${url.slice(0, 300)}; expected is ${shown(finalUrl)}.`);
  }
  if (version !== undefined && head.httpVersion !== version)
    return failed('http_version', `The server answered in HTTP/${head.httpVersion}; expected is HTTP/${version}.`);
  if (least !== undefined && parser.bodyBytes < least)
    return failed('http_body_size', `The body has ${parser.bodyBytes} bytes; expected are at least ${least}.`);
  if (most !== undefined && (parser.truncated || parser.bodyBytes > most)) {
    const size = parser.truncated ? 'more than 1 MiB' : `${parser.bodyBytes} bytes`;
    return failed('http_body_size', `The body has ${size}; expected are at most ${most} bytes.`);
  }
  return undefined;
}

/** Whether the whole body is needed for the verdict. */
export function looksIntoBody(settings: HttpSettings): boolean {
  return settings.keyword !== undefined || settings.keyword_absent !== undefined || settings.json_query !== undefined;
}

function judgeBody(head: ResponseHead, parser: ResponseParser, settings: HttpSettings): Failure | undefined {
  const { keyword, keyword_absent: absent, json_query: query } = settings;
  if (!looksIntoBody(settings)) return undefined;
  const decoded = decodeBody(head, parser.body);
  if (!decoded.ok) {
    if (decoded.problem === 'too_large')
      return failed('http_too_large', 'The body is larger than 4 MiB when inflated.');
    return failed('http_protocol', `The body cannot be decoded (Content-Encoding ${decoded.detail}).`);
  }
  const text = textOf(head, decoded.bytes);
  const failure = judgeText(text, parser.truncated, keyword, absent);
  if (failure !== undefined || query === undefined) return failure;
  if (parser.truncated) return failed('http_too_large', 'The body is larger than 1 MiB, too large to be read as JSON.');
  return judgeJson(text, query);
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

function listed(expected: StatusExpectation): string {
  return expected.slice(0, 10).join(', ');
}
