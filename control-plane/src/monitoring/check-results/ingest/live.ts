import type { Bus } from '../../../platform/bus/bus.ts';
import { liveResultsSubject, liveWantedSubject } from '../../../platform/bus/subjects.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import type { IngestRow } from './rows.ts';

/** For so long after somebody said that they want results: three times what lies between two such hints. */
const wantedMs = 15_000;
/** Of one message; the broker takes a megabyte. */
const resultsAtOnce = 5_000;

/** Tells results as they are committed to those who watch, and to nobody while nobody does. What gets lost is told by the next result. */
export type LiveNews = RunningService & {
  readonly tell: (rows: readonly IngestRow[], monitors: ReadonlyMap<number, { readonly workspaceId: number }>) => void;
};

/** Monitor, probe, start of the check in milliseconds since the epoch, outcome, duration in milliseconds where there was an answer. */
type Told = readonly [number, number, number, string, number | null];

export function startLiveNews(bus: Bus, nowMs: () => number = () => performance.now()): LiveNews {
  let wantedUntilMs = Number.NEGATIVE_INFINITY;
  const wanted = bus.listen(liveWantedSubject, () => {
    wantedUntilMs = nowMs() + wantedMs;
  });
  return {
    tell: (rows, monitors) => {
      if (rows.length === 0 || nowMs() >= wantedUntilMs) return;
      const latest = latestOf(rows);
      for (let at = 0; at < latest.length; at += resultsAtOnce) {
        const results: Record<number, Told[]> = {};
        for (const row of latest.slice(at, at + resultsAtOnce)) {
          const workspaceId = monitors.get(row.monitorId)?.workspaceId;
          if (workspaceId !== undefined) (results[workspaceId] ??= []).push(told(row));
        }
        bus.hint(liveResultsSubject, { results });
      }
    },
    stop: async () => wanted.stop(),
  };
}

/** The latest row of each monitor. */
function latestOf(rows: readonly IngestRow[]): IngestRow[] {
  const latest = new Map<number, IngestRow>();
  for (const row of rows) {
    const known = latest.get(row.monitorId);
    if (known === undefined || known.eUs <= row.eUs) latest.set(row.monitorId, row);
  }
  return [...latest.values()];
}

function told({ monitorId, voter, eUs, outcome, totalUs }: IngestRow): Told {
  const isAnswer = outcome === 'ok' || outcome === 'slow' || outcome === 'warn';
  return [monitorId, voter, Math.floor(eUs / 1_000), outcome, isAnswer && totalUs > 0 ? totalUs / 1_000 : null];
}
