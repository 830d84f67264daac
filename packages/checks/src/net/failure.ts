import type { CheckOutcome, ErrorCode, FailureSource } from '../outcome.ts';

/** The verdict of a step that went wrong, without times: the check type that called the step adds them. */
export type Failure = {
  readonly outcome: 'fail' | 'timeout' | 'warn' | 'probe_error';
  readonly source: FailureSource;
  readonly code: ErrorCode;
  readonly message: string;
};

/** The target (or its resolver) answered wrongly or refused. */
export function failed(code: ErrorCode, message: string, source: FailureSource = 'target'): Failure {
  return { outcome: 'fail', source, code, message };
}

/** Nothing came within the time that was given. */
export function timedOut(code: ErrorCode, message: string, source: FailureSource = 'target'): Failure {
  return { outcome: 'timeout', source, code, message };
}

/** The probe could not do its part; says nothing about the target. */
export function probeFault(code: ErrorCode, message: string): Failure {
  return { outcome: 'probe_error', source: 'probe', code, message };
}

/** Turns a good answer above the monitor's threshold (milliseconds; 0 and undefined switch it off) into `slow`. */
export function withThreshold(outcome: CheckOutcome, degradedThresholdMs: number | undefined): CheckOutcome {
  if (outcome.outcome !== 'ok' || !degradedThresholdMs || outcome.total <= degradedThresholdMs * 1000) return outcome;
  const message = `Answered in ${Math.round(outcome.total / 1000)} ms, above the threshold of ${degradedThresholdMs} ms.`;
  return { ...outcome, outcome: 'slow', code: 'response_slow', message };
}
