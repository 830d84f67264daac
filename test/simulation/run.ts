import { planOf } from './world/plan.ts';
import type { Plan } from './world/plan.ts';
import { World } from './world/world.ts';
import type { WorldFigures } from './world/world.ts';
import { Violation } from './oracle/violation.ts';

export type RunOptions = {
  readonly seed: number;
  /** Events of the plan that do not happen, by their place in it. */
  readonly without?: readonly number[] | undefined;
  /** Trouble ends after so many steps. */
  readonly steps?: number | undefined;
  /** Told of each thing that happens, as a line. */
  readonly onLine?: ((line: string) => void) | undefined;
};

/** A world that kept all promises, or what broke. */
export type RunResult =
  | { readonly isKept: true; readonly figures: WorldFigures }
  | {
      readonly isKept: false;
      /** With all its events. */
      readonly plan: Plan;
      readonly without: readonly number[];
      readonly rule: string;
      readonly message: string;
      readonly step: number;
      readonly hash: string;
      /** What happened last, oldest first. */
      readonly tail: readonly string[];
    };

/** Lives through the world of a seed. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, without = [], onLine, steps } = options;
  const plan = planOf(seed);
  const events = plan.events.filter((_, index) => !without.includes(index));
  const world = new World({ plan: { ...plan, events }, onLine, steps });
  const unhandled = (error: unknown): void => world.engine.fail(error);
  process.on('unhandledRejection', unhandled);
  try {
    return { isKept: true, figures: await world.live() };
  } catch (error) {
    const { trace, engine } = world;
    return {
      isKept: false,
      plan,
      without,
      ...described(error),
      step: engine.steps,
      hash: trace.hash(),
      tail: trace.tail(),
    };
  } finally {
    process.off('unhandledRejection', unhandled);
  }
}

function described(error: unknown): { rule: string; message: string } {
  if (error instanceof Violation) return { rule: error.rule, message: error.message };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { rule: 'nothing fails inside', message: `nothing fails inside: ${text}` };
}
