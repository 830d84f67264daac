import { spawnSync } from 'node:child_process';
import { countMissing, needs } from '@parallax/testkit/needs';
import t from 'tap';

/** As root the account stays what it is; others need a namespace of users to have one of the network. */
const unshare = process.getuid?.() === 0 ? ['-n'] : ['-r', '-n'];
const module = new URL('source-addresses.ts', import.meta.url).href;
const look = `const { sourceAddresses } = await import(${JSON.stringify(module)});
console.log(JSON.stringify(await sourceAddresses(process.argv[1])));`;

const lo = 'ip link set lo up';
const network = [
  lo,
  'ip link add out type veth peer name far',
  'ip link set far up',
  'ip link set out up',
  'ip address add 192.0.2.7/24 dev out',
  'ip address add 192.0.2.8/24 dev out',
  'ip -6 address add 2001:db8::7/64 dev out nodad',
];
const way4 = 'ip route add default dev out src 192.0.2.8';
const way6 = 'ip -6 route add default dev out';

/** What a machine with these links and routes says of itself; undefined where no such machine can be made. */
function on(setUp: readonly string[], chosen?: string): unknown {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const script = `${setUp.join(' && ')} || exit 77; exec "$0" "$@"`;
  const node = [process.execPath, '--input-type=module', '-e', look, '--', ...(chosen === undefined ? [] : [chosen])];
  const ran = spawnSync('unshare', [...unshare, 'sh', '-c', script, ...node], { env, encoding: 'utf8' });
  if (ran.status === 0) return JSON.parse(ran.stdout);
  if (ran.status === 77 || /unshare/.test(ran.stderr)) return undefined;
  throw new Error(ran.stderr);
}

void t.test('the kernel says which addresses checks leave from, of both families', async (t) => {
  if (!needs(t, 'unshare', 'ip')) return;
  if (on(network) === undefined) return countMissing(t, 'network-namespaces');
  t.same(on([...network, way4, way6]), ['192.0.2.8', '2001:db8::7'], 'the source of the route, not the first address');
  t.same(on([...network, way4]), ['192.0.2.8'], 'a family without a way out is none');
  t.same(on([...network, way6]), ['2001:db8::7']);
  t.same(on([...network, way4, way6], '192.0.2.7'), ['192.0.2.7', '2001:db8::7'], 'a chosen one stands for its family');
  t.same(on(network), ['192.0.2.7', '192.0.2.8', '2001:db8::7'], 'without a route those of the networks');
  t.same(on([lo]), ['127.0.0.1'], 'loopback only where nothing else is');
  t.same(on(['true']), ['127.0.0.1']);
});
