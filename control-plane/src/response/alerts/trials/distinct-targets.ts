import type { StoredStep, StoredTarget } from '../rules/targets.ts';

/**
 * Whom an alert would tell at some time, each real target once, in the order of the steps; the failover comes last.
 * @param keyOf the same for what reaches the same
 */
export function distinctTargets(
  alert: { readonly steps: readonly StoredStep[]; readonly failover: StoredTarget | null },
  keyOf: (target: StoredTarget) => string,
): readonly StoredTarget[] {
  const all = [...alert.steps.flatMap((step) => step.targets), ...(alert.failover === null ? [] : [alert.failover])];
  const byKey = new Map<string, StoredTarget>();
  for (const target of all) {
    const key = keyOf(target);
    if (!byKey.has(key)) byKey.set(key, target);
  }
  return [...byKey.values()];
}
