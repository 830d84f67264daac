import { invalidInput, readCertificateChainRoute } from '@parallax/api-contract';
import { chainWayOf } from '@parallax/checks';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { applyRates } from '../../platform/http/apply-rates.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { countOnce, perMinute } from '../../platform/http/rate-limits.ts';
import { sharedProbeTargets } from '../assignments/index.ts';
import { findMonitor, noMonitor, openSeats, openSecrets, pausedByGroup, workspaceOwner } from '../monitors/index.ts';
import { askChain } from '../probes/index.ts';
import { ChainCache } from './chain-cache.ts';
import { describeChain } from './describe-chain.ts';
import type { DescribedChain } from './describe-chain.ts';
import { createCentralLook } from './gateway.ts';
import { look } from './look.ts';

/** Handshakes per minute and monitor, whatever asked for them: nobody makes our probes knock at a door again and again. */
const handshakesPerMinute = 10;
/** What a probe may take for one, in milliseconds. */
const probeDeadlineMs = 8_000;

type Seen = DescribedChain & { readonly checked_at: string; readonly probe_id: number | null };

/** The certificate chain of a monitor's target. */
export function certificateRoutes(context: Context): Route[] {
  const central = createCentralLook(context);
  const cache = new ChainCache<Seen>(() => performance.now());
  return [
    handle(readCertificateChainRoute, async ({ params, query, caller, request }) => {
      const scope = scopeOf(caller);
      const { monitor, seats, isPaused } = await inScope(context.database.api, scope, async (tx) => {
        const found = await findMonitor(tx, scope, params.monitor_id);
        if (found === null) throw noMonitor(params.monitor_id);
        return {
          monitor: found,
          seats: await openSeats(tx, params.monitor_id),
          isPaused: !found.is_active || (await pausedByGroup(tx, [found.id])).has(found.id),
        };
      });
      const { id, protocol, url, probe_revision: revision } = monitor;
      const settings = { ...monitor.settings, ...openSecrets(context.sealer, monitor) };
      const way = chainWayOf(protocol, url, settings);
      if (way === undefined)
        throw invalidInput(
          'path',
          '/monitor_id',
          'no_tls',
          `monitor ${id} (${protocol}) looks at nothing that has TLS`,
        );
      const { seen, cached } = await cache.get(`${id} ${revision}`, query.force, async () => {
        const rate = await countOnce(context.database.api, `handshakes ${id}`, perMinute(handshakesPerMinute));
        applyRates(request.reply, [rate], 'handshakes', 'with the target of this monitor');
        const { reach } = await workspaceOwner(context.database.worker, monitor.workspace_id);
        const assignment = {
          protocol,
          url,
          interval_seconds: monitor.interval_seconds,
          timeout_seconds: monitor.timeout_seconds,
          confirmations: monitor.confirmations,
          degraded_threshold_ms: monitor.degraded_threshold_ms,
          settings,
          private_targets: sharedProbeTargets(context.allowedPrivateTargets, reach),
        };
        // A probe has let go of a monitor that is paused, and is sent what to look at.
        const question = {
          monitor_id: id,
          deadline_ms: probeDeadlineMs,
          ...(isPaused ? { assignment } : {}),
        };
        const { sent, probeId } = await look(
          { seats, areNamed: monitor.wanted_probe_ids !== null },
          { protocol, url, settings, reach },
          (each) => askChain(context.bus, each, question),
          central,
          () => performance.now(),
        );
        const nowMs = context.now();
        const described = describeChain(sent, way.serverName, nowMs);
        return { ...described, checked_at: new Date(nowMs).toISOString(), probe_id: probeId };
      });
      return { ...seen, cached };
    }),
  ];
}
