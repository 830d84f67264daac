import { z } from 'zod';

/** A result as it is told on the bus: who, when (milliseconds since the epoch), what, and how long (milliseconds). */
const liveResult = z.tuple([z.number(), z.number(), z.number(), z.string(), z.number().nullable()]);

/** What owners of shards tell after a commit: results by workspace. */
export const liveResultsMessage = z.object({ results: z.record(z.string(), z.array(liveResult)) });

export type LiveResult = {
  readonly monitor_id: number;
  readonly workspace_id: number;
  /** null: the control plane itself. */
  readonly probe_id: number | null;
  readonly at: string;
  readonly outcome: string;
  readonly response_time_ms: number | null;
};

/** The results of a message; none of one that is not understood. */
export function resultsOf(message: unknown): LiveResult[] {
  const parsed = liveResultsMessage.safeParse(message);
  if (!parsed.success) return [];
  return Object.entries(parsed.data.results).flatMap(([workspaceId, results]) =>
    results.map(([monitorId, probeId, atMs, outcome, ms]) => ({
      monitor_id: monitorId,
      workspace_id: Number(workspaceId),
      probe_id: probeId === 0 ? null : probeId,
      at: new Date(atMs).toISOString(),
      outcome,
      response_time_ms: ms,
    })),
  );
}
