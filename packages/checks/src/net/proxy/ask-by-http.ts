import type { CheckContext } from '../../check.ts';
import { type Failure, failed, timedOut } from '../failure.ts';
import type { HostPort } from '../host.ts';
import { named } from '../dial.ts';
import type { Taken } from '../talk.ts';
import type { ProxyAddress } from './proxy.ts';
import type { ProxyTalk } from './proxy-talk.ts';

/** Largest head of an answer. */
const maxHeadBytes = 16 * 1024;

/**
 * Asks a proxy of HTTP for a connection (CONNECT, RFC 9110, 9.3.6), for every target alike: only inside a tunnel can what the target says be told
 * from what the proxy says. Gives the failure; undefined when the connection stands. The status of the answer alone is shown, since a proxy
 * could send its credentials back in the rest.
 */
export async function askByHttp(
  talk: ProxyTalk,
  { username, password }: ProxyAddress,
  target: HostPort,
  context: CheckContext,
): Promise<Failure | undefined> {
  const authority = named({ address: target.host, port: target.port });
  const credentials = Buffer.from(`${username ?? ''}:${password ?? ''}`, 'utf8').toString('base64');
  const login = username === undefined ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`;
  talk.hasAsked = true;
  talk.say(
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nUser-Agent: ${context.userAgent}\r\n${login}Proxy-Connection: keep-alive\r\n\r\n`,
  );
  const status = await talk.hear('its answer to CONNECT', (bytes) => takeHead(bytes, talk));
  if (status >= 200 && status < 300) return undefined;
  const said = `The proxy ${talk.where} answered ${status} to CONNECT ${authority}`;
  switch (status) {
    case 407: {
      const why =
        username === undefined ? 'it asks for a user name and password' : 'it refused the user name and password';
      return failed('proxy_auth', `${said}: ${why}.`);
    }
    case 504:
      return timedOut('connect_timeout', `${said}: it got no connection to the target in time.`);
    case 502:
    case 503:
      return failed('connect_failed', `${said}: it could not connect to the target.`);
    default:
      return failed('proxy_error', `${said}: it does not connect there.`);
  }
}

/** The status of an answer, with its head taken as a whole. */
function takeHead(bytes: Buffer, talk: ProxyTalk): Taken<number> {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) {
    if (!'HTTP/1.'.startsWith(bytes.toString('latin1', 0, 7))) return talk.breach('It did not answer with HTTP.');
    return bytes.length > maxHeadBytes ? talk.breach('The head of its answer is too large.') : undefined;
  }
  const status = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |\r)/.exec(bytes.toString('latin1', 0, 32))?.[1];
  if (status === undefined) return talk.breach('It did not answer with HTTP.');
  return { value: Number(status), used: end + 4 };
}
