import { named } from '../dial.ts';
import { type Failure, failed } from '../failure.ts';
import type { HostPort } from '../host.ts';
import type { ProxyAddress } from './proxy.ts';
import type { ProxyTalk } from './proxy-talk.ts';
import { askToConnect, replyMeaning, shakeHands } from './socks-words.ts';

/** What the proxy says of the target, and not of itself. */
const targetReplies = { 3: 'connect_unreachable', 4: 'connect_unreachable', 5: 'connect_refused' } as const;

/** Asks a SOCKS5 proxy for a connection (RFC 1928). Gives the failure; undefined when the connection stands. */
export async function askBySocks(
  talk: ProxyTalk,
  { username, password = '' }: ProxyAddress,
  target: HostPort,
): Promise<Failure | undefined> {
  await shakeHands(talk, { username, password });
  talk.hasAsked = true;
  const reply = await askToConnect(talk, target);
  if (reply === 0) return undefined;
  const where = named({ address: target.host, port: target.port });
  const message = `The proxy ${talk.where} could not connect to ${where}: ${replyMeaning(reply)}.`;
  if (reply === 3 || reply === 4 || reply === 5) return failed(targetReplies[reply], message);
  // A general failure is what most proxies say of a target that takes no connection in time, or of a name that does not exist.
  return failed(reply === 1 || reply === 6 ? 'connect_failed' : 'proxy_error', message);
}
