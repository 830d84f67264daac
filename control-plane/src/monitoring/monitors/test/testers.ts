import { chooseProbes } from '../../assignments/index.ts';
import type { MonitorWants, ProbeCandidate, ProbeChoice } from '../../assignments/index.ts';
import type { Seat } from '../check/verdict.ts';

/** Who tests a configuration: these probes, or the control plane itself when there are none. */
export type Testers =
  | { readonly kind: 'testers'; readonly seats: readonly Seat[] }
  | Extract<ProbeChoice, { readonly kind: 'refused' }>;

/**
 * Chooses who tests: the named probes, else of those that could be given the monitor the one that has least to do. The control plane does
 * it itself where there is no probe, and where all that could are lost or paused: a test has to be answered now.
 * @param wants as of a monitor, so that a test is refused where the monitor would be
 */
export function chooseTesters(wants: MonitorWants, probes: readonly ProbeCandidate[]): Testers {
  const choice = chooseProbes(wants, probes, []);
  if (choice.kind === 'refused') return choice;
  const chosen = choice.kind === 'central' ? [] : probes.filter((probe) => choice.probeIds.includes(probe.id));
  const isNamed = wants.probeIds !== null && wants.probeIds.length > 0;
  const testers = isNamed
    ? chosen
    : chosen
        .filter((probe) => !probe.isLost && !probe.isPaused)
        .sort(byLoad)
        .slice(0, 1);
  return { kind: 'testers', seats: testers.map(({ id, region }) => ({ probeId: id, region, supplement: false })) };
}

function byLoad(one: ProbeCandidate, other: ProbeCandidate): number {
  return one.load - other.load || one.id - other.id;
}
