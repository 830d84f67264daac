import type { RunResult } from './run.ts';
import type { Event } from './world/plan.ts';

type Broken = Extract<RunResult, { isKept: false }>;

const secondUs = 1_000_000;
const tailLines = 40;

/** What broke, what happened before it, and how to see it again. */
export function reportOf(broken: Broken, options: { readonly isShrunk: boolean }): string {
  const { plan, without, message, step, hash, tail } = broken;
  const events = plan.events.flatMap((event, index) => (without.includes(index) ? [] : [`  ${index}: ${tell(event)}`]));
  return [
    ...tail.slice(-tailLines),
    '',
    `seed ${plan.seed}, step ${step}, trace ${hash}`,
    message,
    options.isShrunk ? 'events that it needs:' : 'events:',
    ...events,
    `again: ${commandOf(plan.seed, without)}`,
  ].join('\n');
}

/** What runs this very world again, telling everything. */
export function commandOf(seed: number, without: readonly number[]): string {
  const left = without.length === 0 ? '' : ` --without ${without.join(',')}`;
  return `npm run simulate -- --seed ${seed}${left} --verbose`;
}

function tell({ atUs, lastsUs, kind, ...more }: Event): string {
  const details = Object.entries(more).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [`at ${(atUs / secondUs).toFixed(1)} s for ${(lastsUs / secondUs).toFixed(0)} s`, kind, ...details].join(', ');
}
