import ipaddr from 'ipaddr.js';
import type { ErrorCode } from '../../outcome.ts';
import type { HostPort } from '../host.ts';
import { Ended, type Reader, type Taken } from '../talk.ts';

/** Whoever SOCKS is spoken with, as a target or on the way to one. */
export type SocksPeer = {
  readonly where: string;
  readonly say: (bytes: Uint8Array | string) => void;
  readonly hear: <Value>(waitingFor: string, read: Reader<Value>) => Promise<Value>;
  readonly fail: (code: ErrorCode, message: string) => never;
  readonly breach: (what: string) => never;
};

export type SocksLogin = { readonly username?: string | undefined; readonly password?: string | undefined };

const version = 5;
const noAuthentication = 0;
const usernamePassword = 2;
const noMethod = 0xff;

/** The choice of a method and the sign-in (RFC 1928, 3; RFC 1929). */
export async function shakeHands(peer: SocksPeer, { username, password }: SocksLogin): Promise<void> {
  const { where } = peer;
  const offered = username === undefined ? noAuthentication : usernamePassword;
  peer.say(Buffer.from([version, 1, offered]));
  const chosen = await peer.hear('its choice of a method', pairReader(peer, version));
  if (chosen === noMethod && username === undefined)
    peer.fail('socks_auth_required', `${where} asks for a user name and password (or takes no client like this one).`);
  if (chosen === noMethod) peer.fail('socks_auth_failed', `${where} does not take a user name and password.`);
  if (chosen !== offered) peer.breach('It chose a method that was not offered.');
  if (username === undefined || password === undefined) return;
  const name = Buffer.from(username);
  const secret = Buffer.from(password);
  peer.say(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([secret.length]), secret]));
  let verdict: number;
  try {
    verdict = await peer.hear('its verdict on the password', pairReader(peer));
  } catch (error) {
    // Many proxies close the connection instead of answering (RFC 1929 asks them to close it after the answer).
    if (!(error instanceof Ended) || error.failure.code !== 'connect_reset') throw error;
    return peer.fail(
      'socks_auth_failed',
      `${where} closed the connection instead of accepting the user name and password.`,
    );
  }
  if (verdict !== 0) peer.fail('socks_auth_failed', `${where} refused the user name and password.`);
}

/**
 * Two bytes of which the first is a version; the second is what counts. Without a wanted version any will do: proxies write 1 or 5 in front of
 * their verdict on a password.
 */
function pairReader(peer: SocksPeer, wanted?: number): Reader<number> {
  return (bytes) => {
    if (wanted !== undefined && bytes[0] !== wanted) peer.breach('It did not answer with SOCKS5.');
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

/** What a reply to a request to connect means, for the middle of a sentence. */
export function replyMeaning(reply: number): string {
  return replies[reply] ?? `code ${reply}`;
}

/** Asks for a connection and gives the reply; 0 is a connection (RFC 1928, 4). */
export function askToConnect(peer: SocksPeer, to: HostPort): Promise<number> {
  const port = Buffer.from([to.port >> 8, to.port & 0xff]);
  peer.say(Buffer.concat([Buffer.from([version, 1, 0]), addressField(to.host), port]));
  return peer.hear('its verdict on the connection', (bytes) => takeReply(bytes, peer));
}

/** A reply has the length that its address has. */
function takeReply(bytes: Buffer, peer: SocksPeer): Taken<number> {
  const [first, reply, , kind, length] = bytes;
  if (first !== version) peer.breach('It did not answer with SOCKS5.');
  if (reply === undefined || kind === undefined) return { need: 4 };
  // Some proxies cut the rest of a refusal off.
  if (reply !== 0) return { value: reply, used: bytes.length };
  const addressBytes = kind === 1 ? 4 : kind === 4 ? 16 : kind === 3 ? 1 + (length ?? 255) : undefined;
  if (addressBytes === undefined) return peer.breach('It answered with an unknown kind of address.');
  if (kind === 3 && length === undefined) return { need: 5 };
  const used = 4 + addressBytes + 2;
  return bytes.length < used ? { need: used } : { value: reply, used };
}

function addressField(host: string): Buffer {
  if (!ipaddr.isValid(host)) return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host, 'latin1')]);
  const bytes = ipaddr.parse(host).toByteArray();
  return Buffer.from([bytes.length === 4 ? 1 : 4, ...bytes]);
}
