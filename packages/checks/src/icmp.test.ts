import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import { countMissing } from '@parallax/testkit/needs';
import t, { type Test } from 'tap';
import { createPinger } from './icmp/pinger.ts';
import { parseFpingLine, parsePingLine } from './icmp/ping-output.ts';
import { pingStatistics, planPings } from './icmp/plan.ts';
import { findPingTool } from './icmp/tool.ts';
import { icmp, judge } from './icmp.ts';
import { runCheck } from './run.ts';
import { testContext, until } from './testing/context.ts';

void t.test('lines of fping', async (t) => {
  const pairs: Array<[string, unknown]> = [
    [
      '127.0.0.1  : [0], 64 bytes, 0.291 ms (0.291 avg, 0% loss)',
      { kind: 'reply', address: '127.0.0.1', sequence: 0, rttUs: 291 },
    ],
    [
      '::1        : [3], 64 bytes, 12.5 ms (9.1 avg, 0% loss)',
      { kind: 'reply', address: '::1', sequence: 3, rttUs: 12500 },
    ],
    [
      '8.8.8.8 : [1], 64 bytes, 1.5e+03 ms (1500 avg, 0% loss)',
      { kind: 'reply', address: '8.8.8.8', sequence: 1, rttUs: 1_500_000 },
    ],
    [
      '8.8.8.8 : [1], 64 bytes, 5.31 ms (5.31 avg, 0% loss) [<- 8.8.4.4]',
      { kind: 'reply', address: '8.8.8.8', sequence: 1, rttUs: 5310 },
    ],
    ['192.0.2.77 : [2], timed out (NaN avg, 100% loss)', { kind: 'lost', address: '192.0.2.77', sequence: 2 }],
    ['8.8.8.8 : duplicate for [0], 64 bytes, 5.31 ms', undefined],
    ['127.0.0.1  : 0.29 0.04 0.04', undefined],
    [
      'ICMP Host Unreachable from 192.0.2.2 for ICMP Echo sent to 192.0.2.77',
      { kind: 'unreachable', address: '192.0.2.77', reason: 'Host Unreachable' },
    ],
    [
      '10.9.9.9: error while sending ping: Network is unreachable',
      { kind: 'unreachable', address: '10.9.9.9', reason: 'Network is unreachable' },
    ],
    ['', undefined],
    ["fping: can't create socket (must run as root?)", undefined],
  ];
  for (const [line, parsed] of pairs) t.same(parseFpingLine(line), parsed, line);
});

void t.test('lines of ping', async (t) => {
  const pairs: Array<[string, unknown]> = [
    [
      '64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.015 ms',
      { kind: 'reply', address: 'x', sequence: 1, rttUs: 15 },
    ],
    [
      '64 bytes from dns.google (8.8.8.8): icmp_seq=2 ttl=117 time=5.30 ms',
      { kind: 'reply', address: 'x', sequence: 2, rttUs: 5300 },
    ],
    ['64 bytes from 10.0.0.1: seq=0 ttl=64 time=0.100 ms', { kind: 'reply', address: 'x', sequence: 0, rttUs: 100 }],
    ['64 bytes from 8.8.8.8: icmp_seq=1 ttl=64 time=0.015 ms (DUP!)', undefined],
    [
      'From 192.0.2.2 icmp_seq=1 Destination Host Unreachable',
      { kind: 'unreachable', address: 'x', reason: 'Destination Host Unreachable' },
    ],
    ['ping: connect: Network is unreachable', { kind: 'unreachable', address: 'x', reason: 'Network is unreachable' }],
    ['PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.', undefined],
    ['2 packets transmitted, 2 received, 0% packet loss, time 254ms', undefined],
  ];
  for (const [line, parsed] of pairs) t.same(parsePingLine(line, 'x'), parsed, line);
});

void t.test('statistics of round trips', async (t) => {
  t.same(pingStatistics([100, undefined, 300, 200]), {
    sent: 4,
    received: 3,
    lossPercent: 25,
    minUs: 100,
    averageUs: 200,
    maxUs: 300,
    jitterUs: 150,
  });
  t.same(pingStatistics([undefined]), {
    sent: 1,
    received: 0,
    lossPercent: 100,
    minUs: 0,
    averageUs: 0,
    maxUs: 0,
    jitterUs: 0,
  });
});

void t.test('all packets and the wait for the last fit into the time of the check', async (t) => {
  for (const timeoutMs of [300, 500, 1000, 5000, 60_000]) {
    for (const count of [1, 2, 4, 10]) {
      const plan = planPings(count, timeoutMs);
      t.ok((count - 1) * plan.intervalMs + plan.packetTimeoutMs <= timeoutMs - 100, `${count} in ${timeoutMs}`);
      t.ok(plan.intervalMs >= 5 && plan.packetTimeoutMs >= 20);
    }
  }
});

void t.test(
  'a look-up of the name changes nothing about how the packets are spread, so names share a process',
  async (t) => {
    for (const spentMs of [0.4, 3, 40, 100]) t.same(planPings(4, 5000, spentMs), planPings(4, 5000), `${spentMs} ms`);
    const late = planPings(4, 5000, 3000);
    t.ok(3000 + 3 * late.intervalMs + late.packetTimeoutMs <= 4900, 'what is left is enough');
  },
);

/** A program in the place of fping that notes its arguments and says what it is told. */
function fakeTool(t: Test, script: string) {
  const folder = t.testdir({
    fping: `#!/bin/sh\necho "$$ $@" >> ${JSON.stringify(t.testdirName)}/calls\n${script}\n`,
    calls: '',
  });
  chmodSync(join(folder, 'fping'), 0o755);
  const tool = findPingTool([folder]);
  if (tool === undefined) throw new Error('The fake tool was not found.');
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').filter(Boolean);
  return { tool, calls };
}

const order = { ...planPings(2, 1000), packetBytes: 56, sourceAddress: undefined };
const { signal } = new AbortController();

void t.test('pings that are due together share one process, and each gets its own replies', async (t) => {
  const { tool, calls } = fakeTool(
    t,
    'for a in 10.0.0.1 10.0.0.2; do echo "$a : [0], 64 bytes, 1.5 ms (x)"; done; echo "10.0.0.1 : [1], 64 bytes, 2.5 ms (x)"; echo "10.0.0.2 : [1], timed out (x)"; exit 1',
  );
  const pinger = createPinger({ tool, windowMs: 20 });
  const [one, two, again, other] = await Promise.all([
    pinger.ping('10.0.0.1', order, signal),
    pinger.ping('10.0.0.2', order, signal),
    pinger.ping('10.0.0.1', order, signal),
    pinger.ping('10.0.0.1', { ...order, count: 1 }, signal),
  ]);
  t.same(one, { ok: true, roundTripsUs: [1500, 2500], unreachable: undefined });
  t.same(again, one);
  t.same(two, { ok: true, roundTripsUs: [1500, undefined], unreachable: undefined });
  t.match(other, { ok: true, roundTripsUs: [1500] });
  t.equal(calls().length, 2, 'one process per order');
  t.match(
    calls().find((line) => line.includes('-C 2')),
    /-C 2 .*-i 1 .* 10\.0\.0\.1 10\.0\.0\.2$/,
  );
});

void t.test('a program that fails is the fault of the probe', async (t) => {
  const { tool } = fakeTool(t, 'echo "fping: cannot create socket" >&2; exit 4');
  t.match(await createPinger({ tool, windowMs: 0 }).ping('10.0.0.1', order, signal), {
    ok: false,
    reason: 'tool_failed',
    detail: /cannot create socket/,
  });
  const gone = { ...tool, path: '/nonexistent/fping' };
  t.match(await createPinger({ tool: gone, windowMs: 0 }).ping('10.0.0.1', order, signal), {
    ok: false,
    reason: 'tool_failed',
    detail: /ENOENT/,
  });
  t.equal(findPingTool(['/nonexistent']), undefined);
});

void t.test('without a file descriptor to spare a ping is the fault of the probe, and the agent goes on', async (t) => {
  const { tool } = fakeTool(t, 'exit 4');
  const script = `
    import { openSync } from 'node:fs';
    import { createPinger } from ${JSON.stringify(import.meta.resolve('./icmp/pinger.ts'))};
    import { findPingTool } from ${JSON.stringify(import.meta.resolve('./icmp/tool.ts'))};
    const pinger = createPinger({ tool: findPingTool([${JSON.stringify(dirname(tool.path))}]), windowMs: 1 });
    try { for (;;) openSync('/dev/null', 'r'); } catch {}
    console.log(JSON.stringify(await pinger.ping('127.0.0.1', ${JSON.stringify(order)}, new AbortController().signal)));`;
  const file = join(dirname(tool.path), 'main.mjs');
  writeFileSync(file, script);
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = spawnSync('/bin/sh', ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, file], { env });
  t.match(JSON.parse(stdout.toString('utf8')), { ok: false, reason: 'tool_failed', detail: /EMFILE/ });
});

void t.test('whether a ping program has done its work is told by its statistics, not by its status', async (t) => {
  const pingThat = (script: string) => {
    const folder = t.testdir({ ping: `#!/bin/sh\n${script}\n` });
    chmodSync(join(folder, 'ping'), 0o755);
    const tool = findPingTool([folder]);
    return createPinger({ ...(tool && { tool }) }).ping('10.0.0.1', order, signal);
  };
  const silent = { ok: true, roundTripsUs: [undefined, undefined] };
  const statistics = 'echo "2 packets transmitted, 0 packets received, 100.0% packet loss"';
  t.match(await pingThat(`${statistics}; exit 2`), silent, 'BSD: nobody answered');
  t.match(await pingThat(`${statistics}; exit 1`), silent, 'Linux: nobody answered');
  t.match(
    await pingThat(`echo "ping: invalid number '0.250'" >&2; exit 1`),
    { ok: false, reason: 'tool_failed', detail: /invalid number/ },
    'BusyBox: it did not run',
  );
});

void t.test('what this machine does not send is not the fault of the target', async (t) => {
  const lost = pingStatistics([undefined]);
  const settings = icmp.settings().parse({});
  t.match(judge(lost, 'Operation not permitted', '192.0.2.1', settings), { source: 'probe', code: 'probe_internal' });
  t.match(judge(lost, 'Network is unreachable', '2001:db8::1', settings), {
    outcome: 'probe_error',
    code: 'address_family_missing',
  });
  t.match(judge(lost, 'Network is unreachable', '192.0.2.1', settings), {
    source: 'target',
    code: 'connect_unreachable',
  });
  t.match(judge(lost, 'Host Unreachable', '2001:db8::1', settings), { source: 'target', code: 'connect_unreachable' });
});

void t.test('a process that nobody waits for any more is ended', async (t) => {
  const { tool, calls } = fakeTool(t, 'exec sleep 60');
  const controller = new AbortController();
  const pinged = createPinger({ tool, windowMs: 0 }).ping('10.0.0.1', order, controller.signal);
  await until(() => calls().length === 1, 'the process runs');
  controller.abort();
  t.match(await pinged, { ok: false, reason: 'aborted' });
  const pid = Number(calls()[0]?.split(' ')[0]);
  await until(() => !alive(pid), 'the process is gone');
});

function alive(pid: number): boolean {
  try {
    // A zombie that Node has not reaped yet is not alive.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

void t.test('ping takes the place of fping', async (t) => {
  const ping = findProgram('ping');
  if (ping === undefined) return countMissing(t, 'ping');
  const tool = findPingTool([t.testdir({ ping: t.fixture('symlink', ping) })]);
  if (tool === undefined) throw new Error('ping was not found.');
  const pinger = createPinger({ tool });
  const pinged = await pinger.ping('127.0.0.1', order, signal);
  if (!pinged.ok) {
    t.comment(pinged.detail);
    return countMissing(t, 'ping-permission');
  }
  t.match(pinged.roundTripsUs, [Number, Number]);
});

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('icmp', { url }, settings, testContext(overrides));

void t.test('checks', async (t) => {
  t.match(await check('10.0.0.1'), { outcome: 'fail', code: 'address_denied' });
  t.match(await check('127.0.0.1:80'), { code: 'target_invalid' });
  t.match(await check('127.0.0.1', { count: 0 }), { outcome: 'probe_error' });
  t.match(judge(pingStatistics([1000, 9000]), undefined, 'x', icmp.settings().parse({ fail_jitter_ms: 8 })), {
    outcome: 'fail',
    code: 'ping_jitter',
  });
  t.match(judge(pingStatistics([1000, 9000]), undefined, 'x', icmp.settings().parse({ warn_jitter_ms: 8 })), {
    outcome: 'warn',
    code: 'ping_jitter',
  });
  t.equal(judge(pingStatistics([1000, 9000]), undefined, 'x', icmp.settings().parse({ fail_jitter_ms: 9 })), undefined);
  if (findPingTool() === undefined) return countMissing(t, 'fping');
  const outcome = await check('ping://127.1', { count: 3 }, { timeoutMs: 2000 });
  if (outcome.code === 'probe_capability') {
    t.comment(outcome.message ?? '');
    return countMissing(t, 'ping-permission');
  }
  t.match(outcome, {
    outcome: 'ok',
    evidence: { address: '127.0.0.1', packets_sent: 3, packets_received: 3, rtt_min_ms: Number, jitter_ms: Number },
  });
  t.match(outcome.evidence, { details: { loss_percent: 0, rtt_average_ms: outcome.total / 1_000 } });
  t.match(await check('127.0.0.1', { count: 3, fail_jitter_ms: 60_000 }), { outcome: 'ok' });
  t.ok(outcome.total < 100_000, 'the response time is the average round trip');
  const lost = await check(
    '192.0.2.77',
    { count: 1 },
    { timeoutMs: 400, addresses: { ...testContext().addresses, judge: () => undefined } },
  );
  t.match(lost, {
    outcome: /timeout|fail/,
    code: /ping_no_reply|connect_unreachable/,
    evidence: { packets_sent: 1, packets_received: 0 },
  });
});
