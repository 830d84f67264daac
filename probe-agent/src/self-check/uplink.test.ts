import type { CheckOutcome } from '@parallax/checks';
import t from 'tap';
import { defaultGateway, gatewayAnswers, isNeighbourAlive } from './gateway.ts';
import { Uplink } from './uplink.ts';

const failure = (address?: string): CheckOutcome => ({
  outcome: 'timeout',
  total: 5,
  phases: {},
  source: 'target',
  code: 'connect_timeout',
  ...(address === undefined ? {} : { evidence: { address } }),
});

void t.test('the uplink is lost only when session and gateway fail together', async (t) => {
  let silentMs = 0;
  let answers: boolean | undefined = false;
  const changes: boolean[] = [];
  const uplink = new Uplink({
    sessionSilentMs: () => silentMs,
    gatewayAnswers: async () => answers,
    onChange: (lost) => changes.push(lost),
  });
  await uplink.look();
  t.notOk(uplink.lost, 'the session stands');
  t.equal(uplink.examine(failure('93.184.216.34')).outcome, 'timeout');
  silentMs = 20_000;
  for (const gateway of [true, undefined]) {
    answers = gateway;
    await uplink.look();
    t.notOk(uplink.lost, `gateway ${gateway}`);
  }
  answers = false;
  await uplink.look();
  t.ok(uplink.lost);
  t.match(uplink.examine(failure('93.184.216.34')), { outcome: 'probe_error', source: 'probe', code: 'probe_uplink' });
  t.match(uplink.examine(failure()), { outcome: 'probe_error' }, 'a name that could not be resolved');
  for (const local of ['127.0.0.1', '10.1.2.3', '::1', 'fd00::1', '::ffff:192.168.1.1'])
    t.equal(uplink.examine(failure(local)).outcome, 'timeout', local);
  t.equal(uplink.examine({ outcome: 'ok', total: 1, phases: {} }).outcome, 'ok');
  silentMs = 0;
  await uplink.look();
  t.strictSame(changes, [true, false]);
});

void t.test('the tables of Linux are read', async (t) => {
  const routes =
    'Iface\tDestination\tGateway\tFlags\tRefCnt\neth0\t0002A8C0\t00000000\t0001\t0\neth0\t00000000\t0102A8C0\t0003\t0\n';
  t.equal(defaultGateway(routes), '192.168.2.1');
  t.equal(defaultGateway('Iface\tDestination\tGateway\tFlags\n'), undefined);
  const table =
    'IP address HW type Flags HW address Mask Device\n10.0.0.1 0x1 0x2 02:42:ac:11:00:01 * eth0\n10.0.0.2 0x1 0x0 00:00:00:00:00:00 * eth0\n';
  t.equal(isNeighbourAlive(table, '10.0.0.1'), true);
  t.equal(isNeighbourAlive(table, '10.0.0.2'), false);
  t.equal(isNeighbourAlive(table, '10.0.0.3'), undefined);
  t.ok([true, false, undefined].includes(await gatewayAnswers(200)), 'asking this machine ends');
});
