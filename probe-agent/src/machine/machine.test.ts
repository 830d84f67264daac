import t from 'tap';
import {
  capabilitiesOf,
  dockerFindings,
  inspectMachine,
  ipv6Finding,
  pingFinding,
  tracerouteFinding,
} from './capabilities.ts';
import { giveBackMemory } from './give-back.ts';
import { machineOptions } from './options.ts';
import {
  clockFinding,
  diskFinding,
  inspectDisk,
  inspectNameServers,
  nameServersFinding,
  openFilesFinding,
} from './resources.ts';

void t.test('a capability is told of when a trial succeeded, not when a program is there', async (t) => {
  const findings = [
    pingFinding({ path: '/usr/bin/fping', name: 'fping', works: false, reason: 'Operation not permitted' }),
    ipv6Finding('2001:db8::2', false),
    tracerouteFinding({ path: '/usr/bin/traceroute', methods: ['udp'] }),
  ];
  t.same(capabilitiesOf(findings), ['traceroute']);
  t.match(findings[0], { level: 'fail', detail: /not permitted/, remedy: /setcap cap_net_raw\+ep \/usr\/bin\/fping/ });
  t.match(findings[1], { level: 'warn', detail: /no route/ });
  t.match(findings[2], { level: 'warn', detail: /ICMP AND TCP|ICMP and TCP/i, remedy: /cap_net_raw/ });
  t.match(pingFinding({ works: false, reason: 'neither is installed' }), {
    level: 'fail',
    remedy: 'apt-get install fping',
  });
  t.match(pingFinding({ path: '/bin/ping', name: 'ping', works: true, reason: '' }), { level: 'warn', present: true });
  t.match(pingFinding({ path: '/bin/fping', name: 'fping', works: true, reason: '' }), { level: 'ok', present: true });
  t.match(ipv6Finding(undefined, false), { level: 'warn', present: false });
  t.match(ipv6Finding('2001:db8::2', true), { level: 'ok', present: true });
  t.match(tracerouteFinding({ path: undefined, methods: [] }), {
    present: false,
    remedy: 'apt-get install traceroute',
  });
  t.match(tracerouteFinding({ path: '/bin/traceroute', methods: ['icmp'] }), { present: false });
});

void t.test('the account of the browser comes from its setting', async (t) => {
  const settings = { browser: '/usr/bin/chromium', browserUser: '990:991' } as Parameters<typeof machineOptions>[0];
  t.match(machineOptions(settings), { browser: '/usr/bin/chromium', browserAccount: { uid: 990, gid: 991 } });
  t.match(machineOptions({ ...settings, browserUser: '990' }), { browserAccount: { uid: 990, gid: 990 } });
  t.notOk('browserAccount' in machineOptions({ ...settings, browserUser: undefined }));
});

void t.test('room, files, clock and name servers are judged by what the agent needs', async (t) => {
  const gibibyte = 1024 ** 3;
  t.match(diskFinding('/var', 2 * gibibyte), { level: 'ok' });
  t.match(diskFinding('/var', gibibyte / 2), { level: 'warn', detail: /^512 MiB/ });
  t.match(diskFinding('/var', 1000), { level: 'fail' });
  t.match(await inspectDisk('/proc/none/at/all'), { level: 'fail' }, 'a folder that cannot be made');
  const limits = (hard: string) =>
    `Limit  Soft  Hard  Units\nMax open files            1024                 ${hard}               files\n`;
  t.match(openFilesFinding(limits('4096'), 1000), { level: 'ok' });
  t.match(openFilesFinding(limits('1024'), 1000), { level: 'warn', remedy: /LimitNOFILE.*--max-in-flight 768/ });
  t.match(openFilesFinding(limits('unlimited'), 100_000), { level: 'ok' });
  t.match(openFilesFinding('', 1000), { level: 'ok' }, 'unknown');
  const nowMs = Date.UTC(2026, 5, 1);
  t.match(clockFinding(0, undefined, 'chrony'), { level: 'fail' });
  t.match(clockFinding(nowMs, 60_000, 'chrony'), { level: 'warn', detail: /^60 s off/ });
  t.match(clockFinding(nowMs, -20, undefined), { level: 'ok' });
  t.match(clockFinding(nowMs, undefined, undefined), { level: 'warn' });
  t.match(clockFinding(nowMs, undefined, 'chrony'), { level: 'ok', detail: /by chrony/ });
  t.match(nameServersFinding([]), { level: 'fail' });
  t.match(
    nameServersFinding([
      { server: '192.0.2.1', problem: 'ETIMEOUT' },
      { server: '192.0.2.2', problem: undefined },
    ]),
    {
      level: 'warn',
      detail: /192\.0\.2\.1 \(ETIMEOUT\)/,
    },
  );
  t.match(await inspectNameServers(['127.0.0.1:9']), { level: 'fail', detail: /none answers/ });
});

void t.test('sockets of Docker are a capability where the operator names some that may be opened', async (t) => {
  t.same(dockerFindings([]), [], 'most probes have none and lack nothing');
  const open = { path: '/run/docker.sock', result: 'open' } as const;
  const absent = { path: '/run/other.sock', result: 'absent' } as const;
  const forbidden = { path: '/run/closed.sock', result: 'forbidden' } as const;
  t.match(dockerFindings([open]), [{ level: 'ok', present: true }]);
  t.match(dockerFindings([open, absent]), [{ level: 'warn', present: true, detail: /other\.sock$/ }]);
  t.match(dockerFindings([open, forbidden]), [{ level: 'fail', present: true, remedy: /usermod/ }]);
  t.match(dockerFindings([forbidden]), [{ level: 'fail', present: false, detail: /not assigned/ }]);
  const settings = { dockerSockets: ['/proc/none.sock'] } as unknown as Parameters<typeof machineOptions>[0];
  t.same(machineOptions(settings).dockerSockets, ['/proc/none.sock']);
  const found = await inspectMachine(machineOptions(settings));
  t.match(found.at(-1), { name: 'docker', level: 'warn', present: true, detail: /none\.sock/ });
  t.ok(capabilitiesOf(found).includes('docker'));
});

void t.test('memory is given back where the collector is at hand, and nothing happens elsewhere', async (t) => {
  const asked: object[] = [];
  giveBackMemory((options) => void asked.push(options));
  t.strictSame(asked, [{ type: 'major', flavor: 'last-resort' }]);
  t.equal(giveBackMemory(undefined), undefined);
});
