import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { countMissing, needs } from '@parallax/testkit/needs';
import t from 'tap';

const name = `plx${process.pid}`;
const tool = 'ip';
const ip = (...args: string[]): string => execFileSync(tool, args, { encoding: 'utf8', stdio: 'pipe' });
const inside = (...args: string[]): string => ip('netns', 'exec', name, 'ip', ...args);

/** Two networks joined by a cable: the machine under test, and beyond it a gateway that is the internet too. Undefined where that is not allowed. */
function makeNetworks(): { readonly remove: () => void } | undefined {
  const beyond = `${name}b`;
  const remove = (): void => {
    for (const network of [name, beyond]) {
      try {
        ip('netns', 'delete', network);
      } catch {
        // It was never made.
      }
    }
  };
  try {
    for (const network of [name, beyond]) {
      ip('netns', 'add', network);
      ip('-n', network, 'link', 'set', 'lo', 'up');
    }
    ip('link', 'add', 'uplink', 'netns', name, 'type', 'veth', 'peer', 'name', 'there', 'netns', beyond);
    ip('-n', name, 'address', 'add', '10.77.0.2/24', 'dev', 'uplink');
    ip('-n', name, 'link', 'set', 'uplink', 'up');
    ip('-n', beyond, 'address', 'add', '10.77.0.1/24', 'dev', 'there');
    // An address of the internet, in a network that knows no other.
    ip('-n', beyond, 'address', 'add', '93.184.216.34/32', 'dev', 'lo');
    ip('-n', beyond, 'link', 'set', 'there', 'up');
    ip('-n', name, 'route', 'add', 'default', 'via', '10.77.0.1');
    return { remove };
  } catch {
    remove();
    return undefined;
  }
}

void t.test('the own network cut off makes failures of the control plane its own, and no outage', async (t) => {
  if (!needs(t, 'root', 'ip')) return;
  const networks = makeNetworks();
  if (networks === undefined) return countMissing(t, 'network-namespaces');
  t.teardown(networks.remove);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const checker = spawn(
    tool,
    ['netns', 'exec', name, process.execPath, path.join(import.meta.dirname, 'cut-off.fixture.ts')],
    { env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  t.teardown(() => checker.kill('SIGKILL'));
  const lines = createInterface({ input: checker.stdout })[Symbol.asyncIterator]();
  const check = async (url: string): Promise<unknown> => {
    checker.stdin.write(`${url}\n`);
    return (await lines.next()).value;
  };
  const target = 'http://93.184.216.34:8081/';
  t.equal(await check(target), 'fail connect_refused', 'the way is there, and the target refuses');
  inside('link', 'set', 'uplink', 'down');
  t.equal(await check(target), 'probe_error probe_uplink', 'the device is down, and the route is gone with it');
  t.equal(await check('http://some.name/'), 'probe_error probe_uplink', 'no name can be resolved');
  inside('link', 'set', 'uplink', 'up');
  inside('route', 'add', 'default', 'via', '10.77.0.1');
  t.equal(await check(target), 'fail connect_refused', 'it is back');
  ip('-n', `${name}b`, 'link', 'set', 'there', 'down');
  t.equal(
    await check(target),
    'probe_error probe_uplink',
    'the cable is out: the route stands, and nobody answers on it',
  );
});
