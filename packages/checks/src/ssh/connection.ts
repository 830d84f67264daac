import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Client, ConnectConfig } from 'ssh2';
import { type Failure, failed, probeFault } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { Ended } from '../net/talk.ts';
import type { SshSettings } from './settings.ts';

/** An error of the library: `level` says which part of the protocol it comes from, a number as `code` is the other side's reason to leave. */
type SshError = Error & { readonly level?: string; readonly code?: string | number };

/**
 * What devices of the last twenty years speak beside or instead of what is safe today, asked for last. A handshake alone sends no secret, so
 * it may be held by these; a login may not.
 */
const oldAlgorithms: NonNullable<ConnectConfig['algorithms']> = {
  kex: more(['diffie-hellman-group14-sha1', 'diffie-hellman-group-exchange-sha1', 'diffie-hellman-group1-sha1']),
  serverHostKey: more(['ssh-dss']),
  cipher: more(['aes256-cbc', 'aes192-cbc', 'aes128-cbc', '3des-cbc']),
  hmac: more(['hmac-sha2-256-96', 'hmac-sha2-512-96', 'hmac-sha1-96', 'hmac-md5']),
};

function more<Name>(append: Name[]) {
  return { append, prepend: [], remove: [] };
}

/** The library, which is loaded before the time of the target is taken. */
export async function loadSsh() {
  return (await import('ssh2')).default;
}

/** What is wrong with the key to log in with, or undefined: there the settings are at fault, not the target. */
async function keyProblem({ private_key: key, passphrase }: SshSettings): Promise<Failure | undefined> {
  if (key === undefined || !((await loadSsh()).utils.parseKey(key, passphrase) instanceof Error)) return undefined;
  const message = 'The settings cannot be used: private_key cannot be read, or its passphrase is wrong.';
  return probeFault('probe_internal', message);
}

/**
 * Speaks SSH up to the end of the key exchange, and of the login when there is one, and then what `use` says; `waitFor` names what it waits for
 * in the sentence of a timeout. A host whose key is not among the pinned ones hears no password.
 */
export async function speakSsh(
  session: Session,
  settings: SshSettings,
  use: (client: Client, waitFor: (what: string) => void) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  session.demand(await keyProblem(settings));
  const { Client } = await loadSsh();
  await session.open();
  const client = new Client();
  let due = 'its greeting';
  const waitFor = (what: string) => {
    due = what;
  };
  try {
    await session.lend(
      () => due,
      async (socket) => {
        await connect(client, socket, session, settings, waitFor);
        session.greeted(String(session.noted('banner') ?? ''));
        await use(client, waitFor);
      },
    );
  } finally {
    client.end();
  }
}

/** Shakes hands and logs in. */
function connect(
  client: Client,
  socket: Socket,
  session: Session,
  settings: SshSettings,
  waitFor: (what: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isForeign = false;
    let isSecure = false;
    let head = '';
    const readBanner = (piece: Buffer) => {
      head = (head + piece.toString('latin1')).slice(0, 8192);
      // Lines may come before it (RFC 4253, 4.2).
      const banner = /^(SSH-[^\r\n]*)\r?\n/m.exec(head)?.[1];
      if (banner === undefined) return;
      socket.off('data', readBanner);
      waitFor('the end of the key exchange');
      session.note('banner', banner);
    };
    const refuse = (failure: Failure) => reject(new Ended(failure));
    // The listeners stay: an error without one would end the program.
    client.on('error', (error: SshError) => refuse(failureOf(error, session, isSecure, isForeign, head)));
    client.on('close', () =>
      refuse(failed('connect_reset', `${session.where} closed the connection before its time.`)),
    );
    client.on('change password', () => refuse(failed('ssh_login', 'The server asks for a new password.')));
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) =>
      answer(prompts.map((prompt) => (prompt.echo === true ? '' : (settings.password ?? '')))),
    );
    client.on('handshake', (negotiated) => {
      isSecure = true;
      waitFor('an answer to the login');
      session.note('key_exchange', negotiated.kex);
      session.note('cipher', negotiated.cs.cipher);
      const { kex, serverHostKey, cs } = negotiated;
      session.context.trace?.('handshake', `${kex}, ${serverHostKey}, ${cs.cipher}`);
      if (settings.username === undefined) resolve();
    });
    client.on('ready', () => resolve());
    client.connect({
      ...loginOf(settings),
      ...(settings.username === undefined && { algorithms: oldAlgorithms }),
      sock: socket,
      readyTimeout: 0,
      keepaliveInterval: 0,
      hostVerifier: (key: Buffer) => {
        const fingerprint = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
        session.note('host_key_type', key.toString('latin1', 4, 4 + Math.min(64, key.readUInt32BE(0))));
        session.note('host_key_fingerprint', fingerprint);
        const pinned = settings.host_key_fingerprints.map((each) => each.replace(/=$/, ''));
        isForeign = pinned.length > 0 && !pinned.includes(fingerprint);
        return !isForeign;
      },
    });
    socket.on('data', readBanner);
  });
}

function loginOf(settings: SshSettings): ConnectConfig {
  const { username, password, private_key: privateKey, passphrase } = settings;
  // Without a user the library wants a name all the same, which is never sent: the conversation ends before the login.
  if (username === undefined) return { username: 'nobody', authHandler: ['none'] };
  return {
    username,
    ...(privateKey !== undefined && { privateKey }),
    ...(passphrase !== undefined && { passphrase }),
    ...(password !== undefined && { password, tryKeyboard: true }),
    authHandler: [
      ...(privateKey === undefined ? [] : (['publickey'] as const)),
      ...(password === undefined ? [] : (['password', 'keyboard-interactive'] as const)),
    ],
  };
}

function failureOf(
  error: SshError,
  session: Session,
  isSecure: boolean,
  isForeign: boolean,
  /** What came first, in the clear. */
  head: string,
): Failure {
  const { where } = session;
  const said = session.show(error.message);
  if (isForeign) {
    // A host may have a key of each kind, and shows the one that comes first in the order of the check.
    const shown = `${String(session.noted('host_key_type'))} ${String(session.noted('host_key_fingerprint'))}`;
    return failed('ssh_host_key', `The key of the host (${shown}) is not among the pinned ones.`);
  }
  if (error.level === 'client-authentication') return failed('ssh_login', 'The server refused the login.');
  if (error.level === 'client-socket') {
    return failed('connect_reset', `The connection to ${where} broke (${String(error.code ?? 'unknown error')}).`);
  }
  if (typeof error.code === 'number') {
    const code = isSecure ? 'ssh_login' : 'ssh_handshake';
    return failed(code, `The server ended the session: "${said}".`);
  }
  if (error.message.startsWith('Connection lost before handshake')) {
    // A server that is too busy, or angry with this client, says so instead of its greeting.
    const [line = ''] = head.split('\n', 1);
    const reason = line === '' || line.startsWith('SSH-') ? '' : ` ${session.quote(line)}`;
    return failed('connect_reset', `${where} closed the connection before the handshake.${reason}`);
  }
  if (error.level === 'handshake') {
    const hint = /no matching/.test(said) ? ' Server and check have no safe algorithm in common.' : '';
    return failed('ssh_handshake', `The key exchange failed: "${said}".${hint}`);
  }
  return failed('ssh_protocol', `The answer of ${where} is not SSH: "${said}".`);
}
