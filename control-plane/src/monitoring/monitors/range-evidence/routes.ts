import { Problem, readRangeEvidenceRoute } from '@parallax/api-contract';
import type { RangeReplay } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { planOf } from '../../../identity/plans/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { storedResults } from '../../check-results/index.ts';
import { diagnosesOfRange } from '../../diagnostics/index.ts';
import { foldedUntil } from '../../status-ranges/index.ts';
import { noMonitor } from '../not-found.ts';
import { findMonitor, workspaceOwner } from '../queries.ts';
import type { MonitorRow } from '../queries.ts';
import { createGate } from '../simulate/bounds.ts';
import { readTimelineInputs } from '../timeline-inputs/queries.ts';
import { failuresBehind, findRange, probesNamed } from './queries.ts';
import type { OneRange } from './queries.ts';
import { readWindowOf, replay } from './replay.ts';
import type { TimedResult } from './replay.ts';
import { goneReport, replayReport } from './replay-report.ts';
import { probesIn, whoOf } from './readable-evidence.ts';
import { rangeEvidenceReport } from './report.ts';
import type { RangeParts } from './report.ts';
import { readStored } from './votes.ts';

/** Replays of this process at the same time: each may hold the thread for some tens of milliseconds. */
const replaysAtOnce = 4;
const dayMs = 86_400_000;

/** What a status range can say for itself. */
export function rangeEvidenceRoutes(context: Context): Route[] {
  const gate = createGate(replaysAtOnce);
  return [
    handle(readRangeEvidenceRoute, async ({ params, query, caller }) => {
      const { monitor_id: monitorId, range_id: rangeId } = params;
      const scope = scopeOf(caller);
      const { monitor, parts } = await inScope(context.database.api, scope, async (tx) => {
        const found = await findMonitor(tx, scope, monitorId);
        if (found === null) throw noMonitor(monitorId);
        return { monitor: found, parts: await readParts(tx, monitorId, rangeId) };
      });
      if (!query.replay) return rangeEvidenceReport(parts, null);
      return gate(async () => {
        const { plan } = await workspaceOwner(context.database.worker, monitor.workspace_id);
        const keptFromMs = context.now() - planOf(plan).retentionDays * dayMs;
        const read = await inScope(context.database.api, scope, (tx) =>
          readReplay(tx, monitor, parts.range, keptFromMs),
        );
        return rangeEvidenceReport(parts, replayed(parts, read, keptFromMs));
      });
    }),
  ];
}

async function readParts(tx: Transaction, monitorId: number, rangeId: number): Promise<RangeParts> {
  const range = await findRange(tx, monitorId, rangeId);
  if (range === null) throw new Problem('not_found', `monitor ${monitorId} has no status range ${rangeId}`);
  const stored = readStored(range.evidence);
  const probes = await probesNamed(tx, probesIn([stored]));
  const blamed = stored.voters.filter(({ error }) => error !== 0);
  const failures = await failuresBehind(tx, monitorId, range.startedUs, blamed);
  const diagnoses = await diagnosesOfRange(tx, monitorId, rangeId);
  return { monitorId, rangeId, range, stored, probes, failures, diagnoses };
}

type ReadReplay = {
  readonly timeline: Awaited<ReturnType<typeof readTimelineInputs>>;
  readonly rows: readonly TimedResult[];
  readonly foldedUs: number;
  readonly probes: RangeParts['probes'];
};

/** Undefined when the results are not kept any more. */
async function readReplay(
  tx: Transaction,
  monitor: MonitorRow,
  range: OneRange,
  keptFromMs: number,
): Promise<ReadReplay | undefined> {
  // The longest that a result stays fresh depends on the settings of that time; to know them more than enough is read.
  const timeline = await readTimelineInputs(tx, monitor.id, Math.min(range.startedMs, keptFromMs));
  const { inputs, longestFreshUs } = timeline;
  const foldedUs = ((await foldedUntil(tx, monitor.shard)) ?? range.startedMs) * 1_000;
  const probeIds = [...new Set(inputs.assignments.map((row) => row.voter))];
  const resultsPerHour = (probeIds.length * 3_600) / monitor.interval_seconds;
  const window = readWindowOf(range, { longestFreshUs, resultsPerHour, foldedUs });
  const floorUs = Math.max(inputs.createdUs, inputs.resetUs ?? inputs.createdUs);
  if (Math.max(window.fromUs, floorUs) < keptFromMs * 1_000) return undefined;
  const rows = await storedResults(tx, monitor.id, Math.max(window.fromUs, floorUs), window.toUs);
  if (!rows.some((row) => row.eUs <= range.startedUs)) return undefined;
  return { timeline, rows, foldedUs, probes: await probesNamed(tx, probeIds) };
}

function replayed(parts: RangeParts, read: ReadReplay | undefined, keptFromMs: number): RangeReplay {
  if (read === undefined) return goneReport(keptFromMs);
  const { range, stored } = parts;
  const { longestFreshUs, inputs } = read.timeline;
  const found = replay(range, inputs, read.rows, { longestFreshUs, foldedUs: read.foldedUs });
  return replayReport(range, stored, found, (voter) => whoOf(read.probes, voter));
}
