import { createAddressPolicy, createResolver, runCheck } from '@parallax/checks';
import type { CheckContext } from '@parallax/checks';

/** What the process is to check, over and over. */
export type LoopOrder = {
  readonly protocol: string;
  /** Taken in turns, as the monitors of an agent would be. */
  readonly urls: readonly string[];
  readonly settings: object;
  /** Checks at the same time. */
  readonly width: number;
  readonly ms: number;
  /** Begins so many together, and the next when all of them are done: as checks that are due at the same moment. */
  readonly together?: boolean;
};
/** Processor time of the process, user and system, µs. */
export type LoopAnswer = {
  readonly good: number;
  readonly bad: number;
  readonly us: number;
  /** What the first bad one said. */
  readonly problem: string | undefined;
};
type Monitor = { readonly target: { readonly url: string }; readonly settings: object };

const clock = (): number => performance.now();
const context: CheckContext = {
  signal: new AbortController().signal,
  timeoutMs: 10_000,
  clock,
  addresses: createAddressPolicy({ allowedPrivate: ['127.0.0.0/8'] }),
  resolver: createResolver({ clock }),
  userAgent: 'Parallax-bench/1',
};
/** Settings are read once for each monitor, as on a probe: kept from order to order. */
const kept = new Map<string, readonly Monitor[]>();

async function loop(order: LoopOrder): Promise<LoopAnswer> {
  const key = `${order.protocol} ${order.urls[0]} ${JSON.stringify(order.settings)}`;
  const monitors = kept.get(key) ?? order.urls.map((url) => ({ target: { url }, settings: { ...order.settings } }));
  kept.set(key, monitors);
  const counts = { good: 0, bad: 0, next: 0 };
  let problem: string | undefined;
  const one = async (): Promise<void> => {
    const monitor = monitors[counts.next++ % monitors.length];
    if (monitor === undefined) return;
    const outcome = await runCheck(order.protocol, monitor.target, monitor.settings, context);
    if (outcome.outcome === 'ok') counts.good += 1;
    else {
      counts.bad += 1;
      problem ??= `${outcome.code}: ${outcome.message}`;
    }
  };
  const before = process.cpuUsage();
  const untilMs = clock() + order.ms;
  const onAndOn = async (): Promise<void> => {
    while (clock() < untilMs) await one();
  };
  const all = (work: () => Promise<void>) => Promise.all(Array.from({ length: order.width }, work));
  if (order.together === true) while (clock() < untilMs) await all(one);
  else await all(onAndOn);
  const { user, system } = process.cpuUsage(before);
  return { good: counts.good, bad: counts.bad, us: user + system, problem };
}

process.on('message', (order: LoopOrder) => {
  void loop(order).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
