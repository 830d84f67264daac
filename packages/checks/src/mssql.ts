import { z } from 'zod';
import { lazily } from './lazily.ts';
import { agreedTls } from './data/agreed-tls.ts';
import { maxRows, queryShape, settle } from './data/expectation.ts';
import { databaseConversation, databaseFields } from './data/settings.ts';
import { TdsError } from './mssql/fields.ts';
import { WrappedHandshake } from './mssql/handshake.ts';
import { batch, encryption, encryptionOf, foreign, login7, prelogin, takeMessage } from './mssql/packets.ts';
import { type Answer, readAnswer } from './mssql/tokens.ts';
import { loginFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';

/**
 * Settings of `mssql`. SQL Server has no read-only transaction: the query runs in a transaction that is rolled back. A query that ends the transaction itself can change what its user may change.
 */
const mssqlSettings = lazily(() =>
  z.strictObject({
    ...databaseFields(),
    /** The user to log in as. */
    username: loginFields().username.unwrap().max(128).default('sa'),
    /** The password of the user. */
    password: loginFields().password.unwrap().max(128).optional(),
    /** The database that is opened; empty: the one that the user begins in. */
    database: z
      .string()
      .max(128)
      .regex(/^\P{Cc}*$/u, 'A database name has no control characters.')
      .default(''),
    /**
     * `auto`: TLS, whose certificate is not verified, whatever `verify_tls` says. `starttls`: TLS with a verified one. `none`: no TLS where the
     * server allows that; the password is then readable for everybody in between, so the other two fail where there is none.
     */
    tls: agreedTls.tls,
    /**
     * What the session says that it does. `read_only` opens a secondary of an availability group that takes nobody else; a primary may send
     * such a session to a secondary, which is not followed.
     */
    application_intent: z.enum(['read_write', 'read_only']).default('read_write'),
    ...queryShape(),
  }),
);
/** A SQL Server: it lets the user in and a query gives what is expected. */
export const mssql = conversation({
  ...databaseConversation,
  type: 'mssql',
  summary: 'A Microsoft SQL Server: login and a query with an expected result',
  reference: {
    targets: ['db.example.com:1433', 'sqlserver://db.example.com'],
    settings: { username: 'probe', password: '…' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: { server_version: 'Version that the server names.', rows: 'Rows of the result.' },
  },
  settings: mssqlSettings,
  peer: 'a Microsoft SQL Server',
  target: { plain: { mssql: 1433, sqlserver: 1433 } },
  talk: async (session, settings, { host }) => {
    await session.open();
    await agreeOnTls(session);
    const { username, password = '', database, application_intent: intent } = settings;
    session.say(login7({ username, password, database, server: host, isReadOnly: intent === 'read_only' }));
    const login = await answerOf(session, 'the end of the login');
    if (login.version !== undefined) session.note('server_version', login.version);
    const [refused] = login.errors;
    if (refused !== undefined && !login.loggedIn) throw new Ended(loginFailure(refused, session.show));
    if (login.routed) stop('db_refused', 'The server sends clients to another server; check that one.');
    if (!login.loggedIn) throw new Ended(foreign());
    session.context.trace?.('login', `${session.where} accepted the login`);

    session.say(batch(guarded(settings.query, session.remainingMs)));
    const result = await answerOf(session, 'the result of the query');
    const [wrong] = result.errors;
    if (wrong !== undefined)
      stop('db_query_failed', `The query failed: ${session.show(wrong.text)} (${wrong.number}).`);
    settle(session, result, settings);
  },
});

async function agreeOnTls(session: Session): Promise<void> {
  session.say(prelogin(session.tls === 'none' ? encryption.notSupported : encryption.on));
  const answer = encryptionOf(await takeMessage(session, 'an answer to the first message'));
  if (answer === undefined) throw new Ended(foreign());
  if (session.tls === 'none') {
    if (answer === encryption.required) stop('db_refused', 'The server lets nobody in without TLS.');
    return;
  }
  // The password would be readable for anybody in between.
  if (answer !== encryption.on && answer !== encryption.required)
    stop('db_tls_missing', `${session.where} offers no TLS.`);
  let wrapped: WrappedHandshake | undefined;
  await session.startTls({
    isUnverified: session.tls === 'auto',
    through: (socket) => {
      wrapped = new WrappedHandshake(socket);
      return wrapped.asSocket();
    },
  });
  // The last record of the handshake may be written only now.
  await new Promise((resolve) => setImmediate(resolve));
  wrapped?.unwrap();
}

/** The query as a text that the server runs inside a transaction, so that none of its statements stands beside it. */
function guarded(query: string, limitMs: number): string {
  const text = query.replaceAll("'", "''");
  return [
    `SET XACT_ABORT ON; SET LOCK_TIMEOUT ${limitMs}; SET ROWCOUNT ${maxRows + 1}; BEGIN TRANSACTION;`,
    `EXEC sp_executesql N'${text}';`,
    'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;',
  ].join('\n');
}

async function answerOf(session: Session, waitingFor: string): Promise<Answer> {
  const bytes = await takeMessage(session, waitingFor);
  try {
    return readAnswer(bytes);
  } catch (error) {
    if (error instanceof TdsError)
      stop(
        'db_protocol',
        'The server answered with something that this check cannot read; convert odd types to nvarchar.',
      );
    throw error;
  }
}

/** What an error of the login means, by its number. */
function loginFailure(error: { readonly number: number; readonly text: string }, show: Session['show']): Failure {
  const sentence = show(error.text);
  switch (error.number) {
    case 18452:
    case 18456:
    case 18470:
    case 18486:
    case 18487:
    case 18488:
      return failed('db_auth_failed', `The server refused the login: ${sentence}.`);
    case 911:
    case 4060:
    case 4064:
      return failed('db_unknown_database', `The server refused the login: ${sentence}.`);
    case 17142:
    case 17187:
    case 17188:
    case 17197:
    case 18401:
    case 10928:
    case 10929:
    case 40197:
    case 40501:
    case 40613:
    case 49918:
    case 49919:
    case 49920:
      return failed('db_unavailable', `The server takes no session now: ${sentence}.`);
    case 978:
      return failed('db_refused', `The server takes read-only sessions only (application_intent): ${sentence}.`);
    default:
      return failed('db_refused', `The server refused the session: ${sentence} (${error.number}).`);
  }
}
