/** The head of a response. */
export class ResponseHead {
  readonly httpVersion: '1.0' | '1.1';
  readonly status: number;
  readonly statusText: string;
  readonly #text: string;
  #headers: ReadonlyArray<readonly [string, string]> | undefined;

  /** `text` is the whole head, found to be well formed. */
  constructor(httpVersion: '1.0' | '1.1', status: number, statusText: string, text: string) {
    this.httpVersion = httpVersion;
    this.status = status;
    this.statusText = statusText;
    this.#text = text;
  }

  /** Names in lower case, in the order in which they came. Taken apart when they are wanted: most good answers need none of them. */
  get headers(): ReadonlyArray<readonly [string, string]> {
    this.#headers ??= fieldsOf(this.#text);
    return this.#headers;
  }
}

/** What is wrong with a response, as far as HTTP/1.1 is concerned. */
export type ResponseProblem = 'not_http' | 'malformed' | 'headers_too_large' | 'bad_chunk';

export type ParserLimits = {
  /** Bytes of the head, and of interim responses and trailers in all. */
  readonly maxHeadBytes: number;
  /** Bytes of the body that are read before the rest is left alone. */
  readonly maxBodyBytes: number;
};

export const defaultLimits: ParserLimits = { maxHeadBytes: 64 * 1024, maxBodyBytes: 1024 * 1024 };

// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const statusLine = /^HTTP\/(1\.[01]) ([1-9]\d\d)(?: ([^\0-\x08\x0a-\x1f\x7f]*))?$/;
/** All fields and the empty line. No part can match what another could, so the time grows with the length and no faster. */
// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const fieldLines = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\0-\x08\x0a-\x1f\x7f]*\r\n)*\r\n/y;
/** The fields that say how the body ends, in a block of fields that is well formed. */
const framingField = /\n(content-length|transfer-encoding):([^\r]*)/gi;
/** A field that goes on in the next line: out of use, but a client has to read it (RFC 9112, 5.2). */
const foldedLine = /\r\n[\t ]+/g;
const nothing = Buffer.alloc(0);
const lineEnds = Buffer.from('\r\n\r\n', 'latin1');
// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const chunkSize = /^([0-9a-f]{1,13})[ \t]*(?:;[^\0-\x08\x0a-\x1f\x7f]*)?$/i;
const maxInterim = 16;
const maxChunkLine = 4096;

type State = 'head' | 'length' | 'close' | 'chunk_size' | 'chunk_data' | 'chunk_end' | 'trailers' | 'done' | 'broken';

/**
 * Reads one HTTP/1.1 response (RFC 9112) from pieces of any size. Strict: a bare line feed, a space before the colon or contradicting lengths break it. Pieces are not kept: what is needed later is copied, so the caller may reuse its buffer.
 */
export class ResponseParser {
  head: ResponseHead | undefined;
  problem: ResponseProblem | undefined;
  /** Body bytes read so far, after chunked coding is taken off and before content coding is. */
  bodyBytes = 0;
  /** The body is longer than what was read of it. */
  truncated = false;
  /** Bytes of the last piece that lie behind the response. */
  unread = 0;
  /** How many bytes of the body to keep; may be set when the head is there. */
  keepBytes = 0;
  #state: State = 'head';
  #line = '';
  #headBytes = 0;
  #interim = 0;
  #remaining = 0;
  #chunkOverhead = 0;
  #kept = nothing;
  #keptBytes = 0;
  readonly #withoutBody: boolean;
  readonly #limits: ParserLimits;
  readonly #onHead: ((head: ResponseHead) => void) | undefined;
  readonly #upgrades: boolean;

  /** @param upgrades whether another protocol was asked for, so that 101 is an answer and what follows it is not HTTP */
  constructor(
    method: string,
    limits: ParserLimits = defaultLimits,
    onHead?: (head: ResponseHead) => void,
    upgrades = false,
  ) {
    this.#upgrades = upgrades;
    this.#withoutBody = method === 'HEAD';
    this.#limits = limits;
    this.#onHead = onHead;
  }

  /** Nothing more is wanted: the response is complete, cut at the limit, or broken. */
  get finished(): boolean {
    return this.#state === 'done' || this.#state === 'broken';
  }

  /** What was kept of the body. */
  get body(): Buffer {
    return this.#kept.subarray(0, this.#keptBytes);
  }

  /** The body is not wanted: the response counts as complete. For `onHead`. */
  skipBody(): void {
    this.#state = 'done';
  }

  /** Takes the next bytes, of which the first `length` count; ignored once finished. */
  push(bytes: Buffer, length: number = bytes.length): void {
    let at = 0;
    while (at < length && !this.finished) {
      switch (this.#state) {
        case 'head':
          at = this.#takeHead(bytes, at, length);
          break;
        case 'trailers':
          at = this.#takeTrailers(bytes, at, length);
          break;
        case 'chunk_size':
        case 'chunk_end':
          at = this.#takeChunkLine(bytes, at, length);
          break;
        case 'length':
        case 'close':
        case 'chunk_data':
        case 'done':
        case 'broken':
          at = this.#takeBody(bytes, at, length);
      }
    }
    this.unread = length - at;
  }

  /** The other side has ended. Gives whether the response is complete. */
  end(): boolean {
    if (this.#state === 'close') this.#state = 'done';
    return this.#state === 'done';
  }

  #takeHead(bytes: Buffer, from: number, length: number): number {
    const end = this.#endOfLines(bytes, from, length);
    const until = end === -1 ? length : end;
    this.#headBytes += until - from;
    if (this.#headBytes > this.#limits.maxHeadBytes) return this.#break('headers_too_large', length);
    const text = this.#line + bytes.toString('latin1', from, until);
    if (!text.startsWith('HTTP/') && !'HTTP/'.startsWith(text.slice(0, 5))) return this.#break('not_http', length);
    this.#line = end === -1 ? text : '';
    if (end !== -1) this.#readHead(text);
    return until;
  }

  #takeTrailers(bytes: Buffer, from: number, length: number): number {
    // Without trailers one line end follows the last chunk directly.
    if (this.#line === '' && bytes[from] === 0x0d && from + 1 < length && bytes[from + 1] === 0x0a) {
      this.#state = 'done';
      return from + 2;
    }
    const end = this.#endOfLines(bytes, from, length);
    const until = end === -1 ? length : end;
    this.#headBytes += until - from;
    if (this.#headBytes > this.#limits.maxHeadBytes) return this.#break('headers_too_large', length);
    this.#line += bytes.toString('latin1', from, until);
    if (end !== -1 || this.#line === '\r\n') this.#state = 'done';
    return until;
  }

  /** Where the empty line that ends a block of lines ends, or -1. It may lie across two pieces. */
  #endOfLines(bytes: Buffer, from: number, length: number): number {
    const overlap = this.#line === '' ? '' : this.#line.slice(-3);
    if (overlap !== '') {
      const seam = (overlap + bytes.toString('latin1', from, Math.min(length, from + 3))).indexOf('\r\n\r\n');
      if (seam !== -1) return from + seam + 4 - overlap.length;
    }
    const found = bytes.indexOf(lineEnds, from);
    return found === -1 || found + 4 > length ? -1 : found + 4;
  }

  /** Reads a whole head, its empty line included. */
  #readHead(text: string): void {
    const lineEnd = text.indexOf('\r\n');
    const start = statusLine.exec(text.slice(0, lineEnd));
    fieldLines.lastIndex = lineEnd + 2;
    if (start === null) return this.#fail('malformed');
    if (!fieldLines.test(text) || fieldLines.lastIndex !== text.length) {
      const unfolded = text.slice(0, lineEnd + 2) + text.slice(lineEnd + 2).replace(foldedLine, ' ');
      return unfolded === text ? this.#fail('malformed') : this.#readHead(unfolded);
    }
    const status = Number(start[2]);
    if (status < 200 && !(status === 101 && this.#upgrades)) {
      this.#interim += 1;
      if (status === 101 || this.#interim > maxInterim) this.#fail('malformed');
      return;
    }
    const head = new ResponseHead(start[1] === '1.0' ? '1.0' : '1.1', status, start[3] ?? '', text);
    this.#state = this.#framing(status, text);
    if (this.#state === 'broken') return this.#fail('malformed');
    this.head = head;
    this.#onHead?.(head);
  }

  /** How the body ends (RFC 9112, 6.3). */
  #framing(status: number, text: string): State {
    if (this.#withoutBody || status === 101 || status === 204 || status === 304) return 'done';
    let length: string | undefined;
    let coding: string | undefined;
    framingField.lastIndex = 0;
    for (let field = framingField.exec(text); field !== null; field = framingField.exec(text)) {
      const value = trimmed(field[2] ?? '');
      if (field[1]?.length === 'transfer-encoding'.length)
        coding = coding === undefined ? value : `${coding}, ${value}`;
      else {
        if (!/^\d{1,15}$/.test(value) || (length !== undefined && length !== value)) return 'broken';
        length = value;
      }
    }
    if (coding !== undefined) return coding.toLowerCase() === 'chunked' ? 'chunk_size' : 'broken';
    if (length === undefined) return 'close';
    this.#remaining = Number(length);
    return this.#remaining === 0 ? 'done' : 'length';
  }

  #takeChunkLine(bytes: Buffer, from: number, length: number): number {
    const anywhere = bytes.indexOf(0x0a, from);
    const found = anywhere < length ? anywhere : -1;
    const until = found === -1 ? length : found + 1;
    this.#line += bytes.toString('latin1', from, until);
    this.#chunkOverhead += until - from;
    if (this.#line.length > maxChunkLine || this.#chunkOverhead > this.#limits.maxBodyBytes)
      return this.#break('bad_chunk', length);
    if (found === -1) return until;
    const line = this.#line;
    this.#line = '';
    if (!line.endsWith('\r\n')) return this.#break('bad_chunk', length);
    if (this.#state === 'chunk_end') {
      if (line !== '\r\n') return this.#break('bad_chunk', length);
      this.#state = 'chunk_size';
      return until;
    }
    const size = chunkSize.exec(line.slice(0, -2));
    if (size?.[1] === undefined) return this.#break('bad_chunk', length);
    this.#remaining = Number.parseInt(size[1], 16);
    this.#state = this.#remaining === 0 ? 'trailers' : 'chunk_data';
    return until;
  }

  #takeBody(bytes: Buffer, from: number, length: number): number {
    const room = this.#limits.maxBodyBytes - this.bodyBytes;
    const offered = length - from;
    const wanted = this.#state === 'close' ? offered : Math.min(offered, this.#remaining);
    const taken = Math.min(wanted, room);
    this.#keep(bytes, from, taken);
    this.bodyBytes += taken;
    if (taken < wanted || (taken === room && this.#state !== 'close' && this.#remaining > taken)) {
      this.truncated = true;
      this.#state = 'done';
      return length;
    }
    if (this.#state === 'close') return from + taken;
    this.#remaining -= taken;
    if (this.#remaining === 0) this.#state = this.#state === 'length' ? 'done' : 'chunk_end';
    return from + taken;
  }

  #keep(bytes: Buffer, from: number, count: number): void {
    const wanted = Math.min(count, this.keepBytes - this.#keptBytes);
    if (wanted <= 0) return;
    const needed = this.#keptBytes + wanted;
    if (needed > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.min(Math.max(needed, this.#kept.length * 2), this.keepBytes));
      this.#kept.copy(grown, 0, 0, this.#keptBytes);
      this.#kept = grown;
    }
    bytes.copy(this.#kept, this.#keptBytes, from, from + wanted);
    this.#keptBytes = needed;
  }

  #break(problem: ResponseProblem, length: number): number {
    this.#fail(problem);
    return length;
  }

  #fail(problem: ResponseProblem): void {
    this.problem = problem;
    this.#state = 'broken';
  }
}

/** The fields of a head that is well formed. */
function fieldsOf(text: string): ReadonlyArray<readonly [string, string]> {
  const lines = text.split('\r\n').slice(1, -2);
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), trimmed(line.slice(colon + 1))];
  });
}

/** Without spaces and tabs around it. */
function trimmed(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isBlank(value.charCodeAt(from))) from += 1;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to -= 1;
  return value.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
