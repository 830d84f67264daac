import type { InputError } from '@parallax/api-contract';
import type { TargetVerdict } from '../../channels/index.ts';
import type { PlacedTarget, StoredTarget } from '../rules/targets.ts';

/** What channels say of a target. */
export type StoredVerdict = TargetVerdict<StoredTarget>;

/** Errors of targets, each with its place in the body. */
export function verdictErrors(placed: readonly PlacedTarget[], verdicts: readonly StoredVerdict[]): InputError[] {
  return verdicts.flatMap((verdict, index) => {
    const place = placed[index];
    if (verdict.ok || place === undefined) return [];
    return [{ in: 'body', path: `${place.path}/${verdict.field}`, code: verdict.code, message: verdict.message }];
  });
}

/** The values with their targets as the channels have read them, in the order in which they were placed. */
export function withRead<
  Values extends { readonly steps: readonly StepLike[]; readonly failover: StoredTarget | null },
>(values: Values, verdicts: readonly StoredVerdict[]): Values {
  const read = verdicts.map((verdict) => (verdict.ok ? verdict.target : undefined));
  let next = 0;
  const take = (target: StoredTarget): StoredTarget => read[next++] ?? target;
  return {
    ...values,
    steps: values.steps.map((step) => ({ ...step, targets: step.targets.map(take) })),
    failover: values.failover === null ? null : take(values.failover),
  };
}

type StepLike = { readonly after_seconds: number; readonly targets: readonly StoredTarget[] };
