import { z } from 'zod';
import { lazily } from './lazily.ts';
import { agreedTls } from './data/agreed-tls.ts';
import { maxResultBytes, maxRows, queryShape, type Result, settle } from './data/expectation.ts';
import { databaseConversation, databaseFields } from './data/settings.ts';
import { loginFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';
import { agreeOnTls, logIn, queryFailure } from './postgres/login.ts';
import { firstColumn, foreign, message, readMessage, statement, text } from './postgres/messages.ts';

/** Settings of `postgres`. The query runs in a read-only transaction, as the given user, and is a single statement. */
const postgresSettings = lazily(() =>
  z.strictObject({
    ...databaseFields(),
    /** The user to log in as. */
    username: loginFields().username.unwrap().default('postgres'),
    /** The database that is opened; absent: the one that is named as the user. */
    database: z
      .string()
      .min(1)
      .max(63)
      .regex(/^\P{Cc}*$/u, 'A database name has no control characters.')
      .optional(),
    ...agreedTls,
    ...queryShape(),
  }),
);
/** A PostgreSQL server: it lets the user in and a query gives what is expected. */
export const postgres = conversation({
  ...databaseConversation,
  type: 'postgres',
  summary: 'A PostgreSQL server: login and a query with an expected result',
  reference: {
    targets: ['db.example.com:5432', 'postgres://db.example.com'],
    settings: { username: 'probe', password: '…' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: { server_version: 'Version that the server names.', rows: 'Rows of the result.' },
  },
  settings: postgresSettings,
  peer: 'a PostgreSQL server',
  target: { plain: { postgres: 5432, postgresql: 5432 } },
  talk: async (session, settings) => {
    await session.open();
    await agreeOnTls(session);
    await logIn(session, settings);
    await beginReading(session);
    const result = await ask(session, settings.query);
    session.say(message('X'));
    settle(session, result, settings);
  },
});

/** Begins a transaction in which nothing can be changed. The query is sent only when the server has confirmed it. */
async function beginReading(session: Session): Promise<void> {
  session.say(message('Q', text(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${session.remainingMs}`)));
  for (;;) {
    const next = await session.hear('the begin of a transaction', readMessage);
    if (next.type === 'E') throw new Ended(queryFailure(next.body, session.show));
    if (!'CZSN'.includes(next.type)) throw new Ended(foreign());
    if (next.type !== 'Z') continue;
    if (next.body.toString('latin1') !== 'T')
      stop('db_query_failed', 'The server did not begin a read-only transaction.');
    return;
  }
}

/** Runs the query and ends the transaction. */
async function ask(session: Session, query: string): Promise<Result> {
  session.say(statement(query, maxRows + 1));
  let rows = 0;
  let bytes = 0;
  let first: string | null | undefined;
  let ready = 0;
  while (ready < 2) {
    const next = await session.hear('the result of the query', readMessage);
    if (next.type === 'E') throw new Ended(queryFailure(next.body, session.show));
    if (next.type === 'Z') ready += 1;
    if ('GHW'.includes(next.type)) stop('db_query_failed', 'The query copies data; it has to give rows.');
    if (!'12TnCsIZDSN'.includes(next.type)) throw new Ended(foreign());
    if (next.type !== 'D') continue;
    if (rows === 0) first = firstColumn(next.body);
    rows += 1;
    bytes += next.body.length;
    if (bytes > maxResultBytes) stop('db_result_too_large', `The result has more than ${maxResultBytes} bytes.`);
  }
  return { rows, first };
}
