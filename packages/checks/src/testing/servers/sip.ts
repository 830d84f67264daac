import type { Test } from 'tap';
import { startDatagrams } from './datagrams.ts';
import type { Running } from './running.ts';

/** What a server written from RFC 3261 answers: the headers that have to be repeated, and its own. */
export function sipReply(
  request: string,
  status = '200 OK',
  more = '',
  change = (text: string): string => text,
): string {
  const repeated = request
    .split('\r\n')
    .filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/.test(line))
    .join('\r\n');
  return change(`SIP/2.0 ${status}\r\n${repeated}\r\n${more}Content-Length: 0\r\n\r\n`);
}

/** A server over UDP; without an answer of its own it takes every request. */
export function startSip(
  t: Test,
  answer: (request: string) => readonly string[] = (request) => [sipReply(request)],
): Promise<Running> {
  return startDatagrams(t, (bytes) => answer(bytes.toString()));
}
