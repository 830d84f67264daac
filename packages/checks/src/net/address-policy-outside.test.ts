import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { countMissing, needs } from '@parallax/testkit/needs';
import t from 'tap';
import { protocols } from '../registry.ts';
import { outboundWays } from '../testing/outbound-ways.ts';

t.setTimeout(300_000);

/** As root the account stays what it is; others need a namespace of users to have one of the network. */
const unshare = process.getuid?.() === 0 ? ['-n'] : ['-r', '-n'];
const setUp = 'ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo';

type Line = {
  readonly way: string;
  readonly attempts?: number;
  readonly runs?: number;
  readonly asked?: number;
  readonly codes?: Readonly<Record<string, number>>;
  readonly apart?: boolean;
  readonly landed: readonly string[];
};

void t.test('nothing leaves for an address that the policy denies, by any way out', { timeout: 250_000 }, async (t) => {
  if (!needs(t, 'unshare', 'ip')) return;
  const isPossible = spawnSync('unshare', [...unshare, 'sh', '-c', setUp], { stdio: 'ignore' }).status === 0;
  if (!isPossible) return countMissing(t, 'network-namespaces');
  const program = fileURLToPath(new URL('../testing/outside.ts', import.meta.url));
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn('unshare', [...unshare, 'sh', '-c', `${setUp} && exec "$0" "$1"`, process.execPath, program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  t.teardown(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  t.equal(code, 0);
  const lines = text
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as Line);
  const control = lines.find((each) => each.way === 'control');
  t.ok((control?.attempts ?? 0) >= 2, 'what is allowed is counted');
  t.ok((control?.landed.length ?? 0) >= 1, 'and arrives');
  let spellings = 0;
  for (const { way, attempts = 0, runs = 0, asked = runs, codes, apart, landed } of lines) {
    if (way === 'control') continue;
    t.same(landed, [], `${way}: nothing arrived`);
    t.equal(attempts, 0, `${way}: no attempt in ${runs} runs`);
    if (codes === undefined || apart === true || way.startsWith('hop: ')) continue;
    t.equal(runs, asked, `${way} answered every question`);
    spellings += runs;
    t.ok((codes['address_denied'] ?? 0) > 100, `${way} was really tried: ${JSON.stringify(codes)}`);
    t.equal(codes['ok'] ?? 0, 0);
  }
  const ways = lines.map(({ way }) => way);
  for (const { name } of outboundWays) t.ok(ways.includes(`way ${name}`), `${name} is among the ways`);
  t.ok(ways.filter((way) => way.startsWith('hop: ')).length >= 15, 'second hops are, too');
  for (const protocol of protocols)
    t.ok(
      lines.some((each) => each.way === `type ${protocol}`),
      `${protocol} is among the ways`,
    );
  t.comment(`${spellings} runs by ${protocols.length} types and ${outboundWays.length} more ways`);
  for (const { way, runs, codes = {} } of lines.filter((each) => !each.way.startsWith('rebinding')))
    t.comment(`${way}: ${runs ?? 0} runs ${JSON.stringify(codes)}`);
});
