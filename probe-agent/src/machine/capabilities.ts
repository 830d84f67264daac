import { networkInterfaces } from 'node:os';
import { findBrowser, hasRoute, tryBrowser, tryDockerSocket, tryPing, tryTraceroute } from '@parallax/checks/trials';
import type { PingTrial, SocketTrial, TracerouteTrial } from '@parallax/checks/trials';
import type { ProbeCapability } from '@parallax/checks';
import { fine } from './finding.ts';
import type { Finding } from './finding.ts';
import type { MachineOptions } from './options.ts';

/** Whether this machine has what some checks need. Only what is `present` is told to the control plane, which assigns by it. */
export type CapabilityFinding = Finding & { readonly name: ProbeCapability; readonly present: boolean };

/** Looks at the machine by trying, all at the same time: about a second where a browser is switched on, else some milliseconds. */
export async function inspectMachine(options: MachineOptions): Promise<CapabilityFinding[]> {
  const [ping, route6, traced, browser, docker] = await Promise.all([
    tryPing(),
    hasRoute(6),
    tryTraceroute(),
    browserOf(options),
    Promise.all((options.dockerSockets ?? []).map((path) => tryDockerSocket(path))),
  ]);
  return [
    pingFinding(ping),
    ipv6Finding(globalIpv6(), route6),
    tracerouteFinding(traced),
    browser,
    ...dockerFindings(docker),
  ];
}

/** The capabilities that the control plane is told of. */
export function capabilitiesOf(findings: readonly CapabilityFinding[]): ProbeCapability[] {
  return findings.filter((finding) => finding.present).map((finding) => finding.name);
}

/** What a trial of pinging says. */
export function pingFinding({ path = '', name, works, reason }: PingTrial): CapabilityFinding {
  if (name === undefined)
    return missing('icmp', 'fail', `${reason}: pings are not assigned to this probe`, 'apt-get install fping');
  if (!works) {
    const detail = `${path} does not work here (${reason}): pings are not assigned to this probe`;
    return missing(
      'icmp',
      'fail',
      detail,
      `setcap cap_net_raw+ep ${path}, or AmbientCapabilities=CAP_NET_RAW in its unit`,
    );
  }
  if (name === 'fping') return { ...fine('icmp', `${path} works`), name: 'icmp', present: true };
  const detail = `${path} works, but costs one process for each check`;
  return { name: 'icmp', level: 'warn', present: true, detail, remedy: 'apt-get install fping' };
}

/** What an address and a route say about IPv6. */
export function ipv6Finding(address: string | undefined, hasDefaultRoute: boolean): CapabilityFinding {
  const without = 'checks that ask for IPv6 are not assigned to this probe';
  if (address === undefined)
    return missing(
      'ipv6',
      'warn',
      `no interface has a global IPv6 address: ${without}`,
      'give this machine an IPv6 address; "ip -6 address" shows what it has',
    );
  if (!hasDefaultRoute)
    return missing(
      'ipv6',
      'warn',
      `${address}, but no route leads to the Internet: ${without}`,
      'ip -6 route add default via GATEWAY dev INTERFACE',
    );
  return { ...fine('ipv6', `${address}, with a route to the Internet`), name: 'ipv6', present: true };
}

/** What a trial of tracing says. Without raw sockets UDP alone works, which is enough for the default settings. */
export function tracerouteFinding({ path, methods }: TracerouteTrial): CapabilityFinding {
  const without = 'checks of paths are not assigned to this probe';
  if (path === undefined)
    return missing('traceroute', 'warn', `traceroute is not installed: ${without}`, 'apt-get install traceroute');
  if (!methods.includes('udp'))
    return missing(
      'traceroute',
      'warn',
      `${path} does not work here: ${without}`,
      `${path} -n -m 1 127.0.0.1 shows why`,
    );
  const lacking = ['icmp', 'tcp'].filter((each) => !methods.some((method) => method === each));
  if (lacking.length === 0)
    return { ...fine('traceroute', `${path} by UDP, ICMP and TCP`), name: 'traceroute', present: true };
  return {
    name: 'traceroute',
    level: 'warn',
    present: true,
    detail: `${path} by UDP; ${lacking.join(' and ').toUpperCase()} needs raw sockets`,
    remedy: `setcap cap_net_raw+ep ${path}, or AmbientCapabilities=CAP_NET_RAW in its unit`,
  };
}

/**
 * What trials of the sockets say that the operator lets checks ask; nothing where there are none, which is how most probes are meant to be.
 * A daemon that does not run now is what such a check is there to find.
 */
export function dockerFindings(trials: readonly SocketTrial[]): CapabilityFinding[] {
  if (trials.length === 0) return [];
  const forbidden = trials.filter(({ result }) => result === 'forbidden').map(({ path }) => path);
  const absent = trials.filter(({ result }) => result === 'absent').map(({ path }) => path);
  const present = forbidden.length < trials.length;
  if (forbidden.length > 0) {
    const without = present ? 'checks over it fail' : 'checks over sockets of Docker are not assigned to this probe';
    const detail = `the agent may not open ${forbidden.join(', ')}: ${without}`;
    const remedy = 'put the account of the agent into the group that the socket belongs to: usermod -aG docker ACCOUNT';
    return [{ name: 'docker', level: 'fail', present, detail, remedy }];
  }
  if (absent.length > 0) {
    const detail = `nobody listens on ${absent.join(', ')}`;
    return [{ name: 'docker', level: 'warn', present, detail, remedy: 'systemctl start docker' }];
  }
  return [{ ...fine('docker', `${trials.map(({ path }) => path).join(', ')} can be asked`), name: 'docker', present }];
}

async function browserOf({ browser, browserAccount }: MachineOptions): Promise<CapabilityFinding> {
  const without = 'checks of the type pagespeed are not assigned to this probe';
  if (browser === undefined) {
    const installed = findBrowser();
    const setting = `PARALLAX_PROBE_BROWSER=${installed ?? '/usr/bin/chromium'}`;
    const remedy = installed === undefined ? `apt-get install chromium, then set ${setting}` : `set ${setting}`;
    return missing('browser', 'warn', `no browser is switched on: ${without}`, remedy);
  }
  const tried = await tryBrowser({ path: browser, account: browserAccount });
  if (tried.ok) return { ...fine('browser', `${browser} starts (${tried.version})`), name: 'browser', present: true };
  return missing(
    'browser',
    'fail',
    `${browser} does not start: ${tried.reason}; ${without}`,
    'start it by hand under the account of the agent with --headless --dump-dom about:blank; it needs user namespaces for its sandbox',
  );
}

function globalIpv6(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe80:/i.test(address))?.address;
}

function missing(name: ProbeCapability, level: 'warn' | 'fail', detail: string, remedy: string): CapabilityFinding {
  return { name, level, present: false, detail, remedy };
}
