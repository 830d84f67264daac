import { invalidInput, Problem } from '@parallax/api-contract';
import type { Simulate } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { storedResults } from '../../check-results/index.ts';
import { foldedUntil } from '../../status-ranges/index.ts';
import { openSeats } from '../queries.ts';
import type { MonitorRow } from '../queries.ts';
import { freshUs, readTimelineInputs } from '../timeline-inputs/queries.ts';
import type { TimelineInputs } from '../timeline-inputs/queries.ts';
import { inSlices } from './bounds.ts';
import type { Proposal, TimedResult } from './proposal.ts';
import { votesBefore } from './queries.ts';
import { Simulation } from './simulation.ts';
import { reachOf, slicesOf } from './window.ts';
import type { Reach, Window } from './window.ts';

const dayMs = 86_400_000;

/** What of a monitor a simulation asks for. */
export type SimulatedMonitor = Pick<
  MonitorRow,
  | 'id'
  | 'shard'
  | 'timeout_seconds'
  | 'consensus_policy'
  | 'confirmations'
  | 'interval_seconds'
  | 'degraded_threshold_ms'
>;

/** All that a simulation rests on but the results. */
export type Prepared = {
  readonly monitor: SimulatedMonitor;
  readonly seats: readonly number[];
  readonly proposal: Proposal;
  readonly timeline: TimelineInputs;
  readonly unmeasuredProbes: readonly number[];
  readonly votesBefore: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>;
  readonly reach: Reach;
  readonly wanted: Window;
  /** Half-open; ends where the results are folded. */
  readonly fromUs: number;
  readonly untilUs: number;
  readonly floorUs: number;
  readonly keptFromUs: number;
};

/** Reads it in the scope of the caller, who may see the monitor. @throws Problem `invalid_input` for probes that never checked it */
export async function prepareSimulation(
  tx: Transaction,
  monitor: SimulatedMonitor,
  given: { readonly body: Simulate; readonly window: Window; readonly nowMs: number; readonly retentionDays: number },
): Promise<Prepared> {
  const { body, window, nowMs, retentionDays } = given;
  const keptFromUs = Math.round((nowMs - retentionDays * dayMs) * 1_000);
  const timeline = await readTimelineInputs(tx, monitor.id, Math.min(window.fromMs, nowMs - retentionDays * dayMs));
  const { inputs, longestFreshUs } = timeline;
  const floorUs = Math.max(inputs.createdUs, inputs.resetUs ?? inputs.createdUs);
  const folded = (await foldedUntil(tx, monitor.shard)) ?? window.fromMs;
  const fromUs = Math.round(window.fromMs * 1_000);
  const untilUs = Math.max(fromUs, Math.round(Math.min(window.toMs, folded) * 1_000));
  const { proposal, unmeasuredProbes } = proposalOf(body, timeline, { fromUs, untilUs });
  const proposedFreshUs = proposal.intervalS === undefined ? 0 : freshUs(proposal.intervalS, monitor.timeout_seconds);
  const limits = { floorUs: Math.max(floorUs, keptFromUs), nowUs: Math.round(nowMs * 1_000) };
  const reach = reachOf(window, limits, longestFreshUs, proposedFreshUs);
  const voters = [...new Set(inputs.assignments.map((row) => row.voter))];
  return {
    monitor,
    seats: (await openSeats(tx, monitor.id)).filter((seat) => !seat.supplement).map((seat) => seat.probeId),
    proposal,
    timeline,
    unmeasuredProbes,
    votesBefore: await votesBefore(tx, monitor.id, voters, reach.playFromUs),
    reach,
    wanted: window,
    fromUs,
    untilUs,
    floorUs,
    keptFromUs,
  };
}

/**
 * What is proposed, without probes that the monitor did not have.
 * @throws Problem `invalid_input` when none is left
 */
function proposalOf(
  body: Simulate,
  { inputs }: TimelineInputs,
  { fromUs, untilUs }: { readonly fromUs: number; readonly untilUs: number },
): { readonly proposal: Proposal; readonly unmeasuredProbes: readonly number[] } {
  const measured = new Set(
    inputs.assignments.filter((row) => row.fromUs < untilUs && (row.toUs ?? untilUs) >= fromUs).map((row) => row.voter),
  );
  const probeIds = body.probe_ids?.filter((id) => measured.has(id));
  if (probeIds?.length === 0) {
    const message = 'none of these probes checked the monitor in the window';
    throw new Problem('invalid_input', message, {
      errors: (body.probe_ids ?? []).map((_id, place) => ({
        in: 'body',
        path: `/probe_ids/${place}`,
        code: 'not_measured',
        message,
      })),
    });
  }
  return {
    proposal: {
      policy: body.consensus_policy,
      confirmations: body.confirmations,
      intervalS: body.interval_seconds,
      degradedThresholdMs: body.degraded_threshold_ms,
      probeIds,
    },
    unmeasuredProbes: body.probe_ids?.filter((id) => !measured.has(id)) ?? [],
  };
}

export type PlayLimits = {
  /** How long the ingest gathers results of a round. */
  readonly lingerMs: number;
  /** Results that are read for one simulation. */
  readonly mostResults: number;
};

/**
 * Reads the results slice by slice, each in a transaction of its own, and plays what was read; others are let in between.
 * @param check ends it by throwing
 * @throws Problem `invalid_input` when there are too many results
 */
export async function playSimulation(
  context: Pick<Context, 'database'>,
  given: { readonly scope: Scope; readonly run: Prepared; readonly limits: PlayLimits },
  check: () => void,
): Promise<Simulation> {
  const { run, limits } = given;
  const { inputs, cadences } = run.timeline;
  let count = 0;
  const read = async (fromUs: number, toUs: number): Promise<TimedResult[]> => {
    const rows = await inScope(context.database.api, given.scope, (tx) =>
      storedResults(tx, run.monitor.id, fromUs, toUs),
    );
    count += rows.length;
    if (count > limits.mostResults) throw tooMuch(limits.mostResults);
    check();
    return rows;
  };
  const voters = new Set(inputs.assignments.map((row) => row.voter)).size;
  const perHour = (3_600 / Math.min(...cadences.map(({ intervalS }) => intervalS), 3_600)) * Math.max(1, voters);
  const { readFromUs, playFromUs, readToUs } = run.reach;
  const before: TimedResult[] = [];
  for (const slice of slicesOf(readFromUs, playFromUs, perHour)) before.push(...(await read(slice.fromUs, slice.toUs)));
  const simulation = new Simulation({
    inputs,
    cadences,
    proposal: run.proposal,
    fromUs: run.fromUs,
    untilUs: run.untilUs,
    playFromUs,
    before,
    votesBefore: run.votesBefore,
    lingerUs: limits.lingerMs * 1_000,
  });
  for (const slice of slicesOf(playFromUs, readToUs, perHour)) {
    await inSlices(simulation.add(await read(slice.fromUs, slice.toUs), slice.toUs), check);
  }
  await inSlices(simulation.finish(), check);
  return simulation;
}

function tooMuch(most: number): Problem {
  return invalidInput(
    'body',
    '/start_time',
    'too_many_results',
    `the window, with what comes before it, holds more than ${most} results; choose a shorter one`,
  );
}
