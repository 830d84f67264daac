import type { Alert, AlertStep } from '../alert.ts';
import type { Occasion } from './occasion.ts';

export type DueSteps = {
  /** Steps that are due, with their numbers from 0. */
  readonly due: readonly { readonly index: number; readonly step: AlertStep }[];
  /** When the next one is; null for none. */
  readonly nextMs: number | null;
};

/**
 * When the steps of an alert are counted from: from when the problem became known, but not before it has lasted for the minimum, nor before the
 * alert was there.
 */
export function firstDueMs(alert: Alert, { openedMs, startedMs, isLasting }: Occasion): number {
  if (!isLasting) return openedMs;
  return Math.max(openedMs, startedMs + alert.minDurationSeconds * 1_000, alert.activeSinceMs);
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
  return { due: steps.filter(({ dueMs }) => dueMs <= lastMs), nextMs: next?.dueMs ?? null };
}
