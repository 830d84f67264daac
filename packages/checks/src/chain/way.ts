import { whereIs } from '../diagnosis/where.ts';
import { isProtocol, settingsSchema } from '../registry.ts';
import { isStartTlsProtocol, type StartTlsProtocol } from '../ssl/starttls.ts';

/** Where the certificates of a monitor's target are to be had, and how TLS begins there. */
export type ChainWay = {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly starttls: StartTlsProtocol | undefined;
  /** The name that is asked for and has to stand in the certificate. */
  readonly serverName: string;
};

/** Types that can change to TLS after a beginning in the clear, with the dialogue that does it. */
const upgrades: Readonly<Record<string, StartTlsProtocol>> = {
  smtp: 'smtp',
  imap: 'imap',
  pop3: 'pop3',
  ftp: 'ftp',
  ftps: 'ftp',
  postgres: 'postgres',
  mysql: 'mysql',
  ldap: 'ldap',
};
/** Their handshake is wrapped in messages of the protocol's own, or comes behind ones that only the check type speaks. */
const wrapped = new Set(['mssql', 'nats']);

/**
 * How the certificate chain of a target is reached; undefined where the monitor's protocol and settings have no TLS that can be looked at.
 * @param settings of the monitor as they are stored; what they leave out has its default
 */
export function chainWayOf(
  protocol: string,
  url: string,
  settings: Readonly<Record<string, unknown>>,
): ChainWay | undefined {
  if (!isProtocol(protocol) || wrapped.has(protocol)) return undefined;
  const parsed = settingsSchema(protocol).safeParse(settings);
  const whole = parsed.success ? (parsed.data as Readonly<Record<string, unknown>>) : settings;
  const where = whereIs(protocol, { url }, whole);
  if (where.host === '' || where.port === 0) return undefined;
  const begin = beginOf(protocol, whole, where.tls);
  if (begin === undefined) return undefined;
  const { server_name: named } = whole;
  return {
    host: where.host,
    port: where.port,
    starttls: begin === 'implicit' ? undefined : begin,
    serverName: typeof named === 'string' ? named : where.host,
  };
}

function beginOf(
  protocol: string,
  settings: Readonly<Record<string, unknown>>,
  found: 'implicit' | StartTlsProtocol | undefined,
): 'implicit' | StartTlsProtocol | undefined {
  const { starttls, tls } = settings;
  if (protocol === 'ssl' || protocol === 'tls') return isStartTlsProtocol(starttls) ? starttls : 'implicit';
  if (found !== undefined || !Object.hasOwn(upgrades, protocol)) return found;
  // `auto` takes TLS where the server has it: there is a chain to be seen as soon as it does.
  return tls === 'auto' || tls === 'starttls' ? upgrades[protocol] : undefined;
}
