import { createHash, randomBytes } from 'node:crypto';
import { inTime } from '../data/in-time.ts';
import { scramFinal, type ScramFinal, scramFirst, type ScramFirst, scramVerified } from '../data/scram.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { Ended, stop } from '../net/talk.ts';
import { fieldsOf, foreign, message, type Message, readMessage, startup, text, textsOf } from './messages.ts';
import { sslRequest } from './ssl-request.ts';

export type LoginSettings = {
  readonly username: string;
  readonly password?: string | undefined;
  readonly database?: string | undefined;
};

/** Changes to TLS as the settings want it. */
export async function agreeOnTls(session: Session): Promise<void> {
  if (session.tls === 'none') return;
  session.say(sslRequest());
  const answer = await session.hear('an answer about TLS', (received) => ({
    value: String.fromCharCode(received[0] ?? 0),
    used: 1,
  }));
  if (answer === 'S') await session.startTls({ isUnverified: session.tls === 'auto' });
  // A server that refuses connections says so with an error message instead.
  else if (answer === 'E') stop('db_unavailable', `${session.where} refuses connections.`);
  else if (answer !== 'N') throw new Ended(foreign());
  else if (session.tls !== 'auto') stop('db_tls_missing', `${session.where} offers no TLS.`);
}

/** Logs in; returns when the server waits for a query. */
export async function logIn(session: Session, settings: LoginSettings): Promise<void> {
  session.say(startup(settings.username, settings.database ?? settings.username));
  let first: ScramFirst | undefined;
  let final: ScramFinal | undefined;
  let verified = false;
  let questions = 0;
  for (;;) {
    const next = await session.hear('the end of the login', readMessage);
    if (next.type === 'E') throw new Ended(loginFailure(next.body, session.show));
    if (next.type === 'Z') return;
    if (next.type === 'S') note(session, next);
    if (!'RSKNv'.includes(next.type)) throw new Ended(foreign());
    if (next.type !== 'R' || next.body.length < 4) continue;
    const rest = next.body.subarray(4);
    // A way to log in, the two steps of SCRAM and the end of it: who asks for ever would be answered for ever.
    questions += 1;
    if (questions > 4) throw new Ended(foreign());
    switch (next.body.readInt32BE(0)) {
      case 0:
        if (first !== undefined && !verified)
          stop('db_auth_failed', 'The server let the login pass without showing that it knows the password.');
        session.context.trace?.('login', `${session.where} accepted the login`);
        break;
      case 3:
        if (!session.isSecure && session.tls !== 'none')
          stop('db_auth_unsupported', 'The server wants the password in clear on a connection without TLS.');
        session.say(message('p', text(password(settings))));
        break;
      case 5:
        session.say(message('p', text(md5Answer(settings, rest))));
        break;
      case 10:
        if (!textsOf(rest).includes('SCRAM-SHA-256'))
          stop(
            'db_auth_unsupported',
            `The server wants ${session.show(textsOf(rest).join(', '))}, which this check does not have.`,
          );
        password(settings);
        // The name was given with the start of the session; a server takes no other.
        first = scramFirst('', randomBytes(18).toString('base64'));
        session.say(message('p', text('SCRAM-SHA-256'), lengthOf(first.message), Buffer.from(first.message)));
        break;
      case 11: {
        if (first === undefined || final !== undefined) throw new Ended(foreign());
        const hashing = scramFinal(first, rest.toString('utf8'), password(settings), settings);
        const answer = await inTime(session, hashing);
        if (typeof answer === 'string') stop('db_auth_unsupported', answer);
        final = answer;
        session.say(message('p', Buffer.from(final.message)));
        break;
      }
      case 12:
        verified = final !== undefined && scramVerified(final, rest.toString('utf8'));
        if (!verified) stop('db_auth_failed', 'The server did not show that it knows the password.');
        break;
      default:
        stop(
          'db_auth_unsupported',
          `The server wants a way of authentication that this check does not have (number ${next.body.readInt32BE(0)}).`,
        );
    }
  }
}

function password(settings: LoginSettings): string {
  return settings.password ?? stop('db_auth_failed', 'The server asks for a password and the monitor has none.');
}

function md5Answer(settings: LoginSettings, salt: Buffer): string {
  const inner = md5(Buffer.from(password(settings) + settings.username));
  return `md5${md5(Buffer.concat([Buffer.from(inner), salt.subarray(0, 4)]))}`;
}

/** What the server's own way of authentication is made of; it protects nothing here. */
function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}

function lengthOf(content: string): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Buffer.byteLength(content));
  return bytes;
}

function note(session: Session, status: Message): void {
  const [name, value] = textsOf(status.body);
  if (name === 'server_version' && value !== undefined) session.note('server_version', value);
}

/** What an error of the login means, by its SQLSTATE. */
function loginFailure(body: Buffer, show: Session['show']): Failure {
  const fields = fieldsOf(body);
  const state = fields.get('C') ?? '';
  const text = show(fields.get('M') ?? 'no reason given');
  if (state === '28P01') return failed('db_auth_failed', `The server refused the login: ${text}.`);
  if (state.startsWith('28')) {
    // Both a user that does not exist and a client that no rule lets in.
    const code = /pg_hba/.test(text) ? 'db_refused' : 'db_auth_failed';
    return failed(code, `The server refused the login: ${text}.`);
  }
  if (state === '3D000') return failed('db_unknown_database', `The server refused the login: ${text}.`);
  if (state.startsWith('53') || state.startsWith('57P'))
    return failed('db_unavailable', `The server takes no session now: ${text}.`);
  return failed('db_refused', `The server refused the session: ${text} (${show(state)}).`);
}

/** What an error of a statement means. */
export function queryFailure(body: Buffer, show: Session['show']): Failure {
  const fields = fieldsOf(body);
  const state = fields.get('C') ?? '';
  const text = show(fields.get('M') ?? 'no reason given');
  if (state === '57014') return timedOut('response_timeout', 'The query did not end in time.');
  if (state.startsWith('57P')) return failed('db_unavailable', `The server ended the session: ${text}.`);
  return failed('db_query_failed', `The query failed: ${text} (${show(state)}).`);
}
