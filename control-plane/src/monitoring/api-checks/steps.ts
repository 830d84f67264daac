import type { ApiCheck, ApiCheckTest, ApiStepResult, MonitorTest, RanApiStep } from '@parallax/api-contract';
import { failedStep, leavesOf, readStepLines, readTold } from '@parallax/checks';

type Fields = Readonly<Record<string, unknown>>;

/** The step that a failure is of. */
export type FailedStep = { readonly number: number; readonly name: string };

/** What the facts of an evidence say of the steps; empty when they say nothing. */
export function stepResults(details: Fields): readonly ApiStepResult[] {
  return readStepLines(details).map(({ number, name, result, status, ms, code, message }) => ({
    number,
    name,
    result,
    status_code: status ?? null,
    response_time_ms: ms ?? null,
    error_code: code ?? null,
    message: message ?? null,
  }));
}

/** The step that failed, as the facts of an evidence say; null when none did. */
export function failedStepIn(details: Fields): FailedStep | null {
  const number = details[failedStep];
  if (typeof number !== 'number') return null;
  const line = readStepLines(details).find((each) => each.number === number);
  return { number, name: line?.name ?? `step ${number}` };
}

/** The facts of a kept or fresh evidence. */
export function detailsOf(evidence: Fields | null): Fields {
  const details = evidence?.['details'];
  return typeof details === 'object' && details !== null ? (details as Fields) : {};
}

type Trace = readonly { readonly step: string; readonly detail: string }[];
type Definition = ApiCheck['steps'];

/** What a run by hand found, step by step. @param definition the steps that were run */
export function ranAnswer(answer: MonitorTest, definition: Definition): ApiCheckTest {
  return {
    ...answer,
    results: answer.results.map((result) => {
      const details = detailsOf(result.evidence);
      const trace = answer.trace.filter((each) => each.probe_id === result.probe_id);
      return { ...result, failed_step: failedStepIn(details), steps: [...ranSteps(details, trace, definition)] };
    }),
  };
}

function ranSteps(details: Fields, trace: Trace, definition: Definition): readonly RanApiStep[] {
  const results = stepResults(details);
  const told = readTold(trace);
  // With every address of a name at once the traces of several runs are mixed: nobody can tell then whose step is whose.
  const isClear = told.length === results.filter(({ result }) => result !== 'skipped').length;
  return results.map((result): RanApiStep => {
    const isMade = result.result !== 'skipped';
    // The steps that were made are the first ones.
    const own = isClear && isMade ? told[result.number - 1] : undefined;
    const assertions = definition[result.number - 1]?.assertions;
    const leaves = assertions === undefined ? [] : leavesOf(assertions);
    const holds = own?.holds?.length === leaves.length ? own.holds : undefined;
    return {
      ...result,
      extracted: isMade ? (own === undefined ? null : [...own.extracted]) : [],
      assertions: leaves.map((leaf, index) => ({ assertion: { ...leaf }, holds: holds?.[index] ?? null })),
    };
  });
}
