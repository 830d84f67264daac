import type { ProbeCandidate } from '../../../assignments/index.ts';

/** A probe as it may be named. */
export type NamedProbe = ProbeCandidate & { readonly name: string };

export type References = {
  readonly probeIds: readonly number[];
  readonly probeNames: readonly string[];
  readonly regions: readonly string[];
};

/**
 * Probes and regions that a row names, as far as the workspace has them; the others are left out and said. Without any probe at all nothing
 * can be said of regions, and they stay.
 */
export function resolveReferences(
  names: readonly string[],
  regions: readonly string[],
  usable: readonly NamedProbe[],
  warnings: string[],
): References {
  const found = names.flatMap((name) => usable.filter((probe) => probe.name === name).slice(0, 1));
  const probes = [...new Map(found.map((probe) => [probe.id, probe])).values()];
  const unknown = names.filter((name) => !probes.some((probe) => probe.name === name));
  if (unknown.length > 0) warnings.push(`left out, since no such probe is here: ${listed(unknown)}`);
  const known =
    usable.length === 0 ? regions : regions.filter((region) => usable.some((probe) => probe.region === region));
  const missing = regions.filter((region) => !known.includes(region));
  if (missing.length > 0) warnings.push(`left out, since no probe is in such a region: ${listed(missing)}`);
  return { probeIds: probes.map((probe) => probe.id), probeNames: probes.map((probe) => probe.name), regions: known };
}

function listed(names: readonly string[]): string {
  return names.join(', ').slice(0, 300);
}
