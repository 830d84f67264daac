import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '@parallax/settings/programs';
import { countMissing, needs } from '@parallax/testkit/needs';
import type { Test } from 'tap';

/** A host in a network of its own, one hop away, that answers pings and nothing else. */
export type Network = {
  readonly address: string;
  /** What an address policy has to allow. */
  readonly cidr: string;
  /** Takes the address away: packets still arrive and nobody answers. */
  readonly stop: () => Promise<void>;
};

/** A network namespace at the other end of a cable; undefined where `ip` or the rights that it needs are missing. */
export async function startNetwork(t: Test): Promise<Network | undefined> {
  if (!needs(t, 'root', 'ip')) return undefined;
  const program = findProgram('ip') ?? 'ip';
  const name = `plx${process.pid}`;
  const subnet = `10.213.${(process.pid >> 6) & 255}.${(process.pid & 63) * 4}`;
  const [near, address] = [addressIn(subnet, 1), addressIn(subnet, 2)];
  const ip = async (...args: string[]) => (await promisify(execFile)(program, args)).stdout;
  const remove = async () => {
    // The cable goes with the namespace that one of its ends is in.
    await ip('netns', 'delete', name).catch(() => undefined);
  };
  t.teardown(remove);
  try {
    await ip('netns', 'add', name);
    await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'there', 'netns', name);
    await ip('address', 'add', `${near}/30`, 'dev', name);
    await ip('-n', name, 'address', 'add', `${address}/30`, 'dev', 'there');
    await ip('link', 'set', name, 'up');
    await ip('-n', name, 'link', 'set', 'there', 'up');
    // Known for good, so that nobody has to be asked for it when the address is gone.
    const [there] = JSON.parse(await ip('-j', '-n', name, 'link', 'show', 'dev', 'there')) as { address: string }[];
    await ip('neighbour', 'replace', address, 'lladdr', there?.address ?? '', 'dev', name, 'nud', 'permanent');
  } catch {
    await remove();
    countMissing(t, 'network-namespaces');
    return undefined;
  }
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    stopping ??= ip('-n', name, 'address', 'delete', `${address}/30`, 'dev', 'there');
    await stopping;
  };
  return { address, cidr: `${subnet}/30`, stop };
}

function addressIn(subnet: string, offset: number): string {
  return subnet.replace(/\d+$/, (last) => String(Number(last) + offset));
}
