import { constants, createHash, createPublicKey, publicEncrypt } from 'node:crypto';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { Ended, stop } from '../net/talk.ts';
import { capabilities as flag, type Greeting, loginHead, packet, readGreeting, textAt } from './greeting.ts';
import { errorOf, foreign, readPacket, type ServerError, text } from './packets.ts';

export type LoginSettings = {
  readonly username: string;
  readonly password?: string | undefined;
  readonly database?: string | undefined;
};

/** The login that every server can ask a client to leave for another. */
const common = 'mysql_native_password';

/** Greeting, change to TLS where it is wanted, login. Gives the greeting. */
export async function logIn(session: Session, settings: LoginSettings): Promise<Greeting> {
  const { body } = await session.hear('a greeting', readPacket(0));
  if (body[0] === 0xff) throw new Ended(loginFailure(errorOf(body), session.show));
  const greeting = readGreeting(body);
  if (greeting === undefined) throw new Ended(foreign());
  session.note('server_version', greeting.version);

  const offersTls = (greeting.capabilities & flag.tls) !== 0;
  const withTls = session.tls !== 'none' && offersTls;
  if (session.tls === 'starttls' && !offersTls) stop('db_tls_missing', `${session.where} offers no TLS.`);
  const flags =
    flag.longPassword |
    flag.longFlag |
    flag.protocol41 |
    flag.transactions |
    flag.secureConnection |
    flag.pluginAuthentication |
    (settings.database === undefined ? 0 : flag.withDatabase) |
    (withTls ? flag.tls : 0);
  let sequence = 1;
  if (withTls) {
    session.say(packet(sequence, loginHead(flags)));
    sequence += 1;
    await session.startTls({ isUnverified: session.tls === 'auto' });
  }
  // The default of the server need not be what the user has. One that this check does not have would be taken for an empty password.
  const own = answerOf(greeting.plugin, greeting.nonce, session, settings);
  const plugin = own === undefined ? common : greeting.plugin;
  const answer = own ?? answerOf(common, greeting.nonce, session, settings) ?? Buffer.alloc(0);
  session.say(
    packet(
      sequence,
      loginHead(flags),
      text(settings.username),
      Buffer.from([answer.length]),
      answer,
      settings.database === undefined ? Buffer.alloc(0) : text(settings.database),
      text(plugin),
    ),
  );
  await authenticate(session, settings, greeting, sequence + 1);
  session.context.trace?.('login', `${session.where} accepted the login`);
  return greeting;
}

/** The exchange after the login's first packet, until the server agrees or refuses. */
async function authenticate(
  session: Session,
  settings: LoginSettings,
  greeting: Greeting,
  from: number,
): Promise<void> {
  let { plugin, nonce } = greeting;
  // Three packets each way are the longest exchange that there is.
  for (let sequence = from; sequence < from + 8; sequence += 2) {
    const { body } = await session.hear('the end of the login', readPacket(sequence));
    switch (body[0] ?? -1) {
      case 0x00:
        return;
      case 0xff:
        throw new Ended(loginFailure(errorOf(body), session.show));
      case 0xfe: {
        if (body.length === 1) stop('db_auth_unsupported', 'The server wants the login of MySQL 4.0.');
        plugin = textAt(body, 1);
        nonce = body.subarray(2 + Buffer.byteLength(plugin)).subarray(0, 20);
        const answer = answerOf(plugin, nonce, session, settings);
        if (answer === undefined)
          stop(
            'db_auth_unsupported',
            `The server wants the login "${session.show(plugin)}", which this check does not have.`,
          );
        session.say(packet(sequence + 1, answer));
        break;
      }
      case 0x01: {
        const more = body.subarray(1);
        // caching_sha2_password: the server knows the answer already, and says so before it agrees.
        if (more.length === 1 && more[0] === 3) {
          sequence -= 1;
          break;
        }
        session.say(
          packet(
            sequence + 1,
            more[0] === 4 ? fullAnswer(session, settings) : encrypted(more, nonce, session, settings),
          ),
        );
        break;
      }
      default:
        throw new Ended(foreign());
    }
  }
  throw new Ended(foreign());
}

/** The first answer to a way of authentication; undefined for one that this check does not have. */
function answerOf(plugin: string, nonce: Buffer, session: Session, settings: LoginSettings): Buffer | undefined {
  const password = settings.password ?? '';
  switch (plugin) {
    case 'mysql_native_password': {
      if (password === '') return Buffer.alloc(0);
      const once = digest('sha1', Buffer.from(password));
      return xor(once, digest('sha1', nonce, digest('sha1', once)));
    }
    case 'caching_sha2_password': {
      if (password === '') return Buffer.alloc(0);
      const once = digest('sha256', Buffer.from(password));
      return xor(once, digest('sha256', digest('sha256', once), nonce));
    }
    case 'sha256_password':
      return session.isSecure ? clear(session, settings) : undefined;
    case 'mysql_clear_password':
      return clear(session, settings);
    default:
      return undefined;
  }
}

/** The server has to see the password itself: inside TLS as it is, else encrypted with the server's key, which is asked for. */
function fullAnswer(session: Session, settings: LoginSettings): Buffer {
  if (session.isSecure) return clear(session, settings);
  allowUnprotected(session);
  return Buffer.from([2]);
}

function clear(session: Session, settings: LoginSettings): Buffer {
  if (!session.isSecure) allowUnprotected(session);
  return text(settings.password ?? '');
}

/** Whoever sits in between could pretend that the server has no TLS, or give a key of his own. */
function allowUnprotected(session: Session): void {
  if (session.tls !== 'none')
    stop('db_auth_unsupported', 'The server wants the password itself on a connection without TLS.');
}

function encrypted(pem: Buffer, nonce: Buffer, session: Session, settings: LoginSettings): Buffer {
  allowUnprotected(session);
  const password = text(settings.password ?? '');
  try {
    const key = createPublicKey(pem.toString('latin1'));
    const hidden = Buffer.from(password.map((byte, at) => byte ^ (nonce[at % nonce.length] ?? 0)));
    return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING }, hidden);
  } catch {
    return stop('db_protocol', 'The server gave a key that the password cannot be encrypted with.');
  }
}

function digest(algorithm: 'sha1' | 'sha256', ...parts: readonly Buffer[]): Buffer {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, at) => byte ^ (b[at] ?? 0)));
}

/** What an error before the end of the login means, by its number. */
function loginFailure(error: ServerError, show: Session['show']): Failure {
  const sentence = show(error.text);
  switch (error.number) {
    case 1045:
    case 1698:
    case 1862:
    case 3118:
    case 4151:
      return failed('db_auth_failed', `The server refused the login: ${sentence}.`);
    case 1044:
    case 1049:
      return failed('db_unknown_database', `The server refused the login: ${sentence}.`);
    case 1129:
    case 1130:
    case 3159:
      return failed('db_refused', `The server refuses this client: ${sentence}.`);
    case 1040:
    case 1053:
    case 1203:
    case 1226:
      return failed('db_unavailable', `The server takes no session now: ${sentence}.`);
    case 1251:
      return failed('db_auth_unsupported', `The server refused the way of the login: ${sentence}.`);
    default:
      return failed('db_refused', `The server refused the session: ${sentence} (${error.number}).`);
  }
}

/** What an error of a statement means. */
export function queryFailure(error: ServerError, show: Session['show']): Failure {
  // Interrupted by the limit that was set: MySQL, MariaDB.
  if (error.number === 3024 || error.number === 1969)
    return timedOut('response_timeout', 'The query did not end in time.');
  // Shut down, killed by the operator, idle for too long.
  if (error.number === 1053 || error.number === 1927 || error.number === 3169 || error.number === 4031)
    return failed('db_unavailable', `The server ended the session: ${show(error.text)} (${error.number}).`);
  return failed('db_query_failed', `The query failed: ${show(error.text)} (${error.number}).`);
}
