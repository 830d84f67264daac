import { Problem, readRangeEvidenceRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { diagnosesOfRange } from '../../diagnostics/index.ts';
import { noMonitor } from '../not-found.ts';
import { findMonitor } from '../queries.ts';
import { failuresBehind, findRange, probesNamed } from './queries.ts';
import { rangeEvidenceReport } from './report.ts';
import { readStored } from './votes.ts';

/** What a status range can say for itself. */
export function rangeEvidenceRoutes(context: Context): Route[] {
  return [
    handle(readRangeEvidenceRoute, async ({ params, caller }) => {
      const { monitor_id: monitorId, range_id: rangeId } = params;
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => {
        if ((await findMonitor(tx, scope, monitorId)) === null) throw noMonitor(monitorId);
        const range = await findRange(tx, monitorId, rangeId);
        if (range === null) throw new Problem('not_found', `monitor ${monitorId} has no status range ${rangeId}`);
        const stored = readStored(range.evidence);
        const probes = await probesNamed(tx, [...stored.voters.map(({ voter }) => voter), ...stored.missing]);
        const blamed = stored.voters.filter(({ error }) => error !== 0);
        const failures = await failuresBehind(tx, monitorId, range.startedUs, blamed);
        const diagnoses = await diagnosesOfRange(tx, monitorId, rangeId);
        return rangeEvidenceReport({ monitorId, rangeId, range, stored, probes, failures, diagnoses });
      });
    }),
  ];
}
