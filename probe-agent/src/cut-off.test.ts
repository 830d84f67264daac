import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { countMissing, needs } from '@parallax/testkit/needs';
import t from 'tap';
import { until } from './testing/until.ts';

const name = `plp${process.pid}`;
const beyond = `${name}b`;
const tool = 'ip';
const ip = (...args: string[]): string => execFileSync(tool, args, { encoding: 'utf8', stdio: 'pipe' });
const target = '93.184.216.34';

/** Two networks joined by a cable: the probe, and beyond it a gateway that is the internet and the control plane too. False where that is not allowed. */
function makeNetworks(): boolean {
  try {
    for (const network of [name, beyond]) {
      ip('netns', 'add', network);
      ip('-n', network, 'link', 'set', 'lo', 'up');
    }
    ip('link', 'add', 'uplink', 'netns', name, 'type', 'veth', 'peer', 'name', 'there', 'netns', beyond);
    ip('-n', name, 'address', 'add', '10.78.0.2/24', 'dev', 'uplink');
    ip('-n', name, 'link', 'set', 'uplink', 'up');
    ip('-n', beyond, 'address', 'add', '10.78.0.1/24', 'dev', 'there');
    // An address of the internet, in a network that knows no other.
    ip('-n', beyond, 'address', 'add', `${target}/32`, 'dev', 'lo');
    ip('-n', beyond, 'link', 'set', 'there', 'up');
    ip('-n', name, 'route', 'add', 'default', 'via', '10.78.0.1');
    return true;
  } catch {
    removeNetworks();
    return false;
  }
}

function removeNetworks(): void {
  for (const network of [name, beyond]) {
    try {
      ip('netns', 'delete', network);
    } catch {
      // It was never made.
    }
  }
}

/** The fixture in a network, and the lines that it has said so far. */
function run(network: string, ...args: string[]): { readonly child: ChildProcess; readonly lines: string[] } {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const fixture = path.join(import.meta.dirname, 'cut-off.fixture.ts');
  const child = spawn(tool, ['netns', 'exec', network, process.execPath, fixture, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { child, lines };
}

void t.test(
  'a probe that is cut off while its session seems to stand counts no failure of its own as that of a target',
  async (t) => {
    if (!needs(t, 'root', 'ip')) return;
    if (!makeNetworks()) return countMissing(t, 'network-namespaces');
    t.teardown(removeNetworks);
    const controlPlane = run(beyond, 'beyond', '10.78.0.1', `http://${target}:8081/`);
    t.teardown(() => controlPlane.child.kill('SIGKILL'));
    await until('the control plane is there', () => controlPlane.lines.length > 0);
    const [address = '', joinToken = ''] = controlPlane.lines[0]?.split(' ') ?? [];
    const { child, lines } = run(name, 'probe', address, joinToken);
    t.teardown(() => {
      child.kill('SIGKILL');
      const folder = lines.find((line) => line.startsWith('state '))?.slice(6);
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });
    const times = (line: string): number => lines.filter((each) => each === line).length;
    await until('the target refuses, and that counts', () => times('counts fail') >= 2, 20_000);
    ip('-n', beyond, 'link', 'set', 'there', 'down');
    await until('the probe has found itself out', () => times('counts probe_error') >= 2, 20_000);
    ip('-n', beyond, 'link', 'set', 'there', 'up');
    const before = times('counts fail');
    await until('what the target does counts again', () => times('counts fail') >= before + 2, 20_000);
    // One check at a time: what was found is followed by what counts.
    const pairs = lines.flatMap((line, index) => (line.startsWith('found ') ? [[line, lines[index + 1]]] : []));
    const wrong = pairs.filter(([found, counts]) => found !== 'found fail connect_refused' && counts === 'counts fail');
    t.strictSame(wrong, []);
    t.equal(times('counts timeout'), 0);
    t.notOk(lines.some((line) => line.startsWith('fatal')));
  },
);
