import { createAddressPolicy } from '@parallax/checks';
import { keptLog } from '@parallax/testkit';
import t from 'tap';
import type { Context } from './context.ts';
import { createCentralCheck } from './monitoring/central-checks/index.ts';
import { listenersOf, startOwnListeners } from './own-listeners.ts';
import { testContext } from './testing/probes.ts';

const places = [
  { host: 'postgres', port: 5432 },
  { host: 'nats', port: 4222 },
  { host: '127.0.0.1', port: 8080 },
];

type Names = Record<string, readonly string[] | Error>;

async function started(t: Tap, names: Names, more: { readonly rememberMs?: number } = {}) {
  let nowMs = 0;
  const { log, lines } = keptLog('info');
  const own = await startOwnListeners({
    places,
    log,
    resolve: async (name) => {
      const answer = names[name];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('ENOTFOUND');
      return answer;
    },
    machineAddresses: () => ['10.9.9.9'],
    clock: () => nowMs,
    ...more,
  });
  t.teardown(() => own.stop());
  return { own, lines, at: (ms: number) => (nowMs = ms) };
}
type Tap = { readonly teardown: (work: () => unknown) => void };

t.test('a database and a broker that are known by name are denied, whatever private range is allowed', async (t) => {
  const { own } = await started(t, { postgres: ['172.18.0.2', 'fd00::2'], nats: ['172.18.0.3'] });
  const policy = createAddressPolicy({
    allowedPrivate: ['172.16.0.0/12', 'fd00::/8'],
    deniedListeners: own.current(),
    localAddresses: () => [],
  });
  t.match(policy.judge('172.18.0.2', 5432), { rule: 'own_listener' });
  t.match(policy.judge('fd00::2', 5432), { rule: 'own_listener' });
  t.match(policy.judge('::ffff:172.18.0.3', 4222), { rule: 'own_listener' });
  t.equal(policy.judge('172.18.0.2', 5433), undefined, 'another port of the same machine is not ours');
  t.equal(policy.judge('172.18.0.9', 5432), undefined, 'nor is another machine');
});

t.test(
  'a name that moves is followed; its former address counts for a while, and an unknown name changes nothing',
  async (t) => {
    const names: Names = { postgres: ['172.18.0.2'], nats: ['172.18.0.3'] };
    const { own, lines, at } = await started(t, names, { rememberMs: 1_000 });
    const before = own.current();
    await own.look();
    t.equal(own.current(), before, 'the same array while nothing has changed');
    names['nats'] = ['172.18.0.4'];
    await own.look();
    const moved = own.current();
    t.not(moved, before);
    const addressesOf = (port: number) => own.current().flatMap((each) => (each.port === port ? [each.address] : []));
    t.same(addressesOf(4222), ['172.18.0.3', '172.18.0.4']);
    names['nats'] = new Error('the resolver is away');
    at(5_000);
    await own.look();
    await own.look();
    t.same(addressesOf(4222), ['172.18.0.3', '172.18.0.4'], 'nothing is forgotten while nothing is known');
    t.equal(lines.filter(({ msg }) => /is not known here/.test(String(msg))).length, 1, 'said once');
    names['nats'] = ['172.18.0.4'];
    await own.look();
    t.same(addressesOf(4222), ['172.18.0.4']);
  },
);

t.test('what listens everywhere is denied by the addresses of this machine too, as others see it', async (t) => {
  const everywhere = [
    { host: '0.0.0.0', port: 8080 },
    { host: '0.0.0.0', port: 8080 },
    { host: 'localhost', port: 5432 },
  ];
  t.same(
    listenersOf(everywhere, () => [], ['10.9.9.9', '2001:db8::9']),
    [
      { address: '0.0.0.0', port: 8080 },
      { address: '10.9.9.9', port: 8080 },
      { address: '2001:db8::9', port: 8080 },
      { address: 'localhost', port: 5432 },
    ],
  );
});

t.test('a check by the control plane itself follows the list while it runs', async (t) => {
  let deniedListeners: ReturnType<Context['deniedListeners']> = [];
  const context = testContext(undefined as never, undefined as never, {
    allowedPrivateTargets: ['127.0.0.0/8'],
    deniedListeners: () => deniedListeners,
  });
  const check = createCentralCheck(context);
  const errorOf = async () =>
    (
      await check(
        { protocol: 'tcp', url: 'tcp://127.0.0.1:9', settings: {}, timeoutS: 1, degradedThresholdMs: undefined },
        { signal: AbortSignal.timeout(5_000) },
      )
    ).outcome.code;
  t.equal(await errorOf(), 'connect_refused');
  deniedListeners = [{ address: '127.0.0.1', port: 9 }];
  t.equal(await errorOf(), 'address_denied');
});
