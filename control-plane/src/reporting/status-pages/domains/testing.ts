import { dnsTarget, quietLog } from '@parallax/testkit';
import type { DnsTarget } from '@parallax/testkit';
import type { Test } from 'tap';
import type { Bus } from '../../../platform/bus/bus.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { workOnce } from '../../../platform/outbox/worker.ts';
import { statusPagesCapability } from '../index.ts';
import { pagesApi } from '../pages/testing.ts';
import type { PagesApi } from '../pages/testing.ts';
import type { TestAnswer } from '../../../identity/testing.ts';

export type DomainsApi = PagesApi & {
  /** What the API takes for now; a test moves it. */
  readonly clock: { aheadMs: number };
  readonly dns: DnsTarget;
  /** Puts TXT records into the DNS in place of all others. */
  readonly txt: (records: Readonly<Record<string, readonly string[]>>) => void;
  /** Asks for a path at a host. */
  readonly at: (
    host: string,
    path: string,
    more?: { method?: string; headers?: Record<string, string> },
  ) => Promise<TestAnswer>;
  /** Hands on what the outbox has, as its worker does, until everybody has seen it. */
  readonly settle: () => Promise<void>;
  /** Stops the services, which write what they keep in files. */
  readonly stop: () => Promise<void>;
};

/** For tests: the API with status pages, the services that follow them, and a name server of its own. */
export async function domainsApi(t: Test): Promise<DomainsApi> {
  const dns = await dnsTarget(t);
  const clock = { aheadMs: 0 };
  const listeners = new Map<string, Set<(message: unknown) => unknown>>();
  const hints: [subject: string, message: unknown][] = [];
  const bus: Bus = {
    get connection(): never {
      throw new Error('this test has no broker');
    },
    // As those of a broker, they arrive after the transaction of whoever sends them.
    hint: (...hint) => void hints.push(hint),
    ask: async () => undefined,
    listen: (subject, onMessage) => {
      const all = listeners.get(subject) ?? new Set();
      listeners.set(subject, all.add(onMessage));
      return { stop: () => void all.delete(onMessage) };
    },
  };
  const api = await pagesApi(t, {
    bus,
    now: () => Date.now() + clock.aheadMs,
    dnsServers: [`${dns.host}:${dns.port}`],
    dataDir: t.testdir(),
  });
  const services: RunningService[] = [];
  for (const service of statusPagesCapability.services ?? []) {
    if (service.role !== 'api') continue;
    services.push(await service.start(api.context, quietLog));
  }
  const stop = async (): Promise<void> => {
    for (const service of services.splice(0)) await service.stop();
  };
  t.teardown(stop);
  return {
    ...api,
    stop,
    clock,
    dns,
    txt: (records) =>
      dns.behave({
        kind: 'records',
        records: Object.entries(records).flatMap(([name, values]) =>
          values.map((data) => ({ type: 'TXT' as const, name, ttl: 0, data })),
        ),
      }),
    at: (host, path, { method = 'GET', headers = {} } = {}) =>
      api.call(method, path, { headers: { host, ...headers } }),
    settle: async () => {
      while ((await workOnce(api.context, statusPagesCapability.consumers ?? [])) > 0);
      for (const [subject, message] of hints.splice(0)) {
        for (const listener of listeners.get(subject) ?? []) listener(message);
      }
    },
  };
}
