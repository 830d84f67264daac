import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { countMissing, needs } from '@parallax/testkit/needs';
import t from 'tap';
import { runToEnd, startCommand } from '../harness/processes.ts';

const network = `plc${process.pid}`;
/** Addresses of the internet, in a network that knows no other: loopback is another host for each probe and shared by none. */
const addresses = ['93.184.216.34', '93.184.216.35', '93.184.216.36'] as const;
const [shared, other] = addresses;
const tool = 'ip';
const ip = (...args: string[]): string => execFileSync(tool, args, { encoding: 'utf8', stdio: 'pipe' });

/** False where that is not allowed. */
function makeNetwork(): boolean {
  try {
    ip('netns', 'add', network);
    ip('-n', network, 'link', 'set', 'lo', 'up');
    for (const address of addresses) ip('-n', network, 'address', 'add', `${address}/32`, 'dev', 'lo');
    return true;
  } catch {
    removeNetwork();
    return false;
  }
}

function removeNetwork(): void {
  try {
    ip('netns', 'delete', network);
  } catch {
    // It was never made.
  }
}

t.test(
  '50 monitors on one dead address are one incident with one message and one end; another failure is another',
  { timeout: 400_000 },
  async (t) => {
    if (!needs(t, 'root', 'ip')) return;
    if (!makeNetwork()) return countMissing(t, 'network-namespaces');
    t.teardown(removeNetwork);
    const fixture = path.join(import.meta.dirname, 'one-cause.fixture.ts');
    const story = startCommand(
      tool,
      ['netns', 'exec', network, process.execPath, fixture, ...addresses],
      Object.fromEntries(
        Object.entries(process.env).flatMap(([name, value]) =>
          value !== undefined && name.startsWith('PARALLAX_') ? [[name, value]] : [],
        ),
      ),
    );
    t.teardown(() => story.stop());
    const said = await runToEnd(story, 'the story of the dead address', 380_000);
    const seen = JSON.parse(said.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    t.equal(seen['before'], 0);
    t.same(
      (seen['open'] as [string, number, string][]).toSorted(([, a], [, b]) => a - b),
      [
        ['open', 1, `address:${other}`],
        ['open', 50, `address:${shared}`],
      ],
    );
    t.same(seen['ended'], [
      ['resolved', 'auto'],
      ['resolved', 'auto'],
    ]);
    t.equal(seen['opened'], 2, 'one message each');
    t.equal(seen['resolved'], 2, 'one end each');
    t.equal(seen['others'], 0, 'nothing else is told but that others joined');
    // The stream tells within seconds, so the distance as it arrives is the minute less that.
    t.ok(
      (seen['updatesApartMs'] as number[]).every((ms) => ms > 50_000),
      'which is said at most once a minute',
    );
  },
);
