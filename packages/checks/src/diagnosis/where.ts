import type { Address, Target } from '../check.ts';
import { parseHostPort } from '../net/host.ts';
import { checkTypeOf, isProtocol } from '../registry.ts';

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
const datagrams = new Set(['icmp', 'ping', 'traceroute', 'udp', 'ntp', 'snmp', 'radius']);
const webTypes = new Set(['http', 'https', 'pagespeed', 'ws', 'wss', 'api']);

type Settings = Readonly<Record<string, unknown>>;

/**
 * Reads where a target is and what it speaks, as its check type itself reads it. User information is neither used nor given. Hostile or unreadable targets
 * give an empty host.
 */
export function whereIs(protocol: string, target: Target, settings: Settings = {}): Where {
  const text = target.url.trim();
  if (webTypes.has(protocol)) return onTheWeb(protocol, text);
  const whole = withDefaults(protocol, settings);
  const address = addressOf(protocol, target, whole);
  if (typeof address === 'string') return nowhere;
  const host = address.host.replace(/^\[|\]$/g, '');
  const hasPath = !questions.has(protocol);
  if (!hasPath || !isStream(protocol, address, whole))
    return { host, port: 0, tls: undefined, web: undefined, hasPath };
  return { host, port: address.port, tls: tlsOf(protocol, address, whole), web: undefined, hasPath };
}

/** What a check of the type is given: each setting that can be read, else its default. Others may be missing here, such as secrets. */
function withDefaults(protocol: string, settings: Settings): Settings {
  if (!isProtocol(protocol)) return settings;
  const fields = Object.entries(checkTypeOf(protocol).settings().shape);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const given = field.safeParse(settings[name]);
      const read = given.success ? given : field.safeParse(undefined);
      return read.success ? [[name, read.data]] : [];
    }),
  );
}

function addressOf(protocol: string, target: Target, settings: Settings): Address | string {
  const type = isProtocol(protocol) ? checkTypeOf(protocol) : undefined;
  if (type?.addressOf !== undefined) return type.addressOf(target, settings);
  const parsed = parseHostPort(target.url, { schemes: { [protocol]: 0, icmp: 0, ping: 0 }, defaultPort: 0 });
  return typeof parsed === 'string' ? parsed : { ...parsed, tls: 'none' };
}

function isStream(protocol: string, { tls }: Address, settings: Settings): boolean {
  if (protocol === 'sip') return tls === 'implicit' || settings['transport'] === 'tcp';
  // The one game server that is asked over a connection.
  if (protocol === 'gamedig') return settings['game'] === 'minecraft_java';
  return !datagrams.has(protocol);
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

/** What begins TLS; undefined where there is none, where the server decides (`auto`), and where only the check itself can begin it. */
function tlsOf(protocol: string, { tls }: Address, settings: Settings): Where['tls'] {
  if (tls === 'implicit') return 'implicit';
  const isAsked = tls === 'starttls' || (tls === 'auto' && protocol === 'ftps');
  if (!isAsked) return undefined;
  const spoken = protocol === 'ssl' || protocol === 'tls' ? settings['starttls'] : protocol;
  const known = Object.entries(startTlsTypes).find(([name, each]) => name === spoken || each === spoken);
  return known?.[1];
}
