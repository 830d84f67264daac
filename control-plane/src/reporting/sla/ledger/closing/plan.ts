import { dayEntry, saysTheSame } from '../entry.ts';
import type { DaySummary } from '../entry.ts';
import type { NewEntry } from '../queries.ts';

/** What is to be appended of a monitor's day: its summary, a revision where the ledger says something else, or nothing. */
export function entryOfDay(
  kind: 'close' | 'settle',
  monitor: { readonly id: number; readonly chain: number; readonly lastEntry: string | null },
  summary: DaySummary,
  nowMs: number,
): NewEntry | null {
  if (kind === 'close' ? monitor.lastEntry !== null : isSettled(monitor.lastEntry, summary)) return null;
  const entryKind = kind === 'close' ? 'day' : 'revision';
  const place = { monitorId: monitor.id, chain: monitor.chain };
  return {
    ...place,
    kind: entryKind,
    day: summary.day,
    text: (seq) => dayEntry(entryKind, summary, { ...place, seq, atMs: nowMs }),
  };
}

/** A day that was never closed, of a monitor that was reset meanwhile, has nothing to be revised. */
function isSettled(lastEntry: string | null, summary: DaySummary): boolean {
  return lastEntry === null || saysTheSame(lastEntry, summary);
}
