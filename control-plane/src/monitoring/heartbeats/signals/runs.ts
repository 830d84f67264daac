import type { Run } from '../state.ts';
import { mostRuns } from '../state.ts';
import type { Signal, Warning } from './signal.ts';

/**
 * The run that a signal is about: that of its identifier. A signal without one is about the run that has none, else about the last one, as clients
 * expect that name their runs only at the start.
 */
export function runOf(runs: readonly Run[], rid: string | null): Run | undefined {
  const named = runs.findLast((run) => run.rid === rid);
  return named ?? (rid === null ? runs.at(-1) : undefined);
}

/** Opens a run. One that is open under the same identifier begins anew: it has died without a word, or two jobs share an identifier. */
export function begin(
  runs: readonly Run[],
  { rid, atMs }: Signal,
): { readonly runs: readonly Run[]; readonly warnings: Warning[] } {
  const others = runs.filter((run) => run.rid !== rid);
  const begun: Run = { rid, startedMs: atMs, aliveMs: atMs, isKeptAlive: false, isOverdue: false };
  const warnings: Warning[] = [];
  if (others.length < runs.length) warnings.push('restarted');
  if (others.length > 0) warnings.push('overlap');
  if (others.length >= mostRuns) warnings.push('too_many_runs');
  return { runs: [...others, begun].slice(-mostRuns), warnings };
}

/** Ends the run of a signal. @returns how long it took, by the client's word or by its start; null when neither tells */
export function end(
  runs: readonly Run[],
  { rid, atMs, durationMs }: Signal,
): { readonly runs: readonly Run[]; readonly durationMs: number | null; readonly warnings: Warning[] } {
  const run = runOf(runs, rid);
  return {
    runs: run === undefined ? runs : runs.filter((other) => other !== run),
    durationMs: durationMs ?? (run === undefined ? null : Math.max(0, atMs - run.startedMs)),
    warnings: rid !== null && run === undefined ? ['unknown_run'] : [],
  };
}
