import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { addressFields, loginIsWhole } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { locate, named } from './net/dial.ts';
import { type HostPort, parseHost, parseHostPort } from './net/host.ts';
import type { Session } from './net/session.ts';
import { Ended, type Reader, type Taken } from './net/talk.ts';

const credential = lazily(() =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= 255, 'A name or password of SOCKS has at most 255 bytes.'),
);
const onward = { schemes: {}, defaultPort: undefined };

/** Settings of `socks5`. */
const socks5Settings = lazily(() =>
  z
    .strictObject({
      /** With a user name only this way of signing in is offered, so that a proxy that lets everybody in is noticed. */
      username: credential().optional(),
      /** The password of the user. */
      password: credential().optional(),
      /** `host:port` that the proxy is asked to connect to; absent: the handshake is enough. */
      connect_to: z
        .string()
        .max(300)
        .refine((text) => typeof parseHostPort(text, onward) !== 'string', 'Where to connect is written as host:port.')
        .optional(),
      /**
       * Who looks up the name in `connect_to`. `probe`: the probe does, its address policy judges the address, and the proxy gets the
       * address. `proxy`: the proxy gets the name, which the policy cannot judge; addresses are judged all the same.
       */
      resolve_at: z.enum(['probe', 'proxy']).default('probe'),
      ...addressFields(),
    })
    .refine(...loginIsWhole),
);
export type Socks5Settings = z.infer<ReturnType<typeof socks5Settings>>;

/** A SOCKS5 proxy (RFC 1928, RFC 1929): it shakes hands, signs in, and connects where that is asked for. */
export const socks5 = conversation({
  type: 'socks5',
  summary: 'A SOCKS5 proxy: handshake, sign-in, connection through it',
  reference: {
    targets: ['proxy.example.com:1080', 'socks5://proxy.example.com'],
    settings: { connect_to: 'www.example.com:443' },
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: { method: 'How the client signed in.', connected_to: 'Where the proxy connected to.' },
  },
  settings: socks5Settings,
  peer: 'a SOCKS5 proxy',
  codes: 'socks_protocol',
  target: { plain: { socks5: 1080, socks5h: 1080, socks: 1080 } },
  talk: async (session, settings) => {
    const { trace } = session.context;
    await session.locate();
    const destination = await findDestination(session, settings);
    await session.open();
    await shakeHands(session, settings);
    const method = settings.username === undefined ? 'none' : 'username_password';
    session.note('method', method);
    trace?.('socks', `signed in (${method})`);
    if (destination === undefined) return;
    const where = named({ address: destination.host, port: destination.port });
    session.note('connected_to', where);
    await connectOnward(session, destination);
    trace?.('socks', `the proxy connected to ${where}`);
  },
});

/** Where the proxy shall connect to, judged as far as it is an address, before anything is opened. */
async function findDestination(session: Session, settings: Socks5Settings): Promise<HostPort | undefined> {
  if (settings.connect_to === undefined) return undefined;
  const parsed = parseHostPort(settings.connect_to, onward);
  if (typeof parsed === 'string') throw new Error(`The settings were not validated: ${parsed}`);
  const host = parseHost(parsed.host);
  // A name that stands for this very machine, or one of the proxy's own, is never left to the proxy.
  if (host.kind === 'name' && settings.resolve_at === 'proxy' && !/(^|\.)(localhost|internal|local)$/.test(host.name))
    return { host: host.name, port: parsed.port };
  const located = await locate(parsed.host, parsed.port, session.context);
  if (!located.ok) throw new Ended(located.failure);
  return { host: located.endpoint.address, port: located.endpoint.port };
}

const version = 5;
const noAuthentication = 0;
const usernamePassword = 2;
const noMethod = 0xff;

/** The choice of a method and the sign-in. */
async function shakeHands(session: Session, { username, password }: Socks5Settings): Promise<void> {
  const { where } = session;
  const offered = username === undefined ? noAuthentication : usernamePassword;
  session.say(Buffer.from([version, 1, offered]));
  const chosen = await session.hear('its choice of a method', pairReader(session, version));
  if (chosen === noMethod && username === undefined)
    session.fail(
      'socks_auth_required',
      `${where} asks for a user name and password (or takes no client like this one).`,
    );
  if (chosen === noMethod) session.fail('socks_auth_failed', `${where} does not take a user name and password.`);
  if (chosen !== offered) session.breach('It chose a method that was not offered.');
  if (username === undefined || password === undefined) return;
  const name = Buffer.from(username);
  const secret = Buffer.from(password);
  session.say(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([secret.length]), secret]));
  let verdict: number;
  try {
    verdict = await session.hear('its verdict on the password', pairReader(session));
  } catch (error) {
    // Many proxies close the connection instead of answering (RFC 1929 asks them to close it after the answer).
    if (!(error instanceof Ended) || error.failure.code !== 'connect_reset') throw error;
    return session.fail(
      'socks_auth_failed',
      `${where} closed the connection instead of accepting the user name and password.`,
    );
  }
  if (verdict !== 0) session.fail('socks_auth_failed', `${where} refused the user name and password.`);
}

/**
 * Two bytes of which the first is a version; the second is what counts. Without a wanted version any will do: proxies write 1 or 5 in front of
 * their verdict on a password.
 */
function pairReader(session: Session, wanted?: number): Reader<number> {
  return (bytes) => {
    if (wanted !== undefined && bytes[0] !== wanted) session.breach('It did not answer with SOCKS5.');
    const value = bytes[1];
    return value === undefined ? { need: 2 } : { value, used: 2 };
  };
}

/** The meaning of RFC 1928, 6. */
const replies: Readonly<Record<number, string>> = {
  1: 'a general failure',
  2: 'its rules do not allow it',
  3: 'the network is unreachable',
  4: 'the host is unreachable',
  5: 'the connection was refused',
  6: 'the time to live expired',
  7: 'it does not know the command',
  8: 'it does not know the kind of address',
};

async function connectOnward(session: Session, to: HostPort): Promise<void> {
  const port = Buffer.from([to.port >> 8, to.port & 0xff]);
  session.say(Buffer.concat([Buffer.from([version, 1, 0]), addressField(to.host), port]));
  const answer = await session.hear('its verdict on the connection', (bytes) => takeReply(bytes, session));
  if (answer === 0) return;
  const reason = replies[answer] ?? `code ${answer}`;
  const where = named({ address: to.host, port: to.port });
  session.fail('socks_connect_failed', `${session.where} could not connect to ${where}: ${reason}.`);
}

/** A reply has the length that its address has. */
function takeReply(bytes: Buffer, session: Session): Taken<number> {
  const [first, reply, , kind, length] = bytes;
  if (first !== version) session.breach('It did not answer with SOCKS5.');
  if (reply === undefined || kind === undefined) return { need: 4 };
  // Some proxies cut the rest of a refusal off.
  if (reply !== 0) return { value: reply, used: bytes.length };
  const addressBytes = kind === 1 ? 4 : kind === 4 ? 16 : kind === 3 ? 1 + (length ?? 255) : undefined;
  if (addressBytes === undefined) return session.breach('It answered with an unknown kind of address.');
  if (kind === 3 && length === undefined) return { need: 5 };
  const used = 4 + addressBytes + 2;
  return bytes.length < used ? { need: used } : { value: reply, used };
}

function addressField(host: string): Buffer {
  if (!ipaddr.isValid(host)) return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host, 'latin1')]);
  const bytes = ipaddr.parse(host).toByteArray();
  return Buffer.from([bytes.length === 4 ? 1 : 4, ...bytes]);
}
