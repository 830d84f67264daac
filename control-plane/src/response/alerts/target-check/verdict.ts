import type { InputError } from '@parallax/api-contract';
import type { PlacedTarget, StoredTarget } from '../rules/targets.ts';

/** What channels say of a target: itself in the form in which it is stored, or what is wrong with it. */
export type TargetVerdict =
  | { readonly ok: true; readonly target: StoredTarget }
  | {
      readonly ok: false;
      readonly field: 'channel' | 'config_id' | 'target';
      readonly code: string;
      readonly message: string;
    };

/** Errors of targets, each with its place in the body. */
export function verdictErrors(placed: readonly PlacedTarget[], verdicts: readonly TargetVerdict[]): InputError[] {
  return verdicts.flatMap((verdict, index) => {
    const place = placed[index];
    if (verdict.ok || place === undefined) return [];
    return [{ in: 'body', path: `${place.path}/${verdict.field}`, code: verdict.code, message: verdict.message }];
  });
}

/** The values with their targets as the channels have read them, in the order in which they were placed. */
export function withRead<
  Values extends { readonly steps: readonly StepLike[]; readonly failover: StoredTarget | null },
>(values: Values, verdicts: readonly TargetVerdict[]): Values {
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
