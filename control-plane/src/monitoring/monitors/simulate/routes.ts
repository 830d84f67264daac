import { Problem, simulateRoute } from '@parallax/api-contract';
import type { SimulatedOutcome, Simulation as SimulationAnswer } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { planOf } from '../../../identity/plans/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { noMonitor } from '../not-found.ts';
import { findMonitor, workspaceOwner } from '../queries.ts';
import { createGate } from './bounds.ts';
import { playSimulation, prepareSimulation } from './gateway.ts';
import type { PlayLimits, Prepared } from './gateway.ts';
import { notesOf } from './notes.ts';
import { comparisonOf, outcomeOf } from './report.ts';
import type { Simulation } from './simulation.ts';
import { windowWanted } from './window.ts';

export type SimulationLimits = PlayLimits & {
  /** After this a simulation answers 504. */
  readonly deadlineMs: number;
  /** Simulations of this process at the same time. */
  readonly atOnce: number;
};

// Each works a second or two, on the thread that answers everybody.
const defaultLimits: SimulationLimits = { lingerMs: 250, mostResults: 500_000, deadlineMs: 20_000, atOnce: 2 };

/** Trying settings on what was measured. */
export function simulateRoutes(context: Context, changed: Partial<SimulationLimits> = {}): Route[] {
  const limits = { ...defaultLimits, ...changed };
  const gate = createGate(limits.atOnce);
  return [
    handle(simulateRoute, async ({ params, body, caller, request }) => {
      const scope = scopeOf(caller);
      const { monitor_id: monitorId } = params;
      const nowMs = context.now();
      const window = windowWanted(body, nowMs);
      const monitor = await inScope(context.database.api, scope, (tx) => findMonitor(tx, scope, monitorId));
      if (monitor === null) throw noMonitor(monitorId);
      requireRole(caller, monitor.workspace_id, 'viewer');
      const { retentionDays } = planOf((await workspaceOwner(context.database.worker, monitor.workspace_id)).plan);
      return gate(async () => {
        const untilMs = performance.now() + limits.deadlineMs;
        const run = await inScope(context.database.api, scope, (tx) =>
          prepareSimulation(tx, monitor, { body, window, nowMs, retentionDays }),
        );
        const simulation = await playSimulation(context, { scope, run, limits }, () => {
          if (request.signal.aborted) throw new Problem('bad_request', 'the client has gone');
          if (performance.now() > untilMs) throw tookTooLong(limits.deadlineMs);
        });
        return answerOf(run, simulation);
      });
    }),
  ];
}

function answerOf(run: Prepared, simulation: Simulation): SimulationAnswer {
  const { monitor, proposal, fromUs, untilUs } = run;
  const { present, proposed } = simulation.outcome();
  const window = { fromUs, untilUs, pauses: run.timeline.inputs.pauses };
  const settings: SimulatedOutcome['settings'] = {
    consensus_policy: monitor.consensus_policy,
    confirmations: monitor.confirmations,
    interval_seconds: monitor.interval_seconds,
    degraded_threshold_ms: monitor.degraded_threshold_ms,
    probe_ids: [...run.seats],
  };
  return {
    monitor_id: monitor.id,
    start_time: new Date(fromUs / 1_000).toISOString(),
    end_time: new Date(untilUs / 1_000).toISOString(),
    present: outcomeOf(present, window, settings),
    proposed: outcomeOf(proposed, window, {
      consensus_policy: proposal.policy ?? settings.consensus_policy,
      confirmations: proposal.confirmations ?? settings.confirmations,
      interval_seconds: proposal.intervalS ?? settings.interval_seconds,
      degraded_threshold_ms:
        proposal.degradedThresholdMs === undefined ? settings.degraded_threshold_ms : proposal.degradedThresholdMs,
      probe_ids: [...(proposal.probeIds ?? settings.probe_ids)],
    }),
    comparison: comparisonOf(present, proposed, window),
    notes: notesOf({
      proposal,
      cadences: run.timeline.cadences,
      confirmations: Math.max(...run.timeline.inputs.configurations.map((event) => event.confirmations)),
      unmeasuredProbes: run.unmeasuredProbes,
      wantedFromUs: run.wanted.fromMs * 1_000,
      wantedToUs: run.wanted.toMs * 1_000,
      floorUs: run.floorUs,
      keptFromUs: run.keptFromUs,
      untilUs,
    }),
  };
}

function tookTooLong(deadlineMs: number): Problem {
  return new Problem('deadline_exceeded', `this took longer than ${deadlineMs / 1_000} s; choose a shorter window`);
}
