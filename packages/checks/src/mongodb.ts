import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { rowsShape, settle } from './data/expectation.ts';
import { inTime } from './data/in-time.ts';
import { scramFinal, scramFirst, type ScramHash, scramVerified } from './data/scram.ts';
import { databaseConversation, databaseFields } from './data/settings.ts';
import type { BsonDocument, BsonValue } from './mongodb/bson.ts';
import { filterProblem, readFilter } from './mongodb/filter.ts';
import { readAnswer, writeMessage } from './mongodb/messages.ts';
import { directTls } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed, timedOut } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';

const databaseName = lazily(() =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[^\p{Cc}/\\. "$*<>:|?]+$/u, 'A database name has none of / \\ . " $ * < > : | ? and no spaces.'),
);

/** Settings of `mongodb`. Without `collection` an answer to ping is enough. */
const mongodbSettings = lazily(() =>
  z
    .strictObject({
      ...databaseFields(),
      ...directTls(),
      /** Database in which the user is known. */
      auth_database: databaseName().default('admin'),
      /** What the server has to be in its replica set. */
      expected_role: z.enum(['any', 'primary', 'secondary']).default('any'),
      /** Database whose collection is counted. */
      database: databaseName().default('test'),
      /** A collection whose documents are counted, at most 1,000. */
      collection: z
        .string()
        .min(1)
        .max(120)
        .regex(/^[^\p{Cc}$]+$/u, 'A collection name has no $.')
        .optional(),
      /** JSON object that the counted documents have to match; without operators that run scripts. */
      filter: z
        .string()
        .max(4096)
        .superRefine((value, context) => {
          const problem = filterProblem(value);
          if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
        })
        .optional(),
      ...rowsShape(),
    })
    .refine(
      (all) =>
        all.collection !== undefined || (all.filter === undefined && all.min_rows === 0 && all.max_rows === undefined),
      {
        message: 'A filter and a number of rows need the collection that they are about.',
        path: ['collection'],
      },
    ),
);
type MongodbSettings = z.infer<ReturnType<typeof mongodbSettings>>;

const maxCounted = 1000;

/** One MongoDB server: it lets the user in, answers, and counts what is expected. Other servers that it names are not asked. */
export const mongodb = conversation({
  ...databaseConversation,
  type: 'mongodb',
  summary: 'A MongoDB server: login, ping, role and a count of documents',
  reference: {
    targets: ['db.example.com:27017', 'mongodb://db.example.com'],
    settings: { username: 'probe', password: '…' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      wire_version: 'Newest version of the protocol that the server speaks.',
      replica_set: 'Name of the replica set.',
      role: 'primary, secondary or other.',
      rows: 'Documents that were counted.',
    },
  },
  settings: mongodbSettings,
  peer: 'a MongoDB server',
  target: { plain: { mongodb: 27017 } },
  talk: async (session, settings) => {
    await session.open();
    const client = new Client(session);
    const hello = await greet(client, settings);
    note(session, hello);
    if (settings.username !== undefined) await logIn(client, settings, settings.username, hello);
    await client.ask({ ping: 1, $db: settings.database });
    const primary = isPrimary(hello);
    if (settings.expected_role === 'primary' && !primary) stop('db_wrong_result', 'The server is not the primary.');
    if (settings.expected_role === 'secondary' && hello['secondary'] !== true)
      stop('db_wrong_result', 'The server is not a secondary.');
    if (settings.collection === undefined) return;
    const counted = await client.ask({
      count: settings.collection,
      query: settings.filter === undefined ? {} : readFilter(settings.filter),
      limit: maxCounted,
      maxTimeMS: session.remainingMs,
      ...(!primary && { $readPreference: { mode: 'secondaryPreferred' } }),
      $db: settings.database,
    });
    const rows = numberOf(counted['n']);
    if (rows === undefined) stop('db_protocol', 'The server answered the count without a number.');
    settle(session, { rows, first: undefined }, settings);
  },
});

/** Commands over one connection, one after the other. */
class Client {
  readonly session: Session;
  #requestId = 0;

  constructor(session: Session) {
    this.session = session;
  }

  /** The answer to a command; one that says it failed ends the check. */
  async ask(command: BsonDocument): Promise<BsonDocument> {
    const [name = ''] = Object.keys(command);
    return this.accept(name, await this.try(command));
  }

  /** The answer to a command, whatever it says. */
  async try(command: BsonDocument): Promise<BsonDocument> {
    this.#requestId += 1;
    const [name = ''] = Object.keys(command);
    this.session.say(writeMessage(this.#requestId, command));
    return this.session.hear(`an answer to ${name}`, readAnswer(this.#requestId));
  }

  accept(name: string, answer: BsonDocument): BsonDocument {
    if (answer['ok'] !== 1) throw new Ended(failureOf(name, answer, this.session.show));
    return answer;
  }
}

const unknownCommand = 59;

/** Asks the server what it is, and which logins the user has. Servers before 4.4.2 and some of other makers know the older name only. */
async function greet(client: Client, { username, auth_database: database }: MongodbSettings): Promise<BsonDocument> {
  const more = { ...(username !== undefined && { saslSupportedMechs: `${database}.${username}` }), $db: 'admin' };
  const hello = await client.try({ hello: 1, ...more });
  if (hello['ok'] !== 1 && hello['code'] === unknownCommand) return client.ask({ isMaster: 1, ...more });
  return client.accept('hello', hello);
}

function isPrimary(hello: BsonDocument): boolean {
  return hello['isWritablePrimary'] === true || hello['ismaster'] === true;
}

/**
 * SCRAM-SHA-256 where the server says that the user has it, else SCRAM-SHA-1, as the authentication specification of MongoDB's drivers has
 * it: users that were made before 4.0, and servers that never say, such as Amazon DocumentDB, know only that.
 */
function hashFor({ saslSupportedMechs: offered }: BsonDocument): ScramHash {
  return Array.isArray(offered) && offered.includes('SCRAM-SHA-256') ? 'sha256' : 'sha1';
}

async function logIn(client: Client, settings: MongodbSettings, username: string, hello: BsonDocument): Promise<void> {
  const $db = settings.auth_database;
  const hash = hashFor(hello);
  const given = settings.password ?? '';
  // What SCRAM-SHA-1 hashes is not the password but what MongoDB has always stored in its place.
  const password = hash === 'sha1' ? createHash('md5').update(`${username}:mongo:${given}`).digest('hex') : given;
  const first = scramFirst(username, randomBytes(24).toString('base64'));
  const started = await client.ask({
    saslStart: 1,
    mechanism: hash === 'sha1' ? 'SCRAM-SHA-1' : 'SCRAM-SHA-256',
    payload: Buffer.from(first.message),
    options: { skipEmptyExchange: true },
    $db,
  });
  const conversationId = numberOf(started['conversationId']) ?? 1;
  const final = await inTime(client.session, scramFinal(first, payloadOf(started), password, settings, hash));
  if (typeof final === 'string') stop('db_auth_unsupported', final);
  let answer = await client.ask({ saslContinue: 1, conversationId, payload: Buffer.from(final.message), $db });
  if (!scramVerified(final, payloadOf(answer)))
    stop('db_auth_failed', 'The server did not show that it knows the password.');
  // Servers that do not know how to leave the empty exchange out.
  if (answer['done'] !== true)
    answer = await client.ask({ saslContinue: 1, conversationId, payload: Buffer.alloc(0), $db });
  if (answer['done'] !== true) stop('db_auth_failed', 'The server did not end the login.');
  client.session.context.trace?.('login', `${client.session.where} accepted the login`);
}

function payloadOf(answer: BsonDocument): string {
  const payload = answer['payload'];
  return Buffer.isBuffer(payload) ? payload.toString('utf8') : '';
}

function numberOf(value: BsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function note(session: Session, hello: BsonDocument): void {
  const { maxWireVersion, setName, secondary } = hello;
  if (typeof maxWireVersion === 'number') session.note('wire_version', maxWireVersion);
  if (typeof setName === 'string') session.note('replica_set', setName);
  session.note('role', isPrimary(hello) ? 'primary' : secondary === true ? 'secondary' : 'other');
}

/** What an error means, by its number in the list of MongoDB. */
function failureOf(asked: string, answer: BsonDocument, show: Session['show']): Failure {
  const code = answer['code'];
  const sentence = show(typeof answer['errmsg'] === 'string' ? answer['errmsg'] : 'no reason given');
  const isLogin = asked.startsWith('sasl');
  // 8000 is what Atlas says for every wrong user and password.
  if (code === 18 || (isLogin && (code === 13 || code === 11 || code === 8000)))
    return failed('db_auth_failed', `The server refused the login: ${sentence}.`);
  // A command that needs a login, without one.
  if (code === 13) return failed('db_query_failed', `The server refused ${asked}: ${sentence}.`);
  if (code === 50) return timedOut('response_timeout', 'The query did not end in time.');
  if (
    code === 91 ||
    code === 11600 ||
    code === 11602 ||
    code === 189 ||
    code === 13435 ||
    code === 13436 ||
    code === 10107
  )
    return failed('db_unavailable', `The server cannot answer now: ${sentence}.`);
  if (isLogin) return failed('db_auth_unsupported', `The server refused this way of the login: ${sentence}.`);
  return failed('db_query_failed', `The server refused ${asked}: ${sentence}.`);
}
