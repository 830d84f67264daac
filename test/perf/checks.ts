import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import { measureAgentPart, undoing } from './agent.ts';
import { type Blackbox, findBlackbox, startBlackbox } from './agent/blackbox.ts';
import { median } from './agent/lateness.ts';
import { addressCount, compile, startTarget, targetAddress } from './agent/target.ts';
import type { Teardown } from './agent/teardown.ts';
import type { LoopOrder } from './checks/check-loop.ts';
import { type Checker, startChecker } from './checks/checker.ts';
import { measureMemory, type MemoryPlan, wholeMemoryPlan } from './checks/memory.ts';
import { measureOthers, type OthersPlan } from './checks/others.ts';
import { topOf } from './checks/profile.ts';
import { measureCurl, measureFloor, measureFping, startTlsTarget, tlsName } from './checks/programs.ts';
import type { Bench, BenchOptions, Figures } from './report.ts';

type Plan = {
  readonly rounds: number;
  /** A turn of the warm-up, which ends when it is no cheaper than the one before, or after so many. */
  readonly warmMs: number;
  readonly warmTurns: number;
  readonly ms: number;
  /** How long pings are begun. */
  readonly pingMs: number;
  readonly packets: number;
  /** Of one curl. */
  readonly requests: number;
  readonly others: OthersPlan;
  readonly memory: MemoryPlan;
};
const whole: Plan = {
  rounds: 3,
  warmMs: 700,
  warmTurns: 6,
  ms: 1_000,
  pingMs: 1_500,
  packets: 6,
  requests: 500,
  others: { warmMs: 150, ms: 250 },
  memory: wholeMemoryPlan,
};
const brief: Plan = {
  rounds: 1,
  warmMs: 100,
  warmTurns: 1,
  ms: 200,
  pingMs: 100,
  packets: 2,
  requests: 20,
  others: { warmMs: 50, ms: 100, only: ['tcp', 'redis', 'smtp'] },
  memory: { monitors: 200, intervalS: 1, idleMs: 300, settleMs: 700, watchMs: 300, fromSources: true },
};
const width = 64;
const pinged = 200;

/** What a check costs by itself, of every kind, beside programs that do the same, in one run; then the whole agent. */
export const checksBench: Bench = {
  name: 'checks',
  summary: 'every kind of check beside a C floor, blackbox_exporter, curl and fping; then the whole agent, briefly',
  run: async (say, options) => {
    const isBrief = options?.brief === true;
    const plan = isBrief ? brief : whole;
    const alone = await undoing((teardown) => measureAlone(plan, say, teardown, options));
    for (const name of options?.profiles === undefined ? [] : profiledTypes)
      for (const line of [`${name}:`, ...topOf(profileOf(options?.profiles, name) ?? '', 15)]) say(line);
    const agent = await measureAgentPart(say, isBrief);
    say('memory of the agent, idle and with monitors');
    const found = await measureMemory(say, plan.memory);
    const memory = { idle_bytes: Math.round(found.idleBytes), bytes_per_monitor: Math.round(found.bytesPerMonitor) };
    const table = [...tableOf(alone), ...agent.table, ...tableOf(memory)];
    return { figures: { ...alone, ...agent.figures, ...memory }, table };
  },
};

const profiledTypes = ['http', 'https'] as const;

function profileOf(folder: string | undefined, type: (typeof profiledTypes)[number]): string | undefined {
  return folder === undefined ? undefined : path.resolve(folder, `${type}.cpuprofile`);
}

/** One way to make a check; gives µs of processor time. */
type Way = { readonly name: string; readonly measure: () => Promise<number> };
type Ours = Omit<LoopOrder, 'ms' | 'width'> & Partial<Pick<LoopOrder, 'ms' | 'width'>>;

async function measureAlone(
  plan: Plan,
  say: (line: string) => void,
  teardown: Teardown,
  options: BenchOptions | undefined,
): Promise<Figures> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-bench-'));
  teardown(() => rmSync(folder, { recursive: true, force: true }));
  const profiles = options?.profiles;
  if (profiles !== undefined) {
    mkdirSync(profiles, { recursive: true });
    say(`profiles go to ${profiles}: the figures of HTTP and HTTPS contain what profiling costs`);
  }
  const ways: Way[] = [];
  const warming: (() => Promise<void>)[] = [];
  const add = (name: string, measure: () => Promise<number>): void => void ways.push({ name, measure });
  // A process for each, as code that has seen one kind of check only is compiled for it: otherwise the order would matter.
  const ours = (
    name: string,
    wanted: Ours,
    checker: Checker = startChecker(teardown),
    turns = plan.warmTurns,
  ): void => {
    const order = { width, ms: plan.ms, ...wanted };
    warming.push(() => checker.warm({ ...order, ms: plan.warmMs }, turns));
    add(name, () => checker.measure(order));
  };
  const profiled = (name: (typeof profiledTypes)[number]): Checker =>
    startChecker(teardown, { profile: profileOf(profiles, name) });
  const blackboxBinary = findBlackbox();
  const blackbox = async (name: string, targetPort: number, secure: boolean): Promise<void> => {
    if (blackboxBinary === undefined) return;
    const started: Blackbox = await startBlackbox(blackboxBinary, { folder, targetPort, secure }, teardown);
    warming.push(async () => void (await started.probe(plan.warmMs)));
    add(name, async () => {
      const { us, requests } = await started.probe(plan.ms);
      return us / requests;
    });
  };

  const program = compile('target', folder);
  const target = await startTarget('binary' in program ? program.binary : undefined, teardown);
  const hosts = Array.from({ length: addressCount }, (_, index) => targetAddress(index));
  const urls = hosts.map((host) => `http://${host}:${target.port}/`);
  ours('http_us', { protocol: 'http', urls, settings: {} }, profiled('http'));
  const floor = compile('floor', folder);
  if ('binary' in floor)
    add('http_floor_us', () => measureFloor(floor.binary, [target.port, plan.ms, 256, addressCount]));
  else say(`${floor.missing}: there are no floors`);
  await blackbox('http_blackbox_us', target.port, false);
  const hasCurl = findProgram('curl') !== undefined;
  if (hasCurl) add('http_curl_us', () => measureCurl(urls[0] ?? '', plan.requests));

  const tls = await startTlsTarget(folder, teardown);
  if ('missing' in tls) say(`${tls.missing}: nothing is measured over TLS`);
  else {
    const url = `https://${tlsName}:${tls.port}/`;
    const trust = { ca_certificates: tls.authorityPem };
    const https = { protocol: 'https', urls: hosts.map(() => url) };
    ours('https_us', { ...https, settings: trust }, profiled('https'));
    add('https_floor_us', () => measureFloor(tls.floor, [tls.port, plan.ms, width, tls.authorityFile, tlsName]));
    await blackbox('https_blackbox_us', tls.port, true);
    if (hasCurl) add('https_curl_us', () => measureCurl(url, plan.requests, tls.authorityFile));
    ours('https_secret_us', { ...https, settings: { ...trust, bearer_token: 'of-the-bench' } });
  }
  if (findProgram('fping') !== undefined) {
    const urls = hosts.slice(0, pinged);
    const order = { protocol: 'icmp', urls, width: pinged, ms: plan.pingMs, together: true };
    // A turn takes as long as its packets are apart.
    ours('icmp_us', { ...order, settings: { count: plan.packets } }, startChecker(teardown), 2);
    add('icmp_fping_us', async () => (await measureFping(urls, plan.packets)) * plan.packets);
  } else say('fping is not installed (apt-get install fping): pings are left out');

  say('every check is made until it becomes no cheaper');
  for (const warm of warming) await warm();
  const found = new Map<string, number[]>(ways.map((way) => [way.name, []]));
  for (let round = 1; round <= plan.rounds; round += 1) {
    say(`round ${round} of ${plan.rounds}: ${ways.map((way) => way.name.replace(/_us$/, '')).join(', ')}`);
    for (const way of ways) found.get(way.name)?.push(await way.measure());
  }
  say('the other types, one after the other');
  const others = await measureOthers(startChecker(teardown), plan.others, say, teardown);
  return { ...figuresOf(found), ...others };
}

/** Medians, and medians of the ratios of each round. */
function figuresOf(found: ReadonlyMap<string, readonly number[]>): Figures {
  const figures: Record<string, number> = {};
  for (const [name, values] of found) figures[name] = round(median(values), 10);
  const ratio = (name: string, of: string, to: string): void => {
    const [ours, others] = [found.get(of), found.get(to)];
    if (ours === undefined || others === undefined) return;
    figures[name] = round(median(ours.map((each, at) => each / (others[at] ?? Number.NaN))), 1_000);
  };
  ratio('http_check_vs_floor', 'http_us', 'http_floor_us');
  ratio('http_check_vs_blackbox', 'http_us', 'http_blackbox_us');
  ratio('https_vs_floor', 'https_us', 'https_floor_us');
  ratio('https_vs_blackbox', 'https_us', 'https_blackbox_us');
  ratio('icmp_vs_fping', 'icmp_us', 'icmp_fping_us');
  return figures;
}

const goals: Readonly<Record<string, string>> = {
  https_vs_floor: ' (goal 1.35)',
  https_vs_blackbox: ' (goal 0.85)',
  icmp_vs_fping: ' (goal 3)',
  idle_bytes: ' (goal 115,000,000)',
  bytes_per_monitor: ' (goal 15,000)',
};
const meanings: Readonly<Record<string, string>> = {
  https_secret_us: 'https with credentials, which keep the hybrid key exchange',
  idle_bytes: 'idle bytes of the executable',
};

function tableOf(figures: Figures): (readonly [string, string])[] {
  return Object.entries(figures).map(([name, value]) => [
    meanings[name] ?? name.replace(/_us$/, '').replaceAll('_', ' '),
    name.endsWith('_us') ? `${value} µs` : `${value}${goals[name] ?? ''}`,
  ]);
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
