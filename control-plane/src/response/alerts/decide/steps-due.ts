import type { Alert, AlertStep } from '../alert.ts';
import type { Occasion } from './occasion.ts';

export type DueSteps = {
  /** Steps that are due, with their numbers from 0. */
  readonly due: readonly { readonly index: number; readonly step: AlertStep }[];
  /** It was over before the first one was due, though the alert was there while it lasted. */
  readonly isTooShort: boolean;
  /** When the next one is; null for none. */
  readonly nextMs: number | null;
};

/**
 * When the steps of an alert are counted from: from when the problem became known, but not before it has lasted for the minimum, nor before the
 * alert was there.
 */
export function firstDueMs(alert: Alert, { openedMs, startedMs, isLasting }: Occasion): number {
  if (!isLasting) return openedMs;
  const leastMs = alert.minDurationSeconds * 1_000;
  // An onset by another clock may lie a little ahead: without a minimum it delays nothing.
  return Math.max(openedMs, alert.activeSinceMs, leastMs === 0 ? 0 : startedMs + leastMs);
}

/**
 * The steps of an alert that are due by now. An escalation ends when somebody acknowledges, and with the problem; what is told once has no
 * escalation, and what ended before it was due is not told at all.
 */
export function stepsDue(alert: Alert, occasion: Occasion, nowMs: number): DueSteps {
  const fromMs = firstDueMs(alert, occasion);
  const lastMs = Math.min(nowMs, occasion.endedMs ?? nowMs);
  const isFirstOnly = !occasion.isLasting || occasion.isAcknowledged || occasion.endedMs !== null;
  const steps = alert.steps
    .map((step, index) => ({ index, step, dueMs: fromMs + step.after_seconds * 1_000 }))
    .filter(({ index }) => index === 0 || !isFirstOnly);
  const next = occasion.endedMs === null ? steps.find(({ dueMs }) => dueMs > lastMs) : undefined;
  const due = steps.filter(({ dueMs }) => dueMs <= lastMs);
  return { due, isTooShort: due.length === 0 && wasThere(alert, occasion), nextMs: next?.dueMs ?? null };
}

const wasThere = ({ activeSinceMs }: Alert, { isLasting, openedMs, endedMs }: Occasion): boolean =>
  isLasting && endedMs !== null && openedMs <= endedMs && activeSinceMs <= endedMs;
