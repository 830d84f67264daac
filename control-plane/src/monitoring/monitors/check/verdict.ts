import type { MonitorStatus } from '@parallax/api-contract';
import type { Outcome } from '@parallax/checks';
import { timeline } from '../../consensus/index.ts';
import type { Policy } from '../../consensus/index.ts';

/** A probe that was asked. */
export type Seat = { readonly probeId: number; readonly region: string; readonly supplement: boolean };

/** What one of them answered; probe 0 is the control plane itself. */
export type Answer = { readonly probeId: number; readonly outcome: Outcome; readonly totalUs: number };

const instantUs = 1_000_000;

/**
 * What the answers of one manual check would say by themselves: the rules of the consensus over one result each, a single failure
 * being enough. Probes that did not answer stay in the number that the quorum is computed from.
 */
export function verdictOf(seats: readonly Seat[], answers: readonly Answer[], policy: Policy): MonitorStatus {
  const { segments } = timeline(
    {
      monitorId: 1,
      assignments: seats.map((seat) => ({
        voter: seat.probeId,
        region: seat.region,
        fromUs: 0,
        toUs: null,
        supplement: seat.supplement,
      })),
      configurations: [{ fromUs: 0, probeRevision: 1, confirmations: 1, policy }],
      pauses: [],
      quarantines: [],
      resetUs: null,
      createdUs: 0,
    },
    answers.map((answer) => ({
      eUs: instantUs,
      voter: answer.probeId,
      kind: 'scheduled',
      outcome: answer.outcome,
      error: 0,
      freshS: 60,
      probeRevision: 1,
      receivedUs: instantUs,
    })),
    instantUs,
    instantUs + 1,
  );
  return segments.at(-1)?.status ?? 'UNKNOWN';
}

/** Median response time of those that got an answer, else of those that failed; milliseconds, null when nobody looked, or nobody measured any. */
export function medianMs(all: readonly Answer[]): number | null {
  const answers = all.filter(({ totalUs }) => totalUs > 0);
  const answered = answers.filter(({ outcome }) => outcome === 'ok' || outcome === 'slow' || outcome === 'warn');
  const failed = answers.filter(({ outcome }) => outcome === 'fail' || outcome === 'timeout');
  const times = (answered.length > 0 ? answered : failed).map(({ totalUs }) => totalUs).sort((a, b) => a - b);
  const upper = times[Math.floor(times.length / 2)];
  const lower = times[Math.floor((times.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : Math.round((upper + lower) / 2) / 1_000;
}
