import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { BSON } from 'mongodb';
import type { Test } from 'tap';
import { listenRaw, type Peer } from '../context.ts';

export type MongodbOptions = {
  readonly username?: string;
  readonly password?: string;
  /** How the user may log in; absent: SCRAM-SHA-256. */
  readonly mechanism?: 'SCRAM-SHA-1' | 'SCRAM-SHA-256';
  /** It knows `isMaster` only, as servers before 4.4.2. */
  readonly isOld?: boolean;
  /** What takes the place of fields of the answer to a command, by the command's name. */
  readonly answers?: Readonly<Record<string, object>>;
};

const iterations = 15_000;

/**
 * A MongoDB server as its wire protocol describes it, written apart from the check and with the BSON of the official driver: OP_MSG,
 * hello, SCRAM (RFC 5802, RFC 7677), ping and count. `asked` holds the commands that came.
 */
export async function startMongodb(
  t: Test,
  options: MongodbOptions = {},
): Promise<Peer & { readonly asked: BSON.Document[] }> {
  const asked: BSON.Document[] = [];
  const peer = await listenRaw((socket) => {
    let waiting = Buffer.alloc(0);
    const login = new Login(options);
    let answered = 100;
    socket.on('data', (piece: Buffer) => {
      waiting = Buffer.concat([waiting, piece]);
      while (waiting.length >= 4 && waiting.length >= waiting.readInt32LE(0)) {
        const request = waiting.subarray(0, waiting.readInt32LE(0));
        waiting = waiting.subarray(request.length);
        const command = BSON.deserialize(request.subarray(21), { promoteBuffers: true });
        asked.push(command);
        const [name = ''] = Object.keys(command);
        const body = BSON.serialize({ ...answerTo(name, command, login, options), ...options.answers?.[name] });
        const head = Buffer.alloc(21);
        head.writeInt32LE(head.length + body.length, 0);
        head.writeInt32LE((answered += 1), 4);
        head.writeInt32LE(request.readInt32LE(4), 8);
        head.writeInt32LE(2013, 12);
        socket.write(Buffer.concat([head, body]));
      }
    });
  });
  t.teardown(peer.stop);
  return { ...peer, asked };
}

function answerTo(name: string, command: BSON.Document, login: Login, options: MongodbOptions): BSON.Document {
  switch (options.isOld === true && name === 'hello' ? 'unknown' : name) {
    case 'isMaster':
    case 'hello':
      return {
        ok: 1,
        ...(name === 'hello' ? { isWritablePrimary: true } : { ismaster: true }),
        ...(command['saslSupportedMechs'] !== undefined && { saslSupportedMechs: [login.mechanism] }),
        maxWireVersion: 21,
        minWireVersion: 0,
        localTime: new Date(),
        setName: 'rs0',
      };
    case 'ping':
    case 'endSessions':
      return { ok: 1 };
    case 'count':
      return { ok: 1, n: 3 };
    case 'saslStart':
      if (command['mechanism'] !== login.mechanism)
        return { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };
      return { ok: 1, conversationId: 7, done: false, payload: login.start(String(command['payload'])) };
    case 'saslContinue': {
      const payload = login.finish(String(command['payload']));
      if (payload === undefined)
        return { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };
      return { ok: 1, conversationId: 7, done: true, payload };
    }
    default:
      return { ok: 0, code: 59, errmsg: `no such command: '${name}'` };
  }
}

/** The server's side of SCRAM. */
class Login {
  readonly mechanism: 'SCRAM-SHA-1' | 'SCRAM-SHA-256';
  readonly #username: string;
  readonly #password: string;
  readonly #hash: 'sha1' | 'sha256';
  readonly #salt = randomBytes(28);
  #bare = '';
  #first = '';

  constructor({ username = '', password = '', mechanism = 'SCRAM-SHA-256' }: MongodbOptions) {
    this.mechanism = mechanism;
    this.#hash = mechanism === 'SCRAM-SHA-1' ? 'sha1' : 'sha256';
    this.#username = username;
    // With SCRAM-SHA-1 a digest takes the place of the password, made with the name before it was escaped.
    const plain = username.replaceAll('=2C', ',').replaceAll('=3D', '=');
    const digest = createHash('md5').update(`${plain}:mongo:${password}`).digest('hex');
    this.#password = mechanism === 'SCRAM-SHA-1' ? digest : password;
  }

  start(message: string): Buffer {
    this.#bare = message.slice(3);
    const nonce = /,r=(.*)$/.exec(message)?.[1] ?? '';
    this.#first = `r=${nonce}${randomBytes(18).toString('base64')},s=${this.#salt.toString('base64')},i=${iterations}`;
    return Buffer.from(this.#first);
  }

  finish(message: string): Buffer | undefined {
    const [withoutProof = '', proof = ''] = message.split(',p=');
    const known = this.#bare.startsWith(`n=${this.#username},`);
    const salted = pbkdf2Sync(this.#password, this.#salt, iterations, this.#hash === 'sha1' ? 20 : 32, this.#hash);
    const all = [this.#bare, this.#first, withoutProof].join(',');
    const mac = (key: Buffer, text: string) => createHmac(this.#hash, key).update(text).digest();
    const digest = (bytes: Uint8Array) => createHash(this.#hash).update(bytes).digest();
    const storedKey = digest(mac(salted, 'Client Key'));
    const signature = mac(storedKey, all);
    const clientKey = Buffer.from(proof, 'base64').map((byte, at) => byte ^ (signature[at] ?? 0));
    if (!known || !digest(clientKey).equals(storedKey)) return undefined;
    return Buffer.from(`v=${mac(mac(salted, 'Server Key'), all).toString('base64')}`);
  }
}
