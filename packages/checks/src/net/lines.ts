import { failed } from './failure.ts';
import type { ErrorCode } from '../outcome.ts';
import type { Reader } from './talk.ts';

/** Longest line that is taken, its end included: four times what SMTP, POP3 and FTP allow, and enough for the capabilities of an IMAP server. */
export const maxLineBytes = 4096;
/** Most lines of one reply. */
export const maxReplyLines = 100;

const lineFeed = 0x0a;

/** A reader of one line without its end, which is LF or CR LF. A line that is too long fails with `code`. */
export function lineReader(code: ErrorCode, maxBytes = maxLineBytes): Reader<string> {
  return (received) => {
    const end = received.subarray(0, maxBytes).indexOf(lineFeed);
    if (end >= 0) return { value: textOf(received.subarray(0, end)), used: end + 1 };
    if (received.length < maxBytes) return { need: maxBytes, orByte: lineFeed };
    return { failure: failed(code, `A line of more than ${maxBytes} bytes came.`) };
  };
}

/** One line of a reply of SMTP or FTP: three digits, a text, and whether it is the last one. */
export type ReplyLine = { readonly code: number; readonly text: string; readonly isLast: boolean };
/** A whole reply: its code and the text of its lines. */
export type Reply = { readonly code: number; readonly lines: readonly string[] };

/** Reads `250 text` and `250-text`; undefined for a line that is neither. */
export function replyLine(line: string): ReplyLine | undefined {
  const [, code, mark, text = ''] = /^([1-5]\d\d)(?:([ -])(.*))?$/s.exec(line) ?? [];
  return code === undefined ? undefined : { code: Number(code), text, isLast: mark !== '-' };
}

/** Text of the other side on one line, for a person: without control characters, at most `limit` characters. */
export function printable(text: string, limit: number): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\ufffd]+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

function textOf(line: Buffer): string {
  return line.at(-1) === 0x0d ? line.toString('utf8', 0, line.length - 1) : line.toString('utf8');
}
