import { findBrowser } from '@parallax/checks/trials';
import {
  rdapDomain,
  startChronyd,
  startDatagrams,
  startDnsmasq,
  startGrpcHealth,
  startNamed,
  startNetwork,
  startNginx,
  startRdap,
  startWebSocket,
  startWhois,
  whoisText,
} from '@parallax/checks/testing';
import { findProgram } from '@parallax/settings/programs';
import { countMissing, needs } from '@parallax/testkit/needs';
import type { Case, World } from './case.ts';

const nginxOf = (world: World) => world.once('nginx', () => startNginx(world.t, world));
const namedOf = (world: World) => world.once('named', () => startNamed(world.t, world));
const networkOf = (world: World) => world.once('network', () => startNetwork(world.t));
const inAYear = () => new Date(Date.now() + 365 * 86_400_000).toISOString();

/** The web, names, time and the network itself. */
export const web = {
  http: async (world: World): Promise<Case | undefined> => {
    const nginx = await nginxOf(world);
    return nginx && { url: nginx.url, settings: { keyword: 'up' }, stop: nginx.stop };
  },
  https: async (world: World): Promise<Case | undefined> => {
    const nginx = await nginxOf(world);
    return nginx && { url: nginx.secureUrl, settings: { ca_certificates: world.authority }, stop: nginx.stop };
  },
  api: async (world: World): Promise<Case | undefined> => {
    const nginx = await nginxOf(world);
    const assertions = { subject: 'body', comparison: 'contains', value: 'up' };
    const steps = [{ url: '/index', assertions }, { url: '/index?again' }];
    return nginx && { url: nginx.url, settings: { steps }, stop: nginx.stop };
  },
  tcp: async (world: World): Promise<Case | undefined> => {
    const nginx = await nginxOf(world);
    const settings = { send: 'HEAD /index HTTP/1.0\r\n\r\n', expect: '200 OK' };
    return nginx && { url: `127.0.0.1:${nginx.port}`, settings, stop: nginx.stop };
  },
  ssl: certificateCase,
  tls: certificateCase,
  ws: (world: World): Promise<Case> => socketCase(world, false),
  wss: (world: World): Promise<Case> => socketCase(world, true),
  grpc: async ({ t }: World): Promise<Case> => startGrpcHealth(t),
  udp: async ({ t }: World): Promise<Case> => {
    const echo = await startDatagrams(t, (bytes) => bytes);
    return { ...echo, settings: { send: 'hello', expect: 'hello' } };
  },
  icmp: pingCase,
  ping: pingCase,
  traceroute: async (world: World): Promise<Case | undefined> => {
    const network = needs(world.t, 'traceroute') ? await networkOf(world) : undefined;
    if (network === undefined) return undefined;
    const settings = { method: 'icmp', max_hops: 2, packets_per_hop: 1 };
    return { ...reached(network), settings, down: { code: 'path_incomplete' } };
  },
  pagespeed: async (world: World): Promise<Case | undefined> => {
    const browser = findBrowser();
    if (browser === undefined) countMissing(world.t, 'chromium');
    const nginx = await nginxOf(world);
    if (browser === undefined || nginx === undefined) return undefined;
    return { url: nginx.url, timeoutSeconds: 30, agent: { PARALLAX_PROBE_BROWSER: browser }, stop: nginx.stop };
  },
  dns: async (world: World): Promise<Case | undefined> => {
    const named = await namedOf(world);
    const dnsmasq = named && (await startDnsmasq(world.t, { upstream: named.port, ds: named.ds }));
    if (dnsmasq === undefined) return undefined;
    const settings = { server: dnsmasq.url, require_dnssec: true, expected_values: ['192.0.2.10'] };
    return { url: 'www.signed.test', settings, stop: dnsmasq.stop };
  },
  dnsbl: async (world: World): Promise<Case | undefined> => {
    const named = await namedOf(world);
    if (named === undefined) return undefined;
    const settings = { server: named.url, lists: ['list.test'] };
    return { url: '127.0.0.9', settings, stop: named.stop, down: { code: 'dnsbl_unavailable' } };
  },
  ntp: async ({ t }: World): Promise<Case | undefined> => startChronyd(t),
  whois: async ({ t }: World): Promise<Case> => {
    const { server, stop } = await startWhois(t, () => whoisText(inAYear()));
    return { url: 'example.test', settings: { whois_server: server }, stop };
  },
  rdap: async ({ t }: World): Promise<Case> => {
    const events = [{ eventAction: 'expiration', eventDate: inAYear() }];
    const { server, stop } = await startRdap(t, () => ({ body: rdapDomain({ events }) }));
    return { url: 'example.test', settings: { rdap_server: server }, stop };
  },
};

async function certificateCase(world: World): Promise<Case | undefined> {
  const nginx = await nginxOf(world);
  if (nginx === undefined) return undefined;
  const url = new URL(nginx.secureUrl).host;
  return { url, settings: { ca_certificates: world.authority }, stop: nginx.stop };
}

async function socketCase({ t, certificate, authority }: World, isSecure: boolean): Promise<Case> {
  const site = await startWebSocket(t, (socket) => socket.send('welcome'), {}, isSecure ? certificate : undefined);
  const settings = { expect: 'welcome', ...(isSecure && { ca_certificates: authority }) };
  return { url: site.url(), settings, stop: site.stop };
}

async function pingCase(world: World): Promise<Case | undefined> {
  const isPossible = findProgram('ping') !== undefined || needs(world.t, 'fping');
  const network = isPossible ? await networkOf(world) : undefined;
  return (
    network && {
      ...reached(network),
      settings: { count: 1 },
      timeoutSeconds: 2,
      down: { status: 'TIMEOUT', code: 'ping_no_reply' },
    }
  );
}

function reached(network: { readonly address: string; readonly cidr: string; readonly stop: () => Promise<void> }) {
  const agent = { PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: `127.0.0.0/8,::1/128,${network.cidr}` };
  return { url: network.address, agent, stop: network.stop };
}
