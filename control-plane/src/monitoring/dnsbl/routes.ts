import { listDnsblProvidersRoute, readProviderHistoryRoute } from '@parallax/api-contract';
import { defaultAddressLists, defaultDomainLists } from '@parallax/checks';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { findMonitor, noMonitor } from '../monitors/index.ts';
import { runsSince } from './queries.ts';
import { samplesOf, spanOf } from './samples.ts';

/** Probes tell what they hear at least once a day, or with the next check where those are as rare: what nobody has told for so long is not known any more. */
const toldAgainMs = 49 * 3_600_000;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Which blocklists are asked where a monitor names none, and what they said. */
export function dnsblRoutes(context: Context): Route[] {
  return [
    handle(listDnsblProvidersRoute, async () => ({
      address: [...defaultAddressLists],
      domain: [...defaultDomainLists],
    })),
    handle(readProviderHistoryRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const nowMs = context.now();
      const span = spanOf(query.window, nowMs);
      const found = await inScope(context.database.api, scope, async (tx) => {
        const monitor = await findMonitor(tx, scope, params.monitor_id);
        if (monitor === null) throw noMonitor(params.monitor_id);
        return monitor.protocol === 'dnsbl' ? runsSince(tx, monitor.id, span.fromMs) : undefined;
      });
      if (found === undefined) return [];
      const untilMs = Math.min(nowMs, (found.heardMs ?? 0) + toldAgainMs);
      return [...found.runs].map(([provider, runs]) => {
        const current = untilMs < nowMs ? undefined : runs.find((run) => run.endedMs === null);
        return {
          provider,
          state: current?.state ?? null,
          state_since: current === undefined ? null : iso(current.startedMs),
          samples: samplesOf(
            runs.map((run) => ({ ...run, endedMs: run.endedMs ?? untilMs })),
            span,
          ).map(({ atMs, state }) => ({ at: iso(atMs), state })),
        };
      });
    }),
  ];
}
