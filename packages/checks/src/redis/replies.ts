import { maxResultBytes } from '../data/expectation.ts';
import { failed } from '../net/failure.ts';
import type { Taken } from '../net/talk.ts';

/** RESP 2, the protocol of Redis: commands are arrays of texts; replies begin with a byte that says their kind. */
export type Reply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'other' };

const maxLine = 8192;

export function command(words: readonly string[]): Buffer {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`, 'utf8');
}

/** Cuts out one reply. Those of the commands of a check are a line or one text. */
export function readReply(received: Buffer): Taken<Reply> {
  const kind = String.fromCharCode(received[0] ?? 0);
  if (!'+-:$*'.includes(kind)) return { failure: foreign() };
  const end = received.subarray(0, maxLine).indexOf('\r\n');
  if (end < 0) return received.length >= maxLine ? { failure: foreign() } : { need: maxLine, orByte: 0x0a };
  const line = received.toString('utf8', 1, end);
  const used = end + 2;
  switch (kind) {
    case '+':
      return { value: { kind: 'text', text: line }, used };
    case '-':
      return { value: { kind: 'error', text: line }, used };
    case '$':
      return readText(received, line, used);
    default:
      return { value: { kind: 'other' }, used };
  }
}

function readText(received: Buffer, line: string, at: number): Taken<Reply> {
  if (line === '-1') return { value: { kind: 'null' }, used: at };
  if (!/^\d{1,10}$/.test(line)) return { failure: foreign() };
  const length = Number(line);
  if (length > maxResultBytes - maxLine)
    return { failure: failed('db_result_too_large', `The value has ${length} bytes, more than a check reads.`) };
  if (received.length < at + length + 2) return { need: at + length + 2 };
  if (received.toString('latin1', at + length, at + length + 2) !== '\r\n') return { failure: foreign() };
  return { value: { kind: 'text', text: received.toString('utf8', at, at + length) }, used: at + length + 2 };
}

function foreign() {
  return failed('db_protocol', 'The server does not speak the protocol of Redis.');
}
