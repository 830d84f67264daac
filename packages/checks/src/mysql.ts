import { z } from 'zod';
import { lazily } from './lazily.ts';
import { agreedTls } from './data/agreed-tls.ts';
import { maxResultBytes, maxRows, queryShape, type Result, settle } from './data/expectation.ts';
import { databaseConversation, databaseFields } from './data/settings.ts';
import { packet } from './mysql/greeting.ts';
import { logIn, queryFailure } from './mysql/login.ts';
import { errorOf, firstColumn, foreign, lengthAt, readPacket } from './mysql/packets.ts';
import { loginFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';

/** Settings of `mysql`. The query runs in a read-only session, as the given user, and is a single statement. */
const mysqlSettings = lazily(() =>
  z.strictObject({
    ...databaseFields(),
    /** The user to log in as. */
    username: loginFields().username.unwrap().default('root'),
    /** The database that is opened; absent: none. */
    database: z
      .string()
      .min(1)
      .max(64)
      .regex(/^\P{Cc}*$/u, 'A database name has no control characters.')
      .optional(),
    ...agreedTls,
    ...queryShape(),
  }),
);
const maxColumns = 4096;
const quit = Buffer.from([1]);

/** A MySQL or MariaDB server: it lets the user in and a query gives what is expected. */
export const mysql = conversation({
  ...databaseConversation,
  type: 'mysql',
  summary: 'A MySQL or MariaDB server: login and a query with an expected result',
  reference: {
    targets: ['db.example.com:3306', 'mysql://db.example.com'],
    settings: { username: 'probe', password: '…' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: { server_version: 'Version that the server names.', rows: 'Rows of the result.' },
  },
  settings: mysqlSettings,
  peer: 'a MySQL server',
  target: { plain: { mysql: 3306, mariadb: 3306 } },
  talk: async (session, settings) => {
    await session.open();
    const { version } = await logIn(session, settings);
    await readOnly(session, version, settings.query);
    await limit(session, /mariadb/i.test(version));
    const result = await ask(session, settings.query);
    session.say(packet(0, quit));
    settle(session, result, settings);
  },
});

/**
 * Of the session, not of a transaction: a statement that ends a transaction does not end this. TiDB has none and refuses to pretend; it has
 * no functions of users either, so what begins as a question there changes nothing.
 */
async function readOnly(session: Session, version: string, query: string): Promise<void> {
  if (!/tidb/i.test(version)) await ask(session, 'SET SESSION TRANSACTION READ ONLY');
  else if (!/^\s*(?:select|show)\b/i.test(query))
    stop('db_query_failed', 'TiDB has no read-only session, so a query has to begin with SELECT or SHOW there.');
}

/** Limits how long a statement may run. A server too old to know the limit runs without one; the check ends all the same. */
async function limit(session: Session, mariaDb: boolean): Promise<void> {
  const limitMs = session.remainingMs;
  const variable = mariaDb ? `max_statement_time = ${limitMs / 1000}` : `max_execution_time = ${limitMs}`;
  try {
    await ask(session, `SET SESSION ${variable}`);
  } catch (error) {
    if (!(error instanceof Ended) || error.failure.code !== 'db_query_failed') throw error;
  }
}

/** Runs one statement: the session was opened without the right to send several at once. */
async function ask(session: Session, query: string): Promise<Result> {
  session.say(packet(0, Buffer.from([3]), Buffer.from(query, 'utf8')));
  let sequence = 1;
  const next = async () => {
    const { body } = await session.hear('the result of the query', readPacket(sequence));
    sequence += 1;
    if (body[0] === 0xff) throw new Ended(queryFailure(errorOf(body), session.show));
    return body;
  };
  const head = await next();
  if (head[0] === 0) return { rows: 0, first: undefined };
  const columns = lengthAt(head, 0)?.value;
  // The server asks for a file of this machine.
  if (columns === null) stop('db_query_failed', 'The query loads a file; it has to give rows.');
  if (columns === undefined || columns > maxColumns) throw new Ended(foreign());
  for (let at = 0; at < columns; at++) await next();
  if (!isEnd(await next())) throw new Ended(foreign());
  let rows = 0;
  let bytes = 0;
  let first: string | null | undefined;
  for (;;) {
    const row = await next();
    if (isEnd(row)) return { rows, first };
    if (rows === 0) first = firstColumn(row);
    rows += 1;
    bytes += row.length;
    if (rows > maxRows) return { rows, first };
    if (bytes > maxResultBytes) stop('db_result_too_large', `The result has more than ${maxResultBytes} bytes.`);
  }
}

/** The packet that ends the columns and the rows; a row that begins with the same byte is longer. */
function isEnd(body: Buffer): boolean {
  return body[0] === 0xfe && body.length < 9;
}
