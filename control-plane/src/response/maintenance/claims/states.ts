import type { MaintenanceStatus } from '@parallax/api-contract';

/**
 * What a maintenance is when an occurrence of it is over.
 * @param endedMs when it ended
 * @param nextStartsMs the start of the next one; null when there is none
 */
export function afterEnd(endedMs: number, nextStartsMs: number | null): 'active' | 'scheduled' | 'completed' {
  if (nextStartsMs === null) return 'completed';
  return nextStartsMs <= endedMs ? 'active' : 'scheduled';
}

/** Whether nothing of it will happen any more; nothing leads out of these. */
export function isOver(status: MaintenanceStatus): boolean {
  return status === 'completed' || status === 'cancelled';
}
