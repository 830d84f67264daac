import type { Failure } from '../net/failure.ts';
import { failed } from '../net/failure.ts';
import type { Taken } from '../net/talk.ts';
import { maxMessageBytes } from '../data/settings.ts';

/** PostgreSQL's frontend/backend protocol 3.0: what is written and how a message is cut out ("Message Formats" of its manual). */

export type Message = { readonly type: string; readonly body: Buffer };

const protocolVersion = 196_608;

export function startup(user: string, database: string): Buffer {
  const parameters = ['user', user, 'database', database, 'client_encoding', 'UTF8', 'application_name', 'parallax'];
  const text = Buffer.from(`${parameters.join('\0')}\0\0`, 'utf8');
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + text.length, 0);
  head.writeInt32BE(protocolVersion, 4);
  return Buffer.concat([head, text]);
}

export function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(5, type, 'latin1');
  const body = Buffer.concat(parts);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** A text with the NUL that ends it. */
export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf8');
}

/**
 * One statement that cannot be two: the extended protocol takes a single one. At most `rows` rows of its result, as text, and then the
 * end of the transaction.
 */
export function statement(query: string, rows: number): Buffer {
  const nothing = Buffer.alloc(2);
  const limit = Buffer.alloc(4);
  limit.writeInt32BE(rows);
  return Buffer.concat([
    message('P', text(''), text(query), nothing),
    message('B', text(''), text(''), nothing, nothing, nothing),
    message('D', Buffer.from('P'), text('')),
    message('E', text(''), limit),
    message('S'),
    message('Q', text('ROLLBACK')),
  ]);
}

/** Cuts out one message. What cannot be one is refused by its type and length, before its bytes are waited for. */
export function readMessage(received: Buffer): Taken<Message> {
  const type = String.fromCharCode(received[0] ?? 0);
  if (!/[A-Za-z0-9]/.test(type)) return { failure: foreign() };
  if (received.length < 5) return { need: 5 };
  const length = received.readInt32BE(1);
  if (length < 4) return { failure: foreign() };
  // The letters of another protocol read as a length are as large as this.
  if (length > maxMessageBytes) {
    if (type !== 'D') return { failure: foreign() };
    return { failure: failed('db_result_too_large', `A row of the result has more than ${maxMessageBytes} bytes.`) };
  }
  if (received.length < length + 1) return { need: length + 1 };
  return { value: { type, body: received.subarray(5, length + 1) }, used: length + 1 };
}

export function foreign(): Failure {
  return failed('db_protocol', 'The server does not speak the protocol of PostgreSQL.');
}

/** The fields of an ErrorResponse: a letter, a text and a NUL each. */
export function fieldsOf(body: Buffer): ReadonlyMap<string, string> {
  return new Map(
    body
      .toString('utf8')
      .split('\0')
      .filter((field) => field !== '')
      .map((field) => [field[0] ?? '', field.slice(1)]),
  );
}

/** The texts of a body that is a list of them, each ended by a NUL. */
export function textsOf(body: Buffer): readonly string[] {
  return body
    .toString('utf8')
    .split('\0')
    .filter((each) => each !== '');
}

/** The first column of a DataRow; null for NULL, undefined for a row without columns. */
export function firstColumn(body: Buffer): string | null | undefined {
  if (body.length < 6 || body.readInt16BE(0) < 1) return undefined;
  const length = body.readInt32BE(2);
  return length < 0 ? null : body.subarray(6, 6 + length).toString('utf8');
}
