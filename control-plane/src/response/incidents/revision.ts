import { z } from 'zod';
import { titleOf } from './transition.ts';

const instant = z.iso.datetime({ offset: true });

/** Payload of the outbox kind `monitor.revised`: what was told of a monitor's past is another from `since` on. */
export const revisionSchema = z.object({
  monitor_id: z.number().int(),
  workspace_id: z.number().int(),
  since: instant,
  /** When it was noticed. */
  detected_at: instant,
});

/** A stored range of the monitor. Times in ms since the epoch; null: it lasts. */
export type Range = {
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly status: 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';
  readonly evidence: Readonly<Record<string, unknown>>;
};

/** An outage as the timeline has it: from its onset until an answer ended it, through PARTIAL and UNKNOWN. */
export type Outage = {
  readonly startedMs: number;
  /** End of the last range in which a quorum failed; null while it does. */
  readonly failedUntilMs: number | null;
  /** When an answer ended it: not before `failedUntilMs`. null: nothing has. */
  readonly endedMs: number | null;
  readonly status: 'DOWN' | 'TIMEOUT';
  readonly evidence: Readonly<Record<string, unknown>>;
};

/** An incident of the monitor. */
export type KnownIncident = {
  readonly id: number;
  readonly startedMs: number;
  /** null: it is open. */
  readonly resolvedMs: number | null;
  readonly resolution: 'auto' | 'manual' | 'paused' | 'corrected' | 'deleted' | null;
};

export type Amendment =
  /** An outage of the past that nobody knew of. */
  | {
      readonly kind: 'record';
      readonly startedMs: number;
      /** null: no answer has ended it yet. */
      readonly resolvedMs: number | null;
      readonly title: string;
      readonly detectedLate: boolean;
      readonly cause: { readonly status: 'DOWN' | 'TIMEOUT'; readonly evidence: Readonly<Record<string, unknown>> };
    }
  /** There was no outage. */
  | { readonly kind: 'correct'; readonly incidentId: number; readonly atMs: number }
  /** The outage began or ended at another time; the incident keeps its identifier. `resolvedMs` null: it is open still. */
  | {
      readonly kind: 'move';
      readonly incidentId: number;
      readonly startedMs: number;
      readonly resolvedMs: number | null;
    };

/** An outage that ended longer ago than this when it was found is of the past: it is recorded, and wakes nobody (rule 11). */
const lateAfterMs = 15 * 60_000;

/** The outages among ranges that are sorted by their start. */
export function outagesOf(ranges: readonly Range[]): Outage[] {
  const outages: Outage[] = [];
  let isOver = true;
  for (const { startedMs, endedMs, status, evidence } of ranges) {
    const last = outages.at(-1);
    if (status !== 'DOWN' && status !== 'TIMEOUT') {
      if (status === 'DEGRADED' && evidence['rule'] === 'some_failing') continue;
      if (!isOver && last !== undefined) outages[outages.length - 1] = { ...last, endedMs: startedMs };
      isOver = true;
    } else if (isOver || last === undefined) {
      outages.push({ startedMs, failedUntilMs: endedMs, endedMs: null, status, evidence });
      isOver = false;
    } else {
      outages[outages.length - 1] = { ...last, failedUntilMs: endedMs };
    }
  }
  return outages;
}

/**
 * What has to be done with the incidents of a monitor so that they tell of the outages that its timeline has now. An outage in which a quorum fails
 * now is left to the transition that tells of it; one that was followed by silence or disagreement only nobody else tells of: it stays open until
 * an answer comes, unless nobody looks any more. Incidents that were ended by hand, by a pause or a deletion, or are corrected already, stay as they are.
 * @param outages all that reach into the time from the revision on, or from the beginning of an incident that does
 */
export function amend(
  revision: { readonly sinceMs: number; readonly detectedMs: number },
  monitor: { readonly name: string; readonly isPaused: boolean },
  outages: readonly Outage[],
  known: readonly KnownIncident[],
): Amendment[] {
  // One that was taken back tells of nothing: an outage at its time is another.
  const incidents = known.filter(({ resolution }) => resolution !== 'corrected');
  const unknown = outages.filter(
    (outage) => endOf(outage) >= revision.sinceMs && !incidents.some((incident) => touch(outage, incident)),
  );
  const recorded = unknown.flatMap((outage): Amendment[] =>
    outage.failedUntilMs === null
      ? []
      : [
          {
            kind: 'record',
            startedMs: outage.startedMs,
            resolvedMs: outage.endedMs ?? (monitor.isPaused ? outage.failedUntilMs : null),
            title: titleOf(monitor.name, outage.status),
            detectedLate: revision.detectedMs - outage.failedUntilMs > lateAfterMs,
            cause: { status: outage.status, evidence: outage.evidence },
          },
        ],
  );
  const changed = incidents
    .filter(
      ({ resolution, ...incident }) => (resolution ?? 'auto') === 'auto' && endOfIncident(incident) >= revision.sinceMs,
    )
    .flatMap((incident) => amendOne(revision, incident, outages, incidents));
  return [...recorded, ...changed];
}

function amendOne(
  revision: { readonly detectedMs: number },
  incident: KnownIncident,
  outages: readonly Outage[],
  incidents: readonly KnownIncident[],
): Amendment[] {
  const own = outages.filter((outage) => touch(outage, incident));
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) {
    // What is over stays where it was; what is open ends now, for until now it was told.
    return [{ kind: 'correct', incidentId: incident.id, atMs: incident.resolvedMs ?? revision.detectedMs }];
  }
  // Where late results made one outage of two, the earlier incident takes its beginning and the later one its end.
  const isFirst = !incidents.some((other) => other.startedMs < incident.startedMs && touch(first, other));
  const isLast = !incidents.some((other) => other.startedMs > incident.startedMs && touch(last, other));
  const startedMs = isFirst ? first.startedMs : incident.startedMs;
  const resolvedMs =
    incident.resolvedMs === null || !isLast
      ? incident.resolvedMs
      : Math.max(startedMs, endWithin(last, incident.resolvedMs));
  if (startedMs === incident.startedMs && resolvedMs === incident.resolvedMs) return [];
  return [{ kind: 'move', incidentId: incident.id, startedMs, resolvedMs }];
}

/**
 * Ranges do not tell when disagreement gave way to an answer within one of them; the status did, when the incident was resolved. So what it says
 * stays where it can be true.
 */
function endWithin({ failedUntilMs, endedMs }: Outage, resolvedMs: number): number {
  if (failedUntilMs === null) return resolvedMs;
  return Math.min(Math.max(resolvedMs, failedUntilMs), endedMs ?? Number.POSITIVE_INFINITY);
}

const endOf = (outage: Outage): number => outage.endedMs ?? Number.POSITIVE_INFINITY;
const endOfIncident = (incident: Pick<KnownIncident, 'resolvedMs'>): number =>
  incident.resolvedMs ?? Number.POSITIVE_INFINITY;

/** They share time, or meet. */
const touch = (outage: Outage, incident: KnownIncident): boolean =>
  outage.startedMs <= endOfIncident(incident) && incident.startedMs <= endOf(outage);
