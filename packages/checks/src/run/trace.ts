import { printable } from '../net/lines.ts';
import type { CheckOutcome } from '../outcome.ts';
import type { Plan } from './plan.ts';
import { createSettingsRedactor } from './secrets.ts';

/** Takes a step of a run and what there is to say about it. */
export type Trace = (step: string, detail: string) => void;

const maxDetail = 1000;

/** A trace that shows no secret of the monitor, whatever a check type hands to it: one line each, of at most 1,000 characters. */
export function guardedTrace(
  trace: Trace,
  settings: Readonly<Record<string, unknown>>,
  secretFields: readonly string[],
): Trace {
  const redact = createSettingsRedactor(settings, secretFields);
  return (step, detail) => trace(step, printable(redact(detail), maxDetail));
}

/** Tells what the settings that all types share made of a run. */
export function traceJudgement(trace: Trace, plan: Plan, before: CheckOutcome, after: CheckOutcome): void {
  if (plan.inverted) trace('inverted', `what came was ${saidOf(before)}`);
  if (plan.stubPages)
    trace('page', after.code?.startsWith('page_') === true ? (after.message ?? '') : "the target's own");
  if (plan.assertions === undefined) return;
  if (before.outcome !== 'ok' && before.outcome !== 'slow' && before.outcome !== 'warn')
    trace('assertions', 'not asked, since there is no good answer');
  else if (after.code === 'assertion_failed') trace('assertions', after.message ?? '');
  else trace('assertions', before.outcome === 'ok' ? 'all hold' : 'nothing graver than what was found before');
}

/** The last step of every run. */
export function traceVerdict(trace: Trace, outcome: CheckOutcome): void {
  trace('verdict', saidOf(outcome));
}

function saidOf({ outcome, code, message, total }: CheckOutcome): string {
  const reason = code === undefined ? '' : ` (${code})`;
  return `${outcome}${reason} after ${(total / 1000).toFixed(1)} ms${message === undefined ? '' : `: ${message}`}`;
}
