import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { countMissing, needs } from '@parallax/testkit/needs';
import t from 'tap';
import { runToEnd, startCommand } from '../harness/processes.ts';

const site = `plu${process.pid}`;
const away = `${site}p`;
const own = '10.79.0.1';
/** An address of the internet, in a network that knows no other. */
const target = '93.184.216.34';
const tool = 'ip';
const ip = (...args: string[]): string => execFileSync(tool, args, { encoding: 'utf8', stdio: 'pipe' });

/** Two networks joined by a cable: that of the product, its target and two probes, and that of one probe. False where that is not allowed. */
function makeNetworks(): boolean {
  try {
    for (const network of [site, away]) {
      ip('netns', 'add', network);
      ip('-n', network, 'link', 'set', 'lo', 'up');
    }
    ip('link', 'add', 'uplink', 'netns', away, 'type', 'veth', 'peer', 'name', 'there', 'netns', site);
    ip('-n', away, 'address', 'add', '10.79.0.2/24', 'dev', 'uplink');
    ip('-n', away, 'link', 'set', 'uplink', 'up');
    // Also on loopback: with the cable out those beside it still reach the product.
    ip('-n', site, 'address', 'add', `${own}/32`, 'dev', 'lo');
    ip('-n', site, 'address', 'add', `${own}/24`, 'dev', 'there');
    ip('-n', site, 'address', 'add', `${target}/32`, 'dev', 'lo');
    ip('-n', site, 'link', 'set', 'there', 'up');
    ip('-n', away, 'route', 'add', 'default', 'via', own);
    return true;
  } catch {
    removeNetworks();
    return false;
  }
}

function removeNetworks(): void {
  for (const network of [site, away]) {
    try {
      ip('netns', 'delete', network);
    } catch {
      // It was never made.
    }
  }
}

t.test(
  'a probe that loses its uplink with 200 monitors: no outage, one notice, and its votes return',
  { timeout: 280_000 },
  async (t) => {
    if (!needs(t, 'root', 'ip')) return;
    if (!makeNetworks()) return countMissing(t, 'network-namespaces');
    t.teardown(removeNetworks);
    const fixture = path.join(import.meta.dirname, 'consensus-uplink.fixture.ts');
    const story = startCommand(
      tool,
      ['netns', 'exec', site, process.execPath, fixture, away, own, target],
      Object.fromEntries(
        Object.entries(process.env).flatMap(([name, value]) =>
          value !== undefined && name.startsWith('PARALLAX_') ? [[name, value]] : [],
        ),
      ),
    );
    t.teardown(() => story.stop());
    const said = await runToEnd(story, 'the story of the probe that is cut off', 260_000);
    const seen = JSON.parse(said.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    t.same(seen['wrong'], [], 'no monitor was anything but UP at any moment');
    t.same(seen['ranges'], ['UP'], 'nor in its timeline');
    t.equal(seen['incidents'], 0);
    t.equal(seen['offline'], 1, 'one notice that it is gone');
    t.equal(seen['online'], 1, 'one that it is back');
    t.equal(seen['quarantines'], 0, 'it failed at nothing, so nobody judged it');
  },
);
