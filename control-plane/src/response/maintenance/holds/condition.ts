import type { Condition } from './hold.ts';

/** What a monitor's status means for whoever is told of outages; null for what tells neither way: an outage stays through it. */
export function conditionOf(status: string): Condition | null {
  switch (status) {
    case 'DOWN':
    case 'TIMEOUT':
      return 'down';
    case 'UP':
    case 'WARNING':
    case 'DEGRADED':
      return 'up';
    default:
      return null;
  }
}
