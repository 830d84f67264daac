import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countMissing } from '@parallax/testkit/needs';
import { findProgram } from '@parallax/settings/programs';
import t, { type Test } from 'tap';
import { createAddressPolicy } from './net/address-policy.ts';
import { Stop } from './stop.ts';
import { testContext, until } from './testing/context.ts';
import { traceroute, tracerouteBy } from './traceroute.ts';
import { averageUs, describeHop, lossPercent, parseHop } from './traceroute/output.ts';
import { traceArguments } from './traceroute/tracer.ts';

void t.test('lines of traceroute', async (t) => {
  t.same(parseHop(' 3  10.0.0.1  1.250 ms 10.0.0.2  2 ms *'), {
    hop: 3,
    addresses: ['10.0.0.1', '10.0.0.2'],
    roundTripsUs: [1250, 2000],
    lost: 1,
    refusals: [],
  });
  t.same(parseHop('12  * * *'), { hop: 12, addresses: [], roundTripsUs: [], lost: 3, refusals: [] });
  t.match(parseHop(' 2  2001:db8::1  0.5 ms !X  0.6 ms !X  0.7 ms !X'), {
    addresses: ['2001:db8::1'],
    roundTripsUs: [500, 600, 700],
    refusals: ['!X', '!X', '!X'],
  });
  for (const line of [
    'traceroute to 8.8.8.8 (8.8.8.8), 30 hops max, 60 byte packets',
    '',
    ' 0  10.0.0.1  1 ms',
    ' 999  10.0.0.1  1 ms',
    ' 3',
    ' 3  evil; rm -rf /',
    `1 ${'* '.repeat(200)}`,
  ])
    t.equal(parseHop(line), undefined, line.slice(0, 40));
  const hop = {
    hop: 3,
    addresses: ['10.0.0.1', '10.0.0.9'],
    roundTripsUs: [1000, 2000],
    lost: 1,
    refusals: ['!H', '!H'],
  };
  t.equal(lossPercent(hop), 33.3);
  t.equal(averageUs(hop), 1500);
  t.equal(averageUs({ ...hop, roundTripsUs: [] }), undefined);
  t.equal(
    describeHop(hop, (each) => each),
    '3 10.0.0.1 10.0.0.9 1.50 ms, 33.3 % lost !H',
  );
  t.equal(
    describeHop(hop, () => 'private'),
    '3 private 1.50 ms, 33.3 % lost !H',
  );
});

void t.test('what the program is told', async (t) => {
  const order = {
    method: 'udp' as const,
    port: undefined,
    maxHops: 30,
    packetsPerHop: 3,
    budgetMs: 4500,
    sourceAddress: undefined,
  };
  t.equal(traceArguments('192.0.2.1', order).join(' '), '-n -4 -m 30 -q 3 -N 30 -w 1.50 192.0.2.1');
  t.match(
    traceArguments('2001:db8::1', { ...order, method: 'tcp', port: 443 }).join(' '),
    /^-n -6 -T -p 443 .* 2001:db8::1$/,
  );
  t.match(traceArguments('192.0.2.1', { ...order, method: 'udp', port: 53 }).join(' '), / -U -p 53 /);
  t.match(
    traceArguments('192.0.2.1', { ...order, method: 'icmp', port: 53, sourceAddress: '192.0.2.2' }).join(' '),
    /-I -m .* -s 192\.0\.2\.2 192\.0\.2\.1$/,
  );
});

/** A program in the place of traceroute that notes its process and says what it is told. */
function fake(t: Test, script: string) {
  const folder = t.testdir({
    traceroute: `#!/bin/sh\necho $$ > ${JSON.stringify(t.testdirName)}/pid\n${script}\n`,
    pid: '',
  });
  const path = join(folder, 'traceroute');
  chmodSync(path, 0o755);
  return { path, pid: () => Number(readFileSync(join(folder, 'pid'), 'utf8')) };
}

const path = `echo 'traceroute to 127.0.0.1 (127.0.0.1), 30 hops max'
echo ' 1  10.0.0.1  0.5 ms  0.6 ms  0.7 ms'
echo ' 2  * * *'
echo ' 3  8.8.4.4  4 ms * 6 ms'`;
const whole = `${path}\necho ' 4  127.0.0.1  7 ms  8 ms  9 ms'`;

const check = (program: string | undefined, settings: object = {}, overrides = {}, url = '127.0.0.1') =>
  tracerouteBy(() => program).run({ url }, traceroute.settings().parse(settings), testContext(overrides));

void t.test('a path with its hops, of which private ones are not told', async (t) => {
  const outcome = await check(fake(t, whole).path);
  t.notOk(outcome.evidence && 'port' in outcome.evidence, 'a path has no port');
  t.match(outcome, {
    outcome: 'ok',
    phases: { dns: Number },
    evidence: {
      address: '127.0.0.1',
      details: { hops: 4, reached: true, silent_hops: 1, loss_percent: 0, rtt_average_ms: 8 },
    },
  });
  t.same(outcome.evidence?.answers, [
    '1 private 0.60 ms',
    '2 *, 100 % lost',
    '3 8.8.4.4 5.00 ms, 33.3 % lost',
    '4 127.0.0.1 8.00 ms',
  ]);
});

void t.test('paths that end early or are too long', async (t) => {
  const { path: toEnd } = fake(t, whole);
  t.match(await check(toEnd, { fail_hops: 3 }), { outcome: 'fail', source: 'target', code: 'path_too_long' });
  t.match(await check(toEnd, { warn_hops: 3 }), { outcome: 'warn', code: 'path_too_long' });
  t.match(await check(toEnd, { fail_hops: 4 }), { outcome: 'ok' });
});

void t.test('a path that does not arrive', async (t) => {
  const { path: short } = fake(t, `${path}\necho ' 4  8.8.4.5  4 ms !X * *'`);
  t.match(await check(short), {
    outcome: 'fail',
    source: 'target',
    code: 'path_incomplete',
    message: /hop 4 was the last that answered \(!X\)/,
    evidence: { details: { reached: false } },
  });
  t.match(await check(short, { require_reached: false }), { outcome: 'ok' });
});

void t.test('without the program, or when it fails, the probe is at fault', async (t) => {
  t.match(await check(undefined), { outcome: 'probe_error', source: 'probe', code: 'probe_capability' });
  const { path: broken } = fake(
    t,
    'echo "You do not have enough privileges to use this traceroute method." >&2; exit 1',
  );
  t.match(await check(broken, { method: 'icmp' }), {
    outcome: 'probe_error',
    code: 'probe_capability',
    message: /enough privileges/,
  });
  t.match(await check('/nonexistent/traceroute'), {
    outcome: 'probe_error',
    code: 'probe_capability',
    message: /ENOENT/,
  });
});

void t.test('at the end of the check what came so far counts and the process is gone', async (t) => {
  const { path: slow, pid } = fake(t, `${path}\nexec sleep 60`);
  const stop = new Stop();
  const running = check(slow, {}, { signal: stop });
  await until(() => pid() > 0, 'the program runs');
  stop.abort();
  t.match(await running, { outcome: 'timeout', source: 'target', code: 'path_incomplete' });
  await until(() => !alive(pid()), 'the process is gone');
  t.match(await check(slow, {}, { signal: stop }), { code: 'path_incomplete' }, 'nothing is started after the end');
});

function alive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

void t.test('targets are judged, with the port where packets have one', async (t) => {
  const { path: never } = fake(t, 'exit 9');
  t.match(await check(never, {}, {}, '10.0.0.1'), { code: 'address_denied' });
  t.match(await check(never, {}, {}, '2852039166'), { code: 'address_denied' });
  const addresses = createAddressPolicy({
    allowedPrivate: ['127.0.0.0/8'],
    deniedListeners: [{ address: '127.0.0.1', port: 5432 }],
  });
  t.match(await check(never, { method: 'tcp', port: 5432 }, { addresses }), { code: 'address_denied' });
  t.type(traceroute.validateTarget({ url: 'example.com:80' }, traceroute.settings().parse({})), 'string');
  t.equal(traceroute.validateTarget({ url: 'traceroute://example.com' }, traceroute.settings().parse({})), undefined);
});

void t.test('a real traceroute', async (t) => {
  const program = findProgram('traceroute');
  if (program === undefined) return countMissing(t, 'traceroute');
  t.match(await check(program), { outcome: 'ok', evidence: { details: { hops: 1, reached: true } } });
});

void t.test('without a file descriptor to spare a trace says so, and the agent goes on', async (t) => {
  const script = `
    import { openSync } from 'node:fs';
    import { trace } from ${JSON.stringify(import.meta.resolve('./traceroute/tracer.ts'))};
    const order = { method: 'udp', port: undefined, maxHops: 1, packetsPerHop: 1, budgetMs: 200, sourceAddress: undefined };
    try { for (;;) openSync('/dev/null', 'r'); } catch {}
    console.log(JSON.stringify(await trace('/bin/true', '127.0.0.1', order, new AbortController().signal)));`;
  const file = join(t.testdir({ 'main.mjs': script }), 'main.mjs');
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = spawnSync('/bin/sh', ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, file], { env });
  t.match(JSON.parse(stdout.toString('utf8')), { hops: [], problem: /EMFILE/ });
});
