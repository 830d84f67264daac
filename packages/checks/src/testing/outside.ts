/**
 * The address policy seen from outside. Runs in a network namespace of its own in which every address there is belongs to this machine,
 * so that whatever leaves a check arrives and is counted: by the kernel as an attempt, and by listeners with the address that it was
 * meant for. Prints one JSON object per way out, which address-policy-outside.test.ts judges.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isWhole } from '@parallax/testkit/extent';
import { createAddressPolicy } from '../net/address-policy.ts';
import { createResolver } from '../net/resolve.ts';
import type { CheckContext } from '../check.ts';
import { type Protocol, protocols } from '../registry.ts';
import { runCheck } from '../run.ts';
import { deniedNames, deniedSpellings, isDeniedAddress } from './denied.ts';
import { answerInTurns } from './name-server.ts';
import { outboundWays } from './outbound-ways.ts';
import { peerIs, pointedAt } from './pointed-at.ts';
import { type Elsewhere, startSecondHops } from './second-hops.ts';
import { askWay } from './outbound-way.ts';

const port = 9999;
const publicAddress = '93.184.216.34';
const policy = createAddressPolicy({ allowedPrivate: [] });

/** Whether a host of the target goes into the target as it is, which IPv6 without brackets needs. */
const isBare = (protocol: Protocol) => peerIs[protocol] === 'name server';
/** What a browser reaches is tried beside its own type, with a browser. */
const isApart = (protocol: Protocol) => peerIs[protocol] === 'browser';

const folder = mkdtempSync(join(tmpdir(), 'parallax-outside-'));
const hostsPath = join(folder, 'hosts');
writeFileSync(hostsPath, deniedNames.map(([name, address]) => `${address} ${name}\n`).join(''));
const resolver = createResolver({ hostsPath, servers: [], hasIpv4: true });

/** Attempts to send anything in this namespace so far, as the kernel counts them. */
function attempts(): number {
  const lines = readFileSync('/proc/net/snmp', 'latin1').split('\n');
  const field = (protocol: string, name: string) => {
    const [names, values] = lines.filter((each) => each.startsWith(`${protocol}: `)).map((each) => each.split(' '));
    return Number(values?.[names?.indexOf(name) ?? -1] ?? Number.NaN);
  };
  const six = new Map(
    readFileSync('/proc/net/snmp6', 'latin1')
      .split('\n')
      .map((each) => each.split(/\s+/) as [string, string]),
  );
  return (
    field('Tcp', 'ActiveOpens') +
    field('Udp', 'OutDatagrams') +
    field('Icmp', 'OutEchos') +
    Number(six.get('Udp6OutDatagrams') ?? 0) +
    Number(six.get('Icmp6OutEchos') ?? 0)
  );
}

/** Connections and packets that arrived at an address where none may. */
let landed: string[] = [];
const wide = net.createServer((socket) => {
  const address = (socket.localAddress ?? '').replace(/^::ffff:/, '');
  if (isDeniedAddress(address)) landed.push(`${address} ${socket.localPort}`);
  socket.on('error', () => undefined);
  socket.destroy();
});
await new Promise<void>((resolve) => wide.listen(port, '::', resolve));

function context(overrides: Partial<CheckContext> = {}): CheckContext {
  return {
    signal: new AbortController().signal,
    timeoutMs: 300,
    clock: () => performance.now(),
    addresses: policy,
    resolver,
    userAgent: 'Parallax-test/1',
    ...overrides,
  };
}

/** A type's target and settings with another host in the place of loopback; undefined for what goes out in no such way. */
function pointAt(protocol: Protocol, host: string): { url: string; settings: object } | undefined {
  if (isApart(protocol)) return undefined;
  const bracketed = net.isIPv6(host.split('%')[0] ?? '') && !isBare(protocol) ? `[${host}]` : host;
  const text = JSON.stringify(pointedAt[protocol](port)).replaceAll(
    '127.0.0.1',
    JSON.stringify(bracketed).slice(1, -1),
  );
  return JSON.parse(text) as { url: string; settings: object };
}

function say(way: string, facts: object): void {
  process.stdout.write(`${JSON.stringify({ way, ...facts, landed })}\n`);
  landed = [];
}

// That the counters count, or nothing below means anything.
const allowing = context({ addresses: createAddressPolicy({ allowedPrivate: ['10.0.0.0/8'] }) });
let before = attempts();
await runCheck('tcp', { url: `10.0.0.1:${port}` }, {}, allowing);
await runCheck('dns', { url: 'a.test' }, { server: `10.0.0.1:${port}` }, allowing);
say('control', { attempts: attempts() - before });

const hosts = [...deniedSpellings(), ...deniedNames.map(([name]) => name)];
/** Each type meets one host in so many, and the next type the hosts that follow. */
const every = isWhole ? 1 : 3;
for (const [turn, protocol] of protocols.entries()) {
  before = attempts();
  const codes: Record<string, number> = {};
  let runs = 0;
  for (const host of hosts.filter((_host, at) => at % every === turn % every)) {
    const pointed = pointAt(protocol, host);
    if (pointed === undefined) continue;
    const outcome = await runCheck(protocol, { url: pointed.url }, pointed.settings, context());
    const code = outcome.code ?? outcome.outcome;
    codes[code] = (codes[code] ?? 0) + 1;
    runs += 1;
  }
  say(`type ${protocol}`, { attempts: attempts() - before, runs, codes, apart: isApart(protocol) });
}

// Names that change between two questions, or that have a good and a bad address at once.
const fickle = await answerInTurns((name) =>
  name.startsWith('rebind-mixed') ? [['10.0.0.1', publicAddress]] : [[publicAddress], ['10.0.0.1']],
);
const asking = createResolver({ hostsPath, servers: [fickle.server], hasIpv4: true });
for (const protocol of protocols) {
  for (const host of ['rebind.test', 'rebind-mixed.test', 'rebind.test', 'rebind.test']) {
    const pointed = pointAt(protocol, host);
    if (pointed === undefined || peerIs[protocol] !== undefined) continue;
    await runCheck(protocol, { url: pointed.url }, pointed.settings, context({ resolver: asking }));
  }
  say(`rebinding ${protocol}`, {});
}
if (fickle.asked() < protocols.length) throw new Error('Hardly any name was asked for.');
await fickle.stop();

// Second hops: a peer at a public address sends the check on to each denied spelling.
const elsewhere: Elsewhere = { host: '', port };
for (const hop of await startSecondHops(publicAddress, elsewhere)) {
  before = attempts();
  let runs = 0;
  const codes: Record<string, number> = {};
  const share = hop.attempts === undefined ? 5 : 3;
  for (const host of hosts.filter((_host, at) => at % share === 0)) {
    elsewhere.host = net.isIPv6(host) ? `[${host}]` : host;
    const outcome = await runCheck(hop.protocol, { url: hop.url }, hop.settings(), context({ timeoutMs: 500 }));
    const code = outcome.code ?? outcome.outcome;
    codes[code] = (codes[code] ?? 0) + 1;
    runs += 1;
  }
  say(`hop: ${hop.what}`, {
    runs,
    codes,
    ...(hop.attempts !== undefined && { attempts: attempts() - before - runs * hop.attempts }),
  });
}

// The other ways out, each as the program that it is: every type with some of the spellings, all of them in turns.
const spellings = deniedSpellings();
/** No more than there are types, so that every way meets every spelling. */
const maxEvery = 23;
for (const way of outboundWays) {
  const share = isWhole ? way.every : Math.min(2 * way.every, maxEvery);
  const questions = protocols.flatMap((protocol, turn) =>
    spellings
      .filter((_host, at) => at % share === turn % share)
      .flatMap((host) => {
        const pointed = pointAt(protocol, host);
        return pointed === undefined ? [] : [{ protocol, ...pointed }];
      }),
  );
  before = attempts();
  const answers = await askWay(way, questions);
  const codes: Record<string, number> = {};
  for (const code of answers) codes[code] = (codes[code] ?? 0) + 1;
  say(`way ${way.name}`, { attempts: attempts() - before, runs: answers.length, asked: questions.length, codes });
}
wide.close();
rmSync(folder, { recursive: true });
process.exit(0);
