import type { Alert } from '../alert.ts';
import { matchesScope } from './matches-scope.ts';
import type { Occasion } from './occasion.ts';

/** What else an occasion is wanted by beside its own event: whoever is told of outages is told that they come too often to be told one by one. */
const alsoBy: Readonly<Record<string, readonly string[]>> = {
  'monitor.flapping': ['monitor.down'],
  'maintenance.all_clear': [
    'monitor.down',
    'heartbeat.missed',
    'heartbeat.failed',
    'webhook_check.missed',
    'webhook_check.failed',
  ],
};

/**
 * Whether an alert wants to be told of an occasion: one of its subjects lies in the scope and is wanted by its event. What has no subject, as an
 * incident by hand may, is in the scope of alerts for all. What is told once is told to nobody who was not there when it happened.
 */
export function matches(alert: Alert, occasion: Occasion): boolean {
  if (!occasion.isLasting && alert.activeSinceMs > occasion.openedMs) return false;
  const isWanted = (event: string): boolean =>
    alert.events.has(event) ||
    alert.events.has(occasion.event) ||
    (alsoBy[event] ?? []).some((other) => alert.events.has(other));
  if (occasion.subjects.length === 0) return alert.scope.all && isWanted(occasion.event);
  return occasion.subjects.some((subject) => isWanted(subject.event) && matchesScope(alert.scope, subject));
}
