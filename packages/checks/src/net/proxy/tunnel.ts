import type { Socket } from 'node:net';
import type { CheckContext, Proxy } from '../../check.ts';
import type { Purpose } from '../address-policy.ts';
import { dial, type Dialed, type Endpoint, locate, type Located, named } from '../dial.ts';
import { type Failure, failed, timedOut } from '../failure.ts';
import { type HostPort, parseHost, plainHost } from '../host.ts';
import { Ended } from '../talk.ts';
import { openTls } from '../tls.ts';
import { askByHttp } from './ask-by-http.ts';
import { askBySocks } from './ask-by-socks.ts';
import { type ProxyAddress, writeProxy } from './proxy.ts';
import { ProxyTalk } from './proxy-talk.ts';

/** What a tunnel is opened with. */
export type TunnelSettings = ProxyAddress & {
  /** Authorities that an `https` proxy is trusted by, instead of the public ones. */
  readonly caCertificates: string | undefined;
};

/** Names that stand for this machine or for one of a private network: they are never left to the proxy unjudged. */
const privateName = /(^|\.)(localhost|internal|local)$/;

/** The proxy that these settings name. */
export function proxyOf(settings: TunnelSettings): Proxy {
  return {
    name: writeProxy({ ...settings, username: undefined }),
    locate: async (host, port, context, purpose) => {
      const direct = { ...context, proxy: undefined };
      const target = await judgeTarget(host, port, direct, purpose);
      if ('ok' in target) return target;
      const located = await locate(settings.host, settings.port, traced(direct));
      if (!located.ok) return { ...located, failure: ofProxy(located.failure) };
      const { endpoint, dnsUs } = located;
      const tunnel = {
        target: named({ address: plainHost(host), port }),
        open: (own: CheckContext) => openTunnel(settings, endpoint, target, { ...own, proxy: undefined }),
      };
      return { ok: true, endpoint: { ...endpoint, tunnel }, dnsUs };
    },
  };
}

/** What the proxy is asked for, or why it is not: an address is judged here, a name is the proxy's to look up. */
async function judgeTarget(
  text: string,
  port: number,
  context: CheckContext,
  purpose: Purpose | undefined,
): Promise<HostPort | Located> {
  const host = parseHost(text);
  if (host.kind === 'name' && !privateName.test(host.name)) {
    if (port !== 25 || purpose?.mail === true) return { host: host.name, port };
    const failure = failed('address_denied', `${text} may not be checked: port 25 is opened by mail checks only.`);
    return { ok: false, failure, dnsUs: 0 };
  }
  const located = await locate(text, port, context, purpose && { purpose });
  return located.ok ? { host: located.endpoint.address, port } : located;
}

/** Connects to the proxy, with TLS where its scheme says so, and lets it connect to the target. All of it is the connecting. */
async function openTunnel(
  settings: TunnelSettings,
  proxy: Endpoint,
  target: HostPort,
  given: CheckContext,
): Promise<Dialed> {
  const context = traced(given);
  const start = context.clock();
  const elapsed = () => Math.round((context.clock() - start) * 1000);
  const refuse = (failure: Failure): Dialed => {
    context.trace?.('proxy', failure.message);
    return { ok: false, failure, connectUs: elapsed() };
  };
  const connected = await connect(settings, proxy, context);
  if ('failure' in connected) return refuse(ofProxy(connected.failure));
  const talk = new ProxyTalk(connected.socket, named(proxy), context);
  try {
    const failure = await (settings.scheme === 'socks5' ? askBySocks : askByHttp)(talk, settings, target, context);
    if (failure !== undefined) {
      connected.socket.destroy();
      return refuse(failure);
    }
  } catch (error) {
    connected.socket.destroy();
    if (!(error instanceof Ended)) throw error;
    const isLate = talk.hasAsked && error.failure.outcome === 'timeout';
    return refuse(isLate ? late(talk, target) : ofProxy(error.failure));
  }
  context.trace?.('proxy', `connected to ${named({ address: target.host, port: target.port })}`);
  return { ok: true, socket: talk.release(), connectUs: elapsed() };
}

async function connect(
  settings: TunnelSettings,
  proxy: Endpoint,
  context: CheckContext,
): Promise<{ readonly socket: Socket } | { readonly failure: Failure }> {
  const dialed = await dial(proxy, context);
  if (!dialed.ok) return { failure: dialed.failure };
  if (settings.scheme !== 'https') return { socket: dialed.socket };
  const options = { host: settings.host, verify: true, context: { caCertificates: settings.caCertificates } };
  const opened = await openTls({ socket: dialed.socket, endpoint: proxy }, options, context);
  if (opened.ok) return { socket: opened.socket };
  dialed.socket.destroy();
  return { failure: opened.failure };
}

/** A proxy that waits for a silent target is as silent itself. */
function late(talk: ProxyTalk, { host, port }: HostPort): Failure {
  const where = named({ address: host, port });
  return timedOut('connect_timeout', `The proxy ${talk.where} was not connected to ${where} in time.`);
}

/** Every step of the way to the proxy is one of `proxy` in a trace. */
function traced(context: CheckContext): CheckContext {
  const { trace } = context;
  return trace === undefined ? context : { ...context, trace: (_step, detail) => trace('proxy', detail) };
}

/** Whatever went wrong with the proxy has a code of its own. What the policy, a resolver or this machine says keeps its own. */
function ofProxy(failure: Failure): Failure {
  if (failure.source !== 'target' || failure.code === 'address_denied') return asked(failure);
  const isLogin = failure.code === 'socks_auth_failed' || failure.code === 'socks_auth_required';
  return { ...asked(failure), code: isLogin || failure.code === 'proxy_auth' ? 'proxy_auth' : 'proxy_error' };
}

function asked(failure: Failure): Failure {
  return { ...failure, message: `The proxy cannot be used: ${failure.message}` };
}
