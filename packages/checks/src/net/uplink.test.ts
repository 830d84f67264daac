import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import t from 'tap';
import type { CheckOutcome } from '../outcome.ts';
import { defaultRoute, gatewayAnswers, hasIpv6DefaultRoute, isNeighbourAlive } from './gateway.ts';
import { createLocality, isOwnAddress } from './this-machine.ts';
import { systemUplinkParts, Uplink } from './uplink.ts';

const failure = (address?: string): CheckOutcome => ({
  outcome: 'timeout',
  total: 5,
  phases: {},
  source: 'target',
  code: 'connect_timeout',
  ...(address === undefined ? {} : { evidence: { address } }),
});

void t.test('the uplink is lost only when session, gateway and canaries fail together', async (t) => {
  let stands = true;
  let gateway: boolean | undefined = false;
  let canaries: boolean | undefined;
  const changes: boolean[] = [];
  const uplink = new Uplink({
    sessionStands: () => stands,
    gatewayAnswers: async () => gateway,
    canariesAnswer: async () => canaries,
    onChange: (lost) => changes.push(lost),
  });
  await uplink.look();
  t.notOk(uplink.lost, 'the session stands');
  t.equal(uplink.examine(failure('93.184.216.34')).outcome, 'timeout');
  stands = false;
  for (const answers of [
    [true, undefined],
    [undefined, undefined],
    [true, false],
    [false, true],
    [undefined, true],
  ] as const) {
    [gateway, canaries] = answers;
    await uplink.look();
    t.notOk(uplink.lost, `gateway ${gateway}, canaries ${canaries}`);
  }
  for (const answers of [
    [false, false],
    [undefined, false],
    [false, undefined],
  ] as const) {
    [gateway, canaries] = answers;
    await uplink.look();
    t.ok(uplink.lost, `gateway ${gateway}, canaries ${canaries}`);
  }
  t.match(uplink.examine(failure('93.184.216.34')), { outcome: 'probe_error', source: 'probe', code: 'probe_uplink' });
  t.match(uplink.examine(failure()), { outcome: 'probe_error' }, 'a name that could not be resolved');
  for (const local of ['127.0.0.1', '10.1.2.3', '::1', 'fd00::1', '::ffff:192.168.1.1'])
    t.equal(uplink.examine(failure(local)).outcome, 'timeout', local);
  t.equal(uplink.examine({ outcome: 'ok', total: 1, phases: {} }).outcome, 'ok');
  stands = true;
  await uplink.look();
  t.strictSame(changes, [true, false]);
});

void t.test('a fresh look begins after it was asked for', async (t) => {
  const waiting: ((answer: boolean) => void)[] = [];
  const uplink = new Uplink({
    sessionStands: () => false,
    gatewayAnswers: () => new Promise((resolve) => waiting.push(resolve)),
    canariesAnswer: async () => undefined,
    onChange: () => {},
  });
  const asked = async (count: number): Promise<void> => {
    while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const first = uplink.look();
  await asked(1);
  const fresh = uplink.lookAfresh();
  waiting[0]?.(true);
  await first;
  t.notOk(uplink.lost);
  await asked(2);
  waiting[1]?.(false);
  await fresh;
  t.ok(uplink.lost);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

void t.test(
  'a failing check waits for a look that began after its end, one look serves many, a good one pays nothing',
  async (t) => {
    const looks: ((answer: boolean) => void)[] = [];
    const uplink = new Uplink({
      sessionStands: () => new Promise((resolve) => looks.push(resolve)),
      gatewayAnswers: async () => false,
      canariesAnswer: async () => undefined,
      onChange: () => {},
    });
    t.teardown(() => uplink.stop());
    const ended: string[] = [];
    const examine = (name: string, address?: string): void => {
      void uplink.examineAfresh(failure(address)).then(({ outcome }) => ended.push(`${name} ${outcome}`));
    };
    t.equal((await uplink.examineAfresh({ outcome: 'ok', total: 1, phases: {} })).outcome, 'ok');
    t.equal((await uplink.examineAfresh(failure('10.1.2.3'))).outcome, 'timeout');
    t.equal(looks.length, 0, 'neither asked anybody');
    for (let index = 0; index < 500; index += 1) examine('first', '93.184.216.34');
    while (looks.length < 1) await turn();
    for (let index = 0; index < 500; index += 1) examine('later');
    await turn();
    t.equal(ended.length, 0);
    looks[0]?.(true);
    await turn();
    t.strictSame([...new Set(ended)], ['first timeout']);
    t.equal(ended.length, 500, 'those that ended during the look wait for the next');
    while (looks.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    looks[1]?.(false);
    while (ended.length < 1_000) await new Promise((resolve) => setTimeout(resolve, 5));
    t.strictSame([...new Set(ended)], ['first timeout', 'later probe_error']);
    t.equal(looks.length, 2);
    void uplink.look();
    looks[2]?.(true);
    while (uplink.lost) await turn();
    // The next check begins after that.
    await new Promise((resolve) => setTimeout(resolve, 5));
    examine('stopped');
    while (looks.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    uplink.stop();
    while (ended.length < 1_001) await turn();
    t.equal((await uplink.examineAfresh(failure())).outcome, 'timeout', 'nobody waits for one that is stopped');
    looks[3]?.(true);
  },
);

void t.test('a failure of a check that began before the uplink was back is its own, without a look', async (t) => {
  let nowMs = 0;
  let stands = false;
  let asked = 0;
  const uplink = new Uplink({
    sessionStands: () => {
      asked += 1;
      return stands;
    },
    gatewayAnswers: async () => false,
    canariesAnswer: async () => undefined,
    onChange: () => {},
    clock: () => nowMs,
  });
  t.teardown(() => uplink.stop());
  const lasting = (ms: number): CheckOutcome => ({ ...failure(), total: ms * 1_000 });
  await uplink.look();
  t.equal((await uplink.examineAfresh(lasting(10))).outcome, 'probe_error');
  nowMs = 5_000;
  stands = true;
  await uplink.look();
  nowMs = 8_000;
  t.equal((await uplink.examineAfresh(lasting(3_001))).outcome, 'probe_error', 'it began while it was lost');
  t.equal(asked, 2);
  t.equal((await uplink.examineAfresh(lasting(2_999))).outcome, 'timeout', 'it began after');
  t.equal(asked, 3);
});

void t.test('who answers ends the look: the session late, or the gateway while the session is silent', async (t) => {
  const parts = { canariesAnswer: async () => undefined, onChange: () => {} };
  const slow = <T>(answer: T, ms: number): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, answer));
  let asked = 0;
  const late = new Uplink({
    ...parts,
    sessionStands: () => slow(true, 400),
    gatewayAnswers: async () => {
      asked += 1;
      return false;
    },
  });
  t.equal((await late.examineAfresh(failure())).outcome, 'timeout', 'a session that took its time proves it too');
  t.equal(asked, 1);
  late.stop();
  let silent: ((stands: boolean) => void) | undefined;
  const alone = new Uplink({
    ...parts,
    sessionStands: () => new Promise((resolve) => (silent = resolve)),
    gatewayAnswers: async () => true,
  });
  t.equal((await alone.examineAfresh(failure())).outcome, 'timeout', 'the session is not waited for');
  silent?.(false);
  alone.stop();
  const unable = new Uplink({
    ...parts,
    sessionStands: () => Promise.reject(new Error('broken')),
    gatewayAnswers: async () => undefined,
  });
  t.equal((await unable.examineAfresh(failure())).outcome, 'timeout', 'what cannot be told is not lost');
  unable.stop();
});

void t.test('the tables of Linux are read', async (t) => {
  const head = 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n';
  const link = 'eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n';
  const way = 'eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\n';
  const tunnel = 'tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\n';
  t.same(defaultRoute(head + link + way), { type: 'gateway', address: '192.168.2.1' });
  t.same(defaultRoute(head + tunnel + way), { type: 'gateway', address: '192.168.2.1' });
  t.same(defaultRoute(head + link + tunnel), { type: 'device' });
  t.same(defaultRoute(head + link), { type: 'none' });
  const six = (flags: string, device: string) =>
    `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 ${flags} ${device}\n`;
  t.ok(hasIpv6DefaultRoute(six('00000003', 'eth0')));
  t.notOk(hasIpv6DefaultRoute(six('00200200', 'lo')), 'the route that rejects');
  t.notOk(hasIpv6DefaultRoute(''));
  const table =
    'IP address HW type Flags HW address Mask Device\n10.0.0.1 0x1 0x2 02:42:ac:11:00:01 * eth0\n10.0.0.2 0x1 0x0 00:00:00:00:00:00 * eth0\n';
  t.equal(isNeighbourAlive(table, '10.0.0.1'), true);
  t.equal(isNeighbourAlive(table, '10.0.0.2'), false);
  t.equal(isNeighbourAlive(table, '10.0.0.3'), undefined);
  t.ok([true, false, undefined].includes(await gatewayAnswers(200)), 'asking this machine ends');
});

void t.test('a canary answers when it accepts or refuses; none configured says nothing', async (t) => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (...canaries: string[]) => systemUplinkParts(canaries).canariesAnswer();
  t.equal(await ask(), undefined);
  t.equal(await ask(`127.0.0.1:${port}`), true);
  await new Promise((resolve) => server.close(resolve));
  t.equal(await ask('name.invalid:1', `localhost:${port}`), true, 'refused is an answer, and one is enough');
  t.equal(await ask('name.invalid:1'), false);
});

void t.test('an address of this machine is known as its own, whatever its spelling', async (t) => {
  for (const own of ['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1']) t.ok(isOwnAddress(own), own);
  for (const { address } of Object.values(networkInterfaces()).flatMap((found) => found ?? []))
    t.ok(isOwnAddress(address), address);
  for (const other of ['93.184.216.34', '2606:2800:220:1::1', 'nonsense']) t.notOk(isOwnAddress(other), other);
  const isThisMachine = createLocality(() => 0);
  t.equal(await isThisMachine('localhost'), true);
  t.equal(await isThisMachine('[::1]'), true);
  t.equal(await isThisMachine('93.184.216.34'), false);
  t.equal(await isThisMachine('name.invalid'), false);
});
