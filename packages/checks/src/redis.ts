import { z } from 'zod';
import { lazily } from './lazily.ts';
import { asksForValue, settle } from './data/expectation.ts';
import { valueShape } from './data/value-settings.ts';
import { databaseConversation, databaseFields } from './data/settings.ts';
import { directTls } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';
import { command, readReply, type Reply } from './redis/replies.ts';

/** Settings of `redis`. Without `key` an answer to PING is enough. */
const redisSettings = lazily(() =>
  z
    .strictObject({
      ...databaseFields(),
      ...directTls(),
      /** Number of the database to select. */
      database: z.int().min(0).max(65_535).default(0),
      /** A key whose text is read and compared. */
      key: z.string().min(1).max(512).optional(),
      ...valueShape(),
    })
    .refine((all) => all.key !== undefined || !asksForValue(all), {
      message: 'An expected value needs the key that holds it.',
      path: ['key'],
    }),
);
/** A Redis server, or one that speaks its protocol (RESP 2): it lets the user in, answers, and holds what is expected. */
export const redis = conversation({
  ...databaseConversation,
  type: 'redis',
  summary: 'A Redis server: login, PING and the value of a key',
  reference: {
    targets: ['cache.example.com:6379', 'redis://cache.example.com'],
    settings: { password: '…' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {},
  },
  settings: redisSettings,
  peer: 'a Redis server',
  target: { plain: { redis: 6379, valkey: 6379 }, secure: { rediss: 6379, valkeys: 6379 } },
  talk: async (session, settings) => {
    await session.open();
    const { username, password, key } = settings;
    if (password !== undefined) {
      const login = username === undefined ? [password] : [username, password];
      await ask(session, ['AUTH', ...login], isOk);
      session.context.trace?.('login', `${session.where} accepted the login`);
    }
    await ask(session, ['PING'], (reply) => reply.kind === 'text' && reply.text === 'PONG');
    if (settings.database > 0) await ask(session, ['SELECT', String(settings.database)], isOk);
    if (key === undefined) return;
    const reply = await ask(session, ['GET', key], (each) => each.kind === 'text' || each.kind === 'null');
    if (reply.kind !== 'text') stop('db_wrong_result', 'The key does not exist.');
    settle(session, { rows: 1, first: reply.text }, settings);
  },
});

function isOk(reply: Reply): boolean {
  return reply.kind === 'text' && reply.text === 'OK';
}

/** Sends one command and gives its reply; an error and any other reply than a fitting one end the check. */
async function ask(session: Session, words: readonly string[], fits: (reply: Reply) => boolean): Promise<Reply> {
  session.say(command(words));
  const reply = await session.hear(`a reply to ${words[0] ?? ''}`, readReply);
  if (reply.kind === 'error') throw new Ended(failureOf(words[0] ?? '', reply.text, session.show));
  if (!fits(reply)) stop('db_protocol', `The server answered ${words[0] ?? ''} with something else than Redis does.`);
  return reply;
}

/** What an error reply means, by the word that it begins with. Other nodes that a reply names are not followed. */
function failureOf(asked: string, text: string, show: Session['show']): Failure {
  const sentence = show(text);
  switch (/^[A-Z]*/.exec(text)?.[0] ?? '') {
    case 'WRONGPASS':
    case 'NOAUTH':
      return failed('db_auth_failed', `The server refused the login: ${sentence}.`);
    case 'DENIED':
      return failed('db_refused', `The server refuses this client: ${sentence}.`);
    case 'MISCONF':
    case 'LOADING':
    case 'BUSY':
    case 'MASTERDOWN':
    case 'CLUSTERDOWN':
    case 'TRYAGAIN':
      return failed('db_unavailable', `The server cannot answer now: ${sentence}.`);
    case 'MOVED':
    case 'ASK':
      return failed(
        'db_query_failed',
        `The key belongs to another node of the cluster (${sentence}); check that node.`,
      );
    default:
      break;
  }
  if (/max number of clients/i.test(text))
    return failed('db_unavailable', `The server cannot answer now: ${sentence}.`);
  // Servers before ACLs, and those whose default user has no password.
  if (asked === 'AUTH') return failed('db_auth_failed', `The server refused the login: ${sentence}.`);
  if (asked === 'SELECT') return failed('db_unknown_database', `The server has no such database: ${sentence}.`);
  return failed('db_query_failed', `The server refused ${asked}: ${sentence}.`);
}
