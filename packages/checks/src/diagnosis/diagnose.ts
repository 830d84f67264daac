import type { CheckContext, Target } from '../check.ts';
import { http } from '../http.ts';
import { httpSettings } from '../http/settings.ts';
import type { Purpose } from '../net/address-policy.ts';
import { certificateEvidence, certificateFailure } from '../net/certificate.ts';
import { dial, type Endpoint } from '../net/dial.ts';
import { type Failure, failed } from '../net/failure.ts';
import { readProxy } from '../net/proxy/proxy.ts';
import type { Resolver } from '../net/resolve.ts';
import { openTls } from '../net/tls.ts';
import { withItsNameServers } from '../run/way-of-settings.ts';
import { ssl } from '../ssl.ts';
import type { Diagnosis, Trouble } from './diagnosis.ts';
import { firstBytes } from './first-bytes.ts';
import { tracePath } from './trace-path.ts';
import { type Where, whereIs } from './where.ts';
import { within } from './within.ts';

const maxAddresses = 16;
const maxConnections = 8;
const maxHeaders = 40;
const maxHeaderCharacters = 300;
const bannerMs = 1000;
/** For the name, and for the connections: an address that swallows packets leaves time to look at the others. */
const stepMs = 5000;

/**
 * Looks at a target step by step and says what each step found, good or bad, under the same rules as a check: the name is resolved
 * once, every address is judged before it is dialled, and nothing outlasts `context.timeoutMs` or the signal. Never rejects for anything
 * that the target does. A target that cannot be read gives a diagnosis without addresses.
 *
 * A monitor with a proxy never reaches its target in another way, so the proxy is what is looked at.
 *
 * @param settings of the monitor: only how TLS begins, its name servers and where its proxy is are read from them, nothing secret is used
 */
export function diagnose(
  protocol: string,
  target: Target,
  context: CheckContext,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Diagnosis> {
  const where = proxyPlace(settings) ?? whereIs(protocol, target, settings);
  const purpose = { mail: protocol === 'smtp' };
  return within(context.timeoutMs, { ...context, wanted: undefined, trace: undefined }, (bounded) =>
    look(where, purpose, withItsNameServers(bounded, settings)),
  );
}

/** The proxy of the settings, with what it speaks; undefined where there is none. */
function proxyPlace({ proxy }: Readonly<Record<string, unknown>>): Where | undefined {
  const read = typeof proxy === 'string' ? readProxy(proxy) : 'none';
  if (typeof read === 'string') return undefined;
  const { scheme, host, port } = read;
  return { host, port, tls: scheme === 'https' ? 'implicit' : undefined, web: undefined, hasPath: true };
}

async function look(where: Where, purpose: Purpose, context: CheckContext): Promise<Diagnosis> {
  const { host, port } = where;
  if (host === '') return { host, port: 0, dns: { addresses: [], duration_us: 0, failures: [] }, connections: [] };
  const dns = await within(stepMs, context, (bounded) => resolveAll(host, bounded));
  const [path, found] = await Promise.all([
    where.hasPath ? pathTo(dns.addresses, where, purpose, context) : undefined,
    port === 0 ? { connections: [] } : visit(dns.addresses, where, purpose, context),
  ]);
  return { host, port, dns, ...found, ...(path && { path }) };
}

function pathTo(
  addresses: readonly string[],
  { port }: Where,
  purpose: Purpose,
  context: CheckContext,
): Promise<Diagnosis['path']> | undefined {
  const address = addresses.find((each) => context.addresses.judge(each, port, purpose) === undefined);
  return address === undefined ? undefined : tracePath(address, context);
}

async function visit(
  addresses: readonly string[],
  where: Where,
  purpose: Purpose,
  context: CheckContext,
): Promise<Pick<Diagnosis, 'connections' | 'tls' | 'answer'>> {
  const { host, port } = where;
  const connections = await within(stepMs, context, (bounded) =>
    Promise.all(addresses.slice(0, maxConnections).map((address) => connect({ address, port }, purpose, bounded))),
  );
  const open = connections.find((each) => each.trouble === undefined);
  if (open === undefined) return { connections };
  const endpoint = { address: open.address, port };
  const isSilent = where.tls === 'implicit';
  const [tls, answer] = await Promise.all([
    where.tls === undefined ? undefined : secure(host, where.tls, endpoint, context),
    where.web === undefined ? listenTo(endpoint, isSilent, context) : ask(where.web, endpoint, context),
  ]);
  return { connections, ...(tls && { tls }), ...(answer && { answer }) };
}

function secure(host: string, how: NonNullable<Where['tls']>, endpoint: Endpoint, context: CheckContext) {
  return how === 'implicit' ? shakeHands(host, endpoint, context) : changeToTls(host, how, endpoint, context);
}

async function resolveAll(host: string, context: CheckContext): Promise<Diagnosis['dns']> {
  const { resolver, signal, timeoutMs } = context;
  const families = [4, 6] as const;
  const asked = families.map(async (family) => ({
    family,
    resolution: await resolver.resolve(host, { family, signal, deadlineMs: timeoutMs }),
  }));
  const answers = await Promise.all(asked);
  return {
    addresses: answers.flatMap(({ resolution }) => (resolution.ok ? resolution.addresses : [])).slice(0, maxAddresses),
    duration_us: Math.max(...answers.map(({ resolution }) => resolution.durationUs)),
    failures: answers.flatMap(({ family, resolution }) =>
      resolution.ok ? [] : [{ family, ...troubleOf(resolution.failure) }],
    ),
  };
}

async function connect(
  endpoint: Endpoint,
  purpose: Purpose,
  context: CheckContext,
): Promise<Diagnosis['connections'][number]> {
  const { address, port } = endpoint;
  const denial = context.addresses.judge(address, port, purpose);
  if (denial !== undefined) return { address, trouble: { code: 'address_denied', message: `${denial.reason}.` } };
  const dialed = await dial(endpoint, context);
  if (!dialed.ok) return { address, connect_us: dialed.connectUs, trouble: troubleOf(dialed.failure) };
  dialed.socket.destroy();
  return { address, connect_us: dialed.connectUs };
}

async function shakeHands(host: string, endpoint: Endpoint, context: CheckContext): Promise<Diagnosis['tls']> {
  const { address } = endpoint;
  const nowMs = (context.wallClock ?? Date.now)();
  const opened = await openTls(endpoint, { host, verify: false, context: { anyVersion: true } }, context);
  const times = opened.tlsUs === undefined ? {} : { tls_us: opened.tlsUs };
  if (!opened.ok) return { address, ...times, trouble: troubleOf(opened.failure) };
  opened.socket.destroy();
  const certificate = opened.peer && certificateEvidence(opened.peer, nowMs);
  const failure = opened.peer
    ? certificateFailure(opened.peer, host, nowMs)
    : failed('tls_handshake', 'The server presented no certificate.');
  return { address, ...times, ...(certificate && { certificate }), ...(failure && { trouble: troubleOf(failure) }) };
}

/** TLS after the greeting of a protocol, by the check type that knows how. */
async function changeToTls(
  host: string,
  starttls: Exclude<Where['tls'], 'implicit' | undefined>,
  { address, port }: Endpoint,
  context: CheckContext,
): Promise<Diagnosis['tls']> {
  const settings = ssl.settings().parse({ starttls, warn_days_before_expiry: 0 });
  const url = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const found = await ssl.run({ url }, settings, { ...context, resolver: only(address) });
  const { certificate } = found.evidence ?? {};
  const trouble = found.outcome === 'ok' || found.code === undefined ? undefined : found;
  return {
    address,
    ...(found.phases.tls !== undefined && { tls_us: found.phases.tls }),
    ...(certificate && { certificate }),
    ...(trouble?.code && { trouble: { code: trouble.code, message: trouble.message ?? '' } }),
  };
}

/** A resolver that knows one address, so that what was judged and connected to is what is asked. */
function only(address: string): Resolver {
  return { resolve: async () => ({ ok: true, addresses: [address], durationUs: 0 }) };
}

/** The page as a stranger gets it, without credentials, following nothing. */
async function ask(url: URL, { address }: Endpoint, context: CheckContext): Promise<Diagnosis['answer']> {
  const settings = httpSettings().parse({
    expected_status: ['100-599'],
    follow_redirects: false,
    verify_tls: false,
    warn_days_before_expiry: 0,
  });
  const asked = { ...context, resolver: only(address), wanted: new Set(['headers', 'body'] as const) };
  const { phases, evidence = {}, code, message } = await http.run({ url: url.href }, settings, asked);
  const headers = evidence.headers
    ?.slice(0, maxHeaders)
    .map(([name, value]) => [name, value.slice(0, maxHeaderCharacters)] as const);
  return {
    address,
    ...(phases.first_byte !== undefined && { first_byte_us: phases.first_byte }),
    ...(evidence.status !== undefined && { status: evidence.status }),
    ...(headers && { headers }),
    ...(evidence.body !== undefined && { body: evidence.body }),
    ...(code !== undefined && { trouble: { code, message: message ?? '' } }),
  };
}

/** What a server says before it is asked anything. Over TLS that is hardly ever anything, and is not waited for. */
async function listenTo(endpoint: Endpoint, secure: boolean, context: CheckContext): Promise<Diagnosis['answer']> {
  if (secure) return undefined;
  const { address } = endpoint;
  const dialed = await dial(endpoint, context);
  if (!dialed.ok) return { address, trouble: troubleOf(dialed.failure) };
  const heard = await firstBytes(dialed.socket, bannerMs, context);
  dialed.socket.destroy();
  return heard === undefined ? undefined : { address, first_byte_us: heard.firstByteUs, body: heard.text };
}

function troubleOf({ code, message }: Failure): Trouble {
  return { code, message };
}
