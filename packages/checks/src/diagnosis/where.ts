import type { Target } from '../check.ts';
import { parseHostPort } from '../net/host.ts';
import { isSecureScheme, usualPort } from './usual-port.ts';

/** Protocols of `ssl`'s STARTTLS, as far as a check type of its own speaks them. */
export const startTlsTypes = {
  smtp: 'smtp',
  imap: 'imap',
  pop3: 'pop3',
  ftps: 'ftp',
  postgres: 'postgres',
  ldap: 'ldap',
} as const;
type StartTls = (typeof startTlsTypes)[keyof typeof startTlsTypes];

/** What there is to look at. */
export type Where = {
  /** Empty when the target cannot be read. */
  readonly host: string;
  /** 0 when there is no port to connect to. */
  readonly port: number;
  /** How TLS begins; undefined for none. */
  readonly tls: 'implicit' | StartTls | undefined;
  /** The page to ask for, without credentials. */
  readonly web: URL | undefined;
  /** Whether the path to the host means anything: not where the target is a name that is asked about elsewhere. */
  readonly hasPath: boolean;
};

const nowhere: Where = { host: '', port: 0, tls: undefined, web: undefined, hasPath: false };

/** Types whose target is a name to be asked about, not a host to be reached. */
const questions = new Set(['dns', 'dnsbl', 'whois', 'rdap']);
/** Types without connections: a TCP connection to their port would say nothing. */
const datagrams = new Set(['icmp', 'ping', 'traceroute', 'udp', 'ntp', 'snmp', 'radius', 'gamedig']);
const webTypes = new Set(['http', 'https', 'pagespeed', 'ws', 'wss']);

/** Ports on which TLS comes first (IANA). */
const implicitPorts = new Set([443, 465, 563, 636, 853, 989, 990, 993, 995, 5061, 5671, 8443, 8883]);
/** Where port 443 and the like mean something else. */
const neverTls = new Set(['mtproxy', 'ssh', 'sftp', 'socks5']);

/**
 * Reads where a target is and what it speaks, from what the customer wrote and the settings of its type. User information is neither
 * used nor given. Hostile or unreadable targets give an empty host.
 */
export function whereIs(protocol: string, { url }: Target, settings: Readonly<Record<string, unknown>> = {}): Where {
  const text = url.trim();
  if (webTypes.has(protocol)) return onTheWeb(protocol, text);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const isStream = !questions.has(protocol) && !datagrams.has(protocol) && settings['transport'] !== 'udp';
  const speaks = scheme ?? protocol;
  const usual = usualPort(protocol, speaks, settings);
  const parsed = parseHostPort(text, { schemes: { [speaks]: usual }, defaultPort: usual });
  if (typeof parsed === 'string') return nowhere;
  const host = parsed.host.replace(/^\[|\]$/g, '');
  const hasPath = !questions.has(protocol);
  if (!isStream || (protocol === 'sip' && settings['transport'] === undefined && speaks !== 'sips'))
    return { host, port: 0, tls: undefined, web: undefined, hasPath };
  return { host, port: parsed.port, tls: tlsOf(protocol, speaks, parsed.port, settings), web: undefined, hasPath };
}

function onTheWeb(protocol: string, text: string): Where {
  const usual = { http: 'http', ws: 'http' }[protocol] ?? 'https';
  // A WebSocket begins as a request over HTTP.
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text.replace(/^ws(?=s?:)/i, 'http') : `${usual}://${text}`;
  if (!URL.canParse(written)) return nowhere;
  const web = new URL(written);
  if (web.protocol !== 'http:' && web.protocol !== 'https:') return nowhere;
  web.username = '';
  web.password = '';
  const isSecure = web.protocol === 'https:';
  const host = web.hostname.replace(/^\[|\]$/g, '');
  const port = Number(web.port || (isSecure ? 443 : 80));
  return { host, port, tls: isSecure ? 'implicit' : undefined, web, hasPath: true };
}

function tlsOf(
  protocol: string,
  speaks: string,
  port: number,
  settings: Readonly<Record<string, unknown>>,
): Where['tls'] {
  const { tls } = settings;
  if (neverTls.has(protocol)) return undefined;
  if (protocol === 'ssl' || protocol === 'tls') {
    const asked = Object.values(startTlsTypes).find((each) => each === settings['starttls']);
    return asked ?? 'implicit';
  }
  if (tls === 'implicit' || tls === true || settings['transport'] === 'tls') return 'implicit';
  if (tls === 'none' || tls === 'disable') return undefined;
  const isAsked = tls === 'starttls' || tls === 'explicit' || tls === 'require' || settings['starttls'] === true;
  if (isAsked || speaks === 'ftpes')
    return Object.hasOwn(startTlsTypes, protocol) ? startTlsTypes[protocol as keyof typeof startTlsTypes] : undefined;
  if (speaks === 'ftps') return port === 990 ? 'implicit' : 'ftp';
  return isSecureScheme(speaks) || implicitPorts.has(port) ? 'implicit' : undefined;
}
