import type { AlertScope } from '../alert.ts';
import type { OccasionSubject } from './occasion.ts';

/** Whether a scope covers a subject. A tag means subjects that have it and members of groups that have it. */
export function matchesScope(scope: AlertScope, subject: Omit<OccasionSubject, 'event'>): boolean {
  if (scope.all) return true;
  if (subject.tags.some((tag) => scope.tags.includes(tag))) return true;
  switch (subject.type) {
    case 'monitor':
      return scope.monitorIds.has(subject.id) || subject.groupIds.some((id) => scope.groupIds.has(id));
    case 'heartbeat':
      return scope.heartbeatIds.has(subject.id);
    case 'webhook_check':
      return scope.webhookCheckIds.has(subject.id);
    default:
      return false;
  }
}
