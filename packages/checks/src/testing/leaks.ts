import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Socket } from 'node:net';
import { isWhole } from '@parallax/testkit/extent';
import t from 'tap';
import { protocols } from '../registry.ts';
import type { Protocol } from '../registry.ts';
import { runCheck } from '../run.ts';
import { Stop, type StopSignal } from '../stop.ts';
import { issue } from './certificates.ts';
import { testContext, until } from './context.ts';
import { heldOpen, leftOpen } from './held-open.ts';
import { hostileBrowsers, openPeer } from './hostile-peers.ts';
import { type Pointed, pointedAt } from './pointed-at.ts';
import { rightAnswers } from './right-answers.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const runs = isWhole ? 1000 : 400;
/** So many at the same time. */
const batch = 50;
/** Runs before the first look: libraries are loaded, pools and caches filled. */
const warmUpRuns = 50;
/** Nobody listens here, and the system gives it to nobody. */
const refusedPort = 1;
/** How long a check waits for a peer that says nothing, as closing peers do where there are no connections. */
const silenceMs = 100;
/**
 * What a thousand runs may leave on the heap, reckoned from the second half of those that are made: code that is compiled late, and what the compiler
 * knows of it, come in the first.
 */
const maxGrowthBytes = 1024 * 1024;
/** So often the second half is run again when it left more: what leaks does so again, what is compiled or kept once does not. */
const attempts = isWhole ? 3 : 5;

/** Types of which every run is a process of its own: fewer runs, which show as much. */
const processPerRun: Partial<Record<Protocol, { readonly runs: number; readonly why: string }>> = {
  traceroute: { runs: 60, why: 'every run starts traceroute' },
  pagespeed: { runs: 60, why: 'every run starts a browser, here a program that ends at once' },
};
/** These find out whether a program may send what they cannot, or are a program: their tests run without it, too. */
const mayUsePrograms = new Set<Protocol>(['icmp', 'ping', ...(Object.keys(processPerRun) as Protocol[])]);

/** Types that use an optional program where there is one, and all others. */
export const typesWithPrograms = protocols.filter((protocol) => mayUsePrograms.has(protocol));
export const typesWithoutPrograms = protocols.filter((protocol) => !mayUsePrograms.has(protocol));

/** Packets of many runs go to one process, and datagrams wait for the deadline; a probe starts one browser at a time. */
const batchOf: Partial<Record<Protocol, number>> = {
  icmp: 250,
  ping: 250,
  dns: 250,
  dnsbl: 250,
  udp: 250,
  ntp: 250,
  snmp: 250,
  radius: 250,
  sip: 250,
  gamedig: 250,
  traceroute: 10,
  pagespeed: 1,
};

/** A signal that many checks share, which counts who listens to it. */
class CountingSignal extends Stop implements StopSignal {
  readonly listeners = new Set<() => void>();

  override addEventListener(type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
    super.addEventListener(type, listener);
  }

  override removeEventListener(type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
    super.removeEventListener(type, listener);
  }
}

function heapBytes(): number {
  collectGarbage();
  collectGarbage();
  return getHeapStatistics().used_heap_size + process.memoryUsage().arrayBuffers;
}

/** While one type is worked on: its names, with commas between them. */
const only = process.env['PARALLAX_CONTRACT_TYPES']?.split(',');

/** Tests that runs of the types leave nothing behind, neither of what the system lends nor on the heap. */
export async function leaveNothing(own: readonly Protocol[]): Promise<void> {
  // A busy machine takes some minutes for forty times a thousand runs.
  t.setTimeout(300_000);
  const authority = await issue({ name: 'Test root', authority: true });
  const certificate = await issue({ name: 'site', by: authority, addresses: ['127.0.0.1'] });
  const browsers = hostileBrowsers(t);
  const types = own.filter((protocol) => only?.includes(protocol) !== false);
  const table: string[] = [];
  for (const protocol of types) {
    void t.test(`${protocol} leaves nothing behind`, async (t) => {
      const { runs: count, why } = processPerRun[protocol] ?? { runs, why: undefined };
      const closing = await openPeer((socket: Socket) => socket.destroy());
      t.teardown(closing.stop);
      const right = await rightAnswers[protocol]?.(t, { authority, certificate });
      const refused = pointedAt[protocol](refusedPort);
      const closed = pointedAt[protocol](closing.port);
      const targets = [...(right === undefined ? [] : [right, right]), refused, closed];
      const signal = new CountingSignal();
      const context = testContext({ signal, browser: browsers['closes at once'] });
      const found = new Map<string, number>();

      const run = async (pointed: Pointed) => {
        const timeoutMs = pointed === closed ? silenceMs : 5_000;
        const outcome = await runCheck(protocol, pointed, pointed.settings, { ...context, timeoutMs });
        const what = outcome.code ?? outcome.outcome;
        found.set(what, (found.get(what) ?? 0) + 1);
        if (pointed === right && outcome.outcome !== 'ok')
          throw new Error(`The right answer gave ${JSON.stringify(outcome)}.`);
      };
      const runMany = async (total: number) => {
        const size = batchOf[protocol] ?? batch;
        for (let done = 0; done < total; done += size)
          await Promise.all(
            Array.from({ length: Math.min(size, total - done) }, (_none, at) =>
              run(targets[(done + at) % targets.length] ?? closed),
            ),
          );
      };

      await runMany(why === undefined ? warmUpRuns : (batchOf[protocol] ?? 1));
      const settled = () => until(() => closing.connections.size === 0, 'all connections end');
      await settled();
      const before = heldOpen();
      const listenersBefore = signal.listeners.size;
      found.clear();
      await runMany(count / 2);
      // Where each run starts a process, sixty runs show what a start leaves behind: their growth is not scaled up to a thousand.
      const perThousand = why === undefined ? 1000 / (count / 2) : 2;
      let growth = Number.POSITIVE_INFINITY;
      let done = count / 2;
      for (let attempt = 0; attempt < attempts && growth > maxGrowthBytes; attempt += 1) {
        const heapBefore = heapBytes();
        await runMany(count / 2);
        done += count / 2;
        await settled();
        growth = (heapBytes() - heapBefore) * perThousand;
      }
      await until(() => leftOpen(before).length === 0, 'nothing is left').catch(() => undefined);
      t.same(leftOpen(before), [], 'descriptors, handles, processes and timers are as before');
      t.equal(signal.listeners.size, listenersBefore, 'nobody listens to the shared signal any more');
      t.ok(growth <= maxGrowthBytes, `the heap grew by ${kilobytes(growth)}`);
      const outcomes = [...found].map(([what, times]) => `${what} ${times}`).join(', ');
      table.push(
        `${protocol.padEnd(10)} ${done} runs, ${kilobytes(growth)}: ${outcomes}${why === undefined ? '' : ` (${why})`}`,
      );
    });
  }

  void t.test('the table', async (t) => {
    t.comment('check type, runs, what a thousand of them left on the heap, and what they found');
    for (const line of table) t.comment(line);
    t.equal(table.length, types.length, 'every check type is in it');
  });
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} kB`;
}
