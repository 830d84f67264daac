import { causeOf } from './cause.ts';
import type { ReportRange, Span } from './spans.ts';

/** A maximal run of DOWN and TIMEOUT that touches the window. */
export type Outage = {
  /** Onset; may lie before the window. */
  readonly startedMs: number;
  /** Null while it lasts. */
  readonly endedMs: number | null;
  /** From onset to end, or as far as it is known. */
  readonly durationMs: number;
  /** The part inside the window that counts as downtime, after corrections, without maintenance and pauses. */
  readonly downtimeMs: number;
  /** The part inside the window as it was measured. */
  readonly measuredMs: number;
  /** What it was for most of its time in the window. */
  readonly status: 'DOWN' | 'TIMEOUT';
  /** In one line, such as "connect_refused, 2 of 3 probes"; null when nothing is known of it. */
  readonly cause: string | null;
  /** Results that came late changed it after it was told. */
  readonly isRevised: boolean;
  /** Its downtime was changed by a correction, in whole or in part. */
  readonly isCorrected: boolean;
  /** It began before the window, or went on after it. */
  readonly isCut: boolean;
};

/** What outages come to in sum; also of those that are not listed. */
export type OutageSums = {
  /** With any downtime that counts. */
  readonly incidents: number;
  /** Outages that ended in the window, and their durations in sum, each whole, less what does not count. */
  readonly repairs: number;
  readonly repairMs: number;
  /** Mean duration of the outages that ended in the window, each whole, less what does not count; null when none ended. */
  readonly mttrMs: number | null;
  /** Mean uptime between the starts of outages that follow each other; null with fewer than two. */
  readonly mtbfMs: number | null;
};

/** Finds outages in spans that come in order and fill the window, in bounded memory. */
export type OutageFold = {
  /** @param uptimeMs counted uptime of the window before the span */
  readonly take: (span: Span, uptimeMs: number) => void;
  /** Ends the fold. The last so many, oldest first, and how many were left out. */
  readonly result: () => { readonly outages: readonly Outage[]; readonly omitted: number } & OutageSums;
};

export type OutageWindow = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly openUntilMs: number;
  /** When the outage began that the window begins in, if it does. */
  readonly onsetMs?: number | undefined;
  /** Outages that are listed at most. */
  readonly listed: number;
  /** Told of each outage that counts and began in the window. */
  readonly onStart?: (startedMs: number) => void;
};

/** @param window times in milliseconds since the epoch */
export function createOutageFold(window: OutageWindow): OutageFold {
  const outages: FoundOutage[] = [];
  let omitted = 0;
  let open: OpenOutage | undefined;
  let incidents = 0;
  const repairs = { number: 0, sumMs: 0 };
  const starts = { firstUptimeMs: 0, lastUptimeMs: 0 };

  const close = (): void => {
    if (open === undefined) return;
    const outage = outageOf(open, window);
    const { uptimeBeforeMs } = open;
    open = undefined;
    outages.push(outage);
    // In batches, so that the list is not moved for each.
    if (outages.length >= 2 * window.listed) omitted += outages.splice(0, outages.length - window.listed).length;
    if (outage.downtimeMs === 0) return;
    if (incidents === 0) starts.firstUptimeMs = uptimeBeforeMs;
    starts.lastUptimeMs = uptimeBeforeMs;
    incidents += 1;
    if (outage.startedMs >= window.fromMs) window.onStart?.(outage.startedMs);
    if (outage.endedMs !== null && outage.endedMs <= window.toMs) {
      repairs.number += 1;
      repairs.sumMs += outage.durationMs - (outage.measuredMs - outage.downtimeMs);
    }
  };

  return {
    take: (span, uptimeMs) => {
      const { range } = span;
      if (range === null || (range.status !== 'DOWN' && range.status !== 'TIMEOUT')) return close();
      open ??= { ...noPart, first: range, last: range, fromMs: span.fromMs, uptimeBeforeMs: uptimeMs };
      addPart(open, span, range);
    },
    result: () => {
      close();
      const tooMany = Math.max(0, outages.length - window.listed);
      return {
        // Only of those that are told: there may be very many.
        outages: outages.slice(tooMany).map(({ votes, ...outage }) => ({ ...outage, cause: causeOf(votes) })),
        omitted: omitted + tooMany,
        incidents,
        repairs: repairs.number,
        repairMs: repairs.sumMs,
        mttrMs: repairs.number === 0 ? null : repairs.sumMs / repairs.number,
        mtbfMs: incidents < 2 ? null : (starts.lastUptimeMs - starts.firstUptimeMs) / (incidents - 1),
      };
    },
  };
}

type OpenOutage = {
  readonly first: ReportRange;
  readonly fromMs: number;
  readonly uptimeBeforeMs: number;
  last: ReportRange;
  downMs: number;
  measuredMs: number;
  downtimeMs: number;
  isRevised: boolean;
  isCorrected: boolean;
};

const noPart = { downMs: 0, measuredMs: 0, downtimeMs: 0, isRevised: false, isCorrected: false };

function addPart(open: OpenOutage, span: Span, range: ReportRange): void {
  const ms = span.toMs - span.fromMs;
  open.last = range;
  open.measuredMs += ms;
  if (range.status === 'DOWN') open.downMs += ms;
  if (span.countsAs === 'DOWN' || span.countsAs === 'TIMEOUT') open.downtimeMs += ms;
  open.isRevised ||= range.isRevised;
  open.isCorrected ||= span.countsAs !== span.measuredAs;
}

type FoundOutage = Omit<Outage, 'cause'> & Pick<ReportRange, 'votes'>;

function outageOf(open: OpenOutage, window: OutageWindow): FoundOutage {
  const isAtStart = open.fromMs === window.fromMs;
  const startedMs = isAtStart ? Math.min(open.first.startedMs, window.onsetMs ?? open.first.startedMs) : open.fromMs;
  const { endedMs } = open.last;
  return {
    startedMs,
    endedMs,
    durationMs: (endedMs ?? window.openUntilMs) - startedMs,
    downtimeMs: open.downtimeMs,
    measuredMs: open.measuredMs,
    status: 2 * open.downMs >= open.measuredMs ? 'DOWN' : 'TIMEOUT',
    votes: open.first.votes,
    isRevised: open.isRevised,
    isCorrected: open.isCorrected,
    isCut: startedMs < window.fromMs || endedMs === null || endedMs > window.toMs,
  };
}
