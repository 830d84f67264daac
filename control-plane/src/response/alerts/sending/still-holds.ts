import type { Part } from './queries.ts';

export type Verdict = 'send' | 'wait' | { readonly suppress: string };

/**
 * Whether what is about to be sent still holds; looked at once more, since it may have waited for long. `wait`: it is over, and nobody has decided
 * yet what is told instead.
 */
export function stillHolds(part: Part): Verdict {
  switch (part.kind) {
    case 'opened':
    case 'escalated':
      if (part.is_undecided) return 'wait';
      if (part.kind === 'escalated' && part.acknowledged_at !== null) return { suppress: 'acknowledged' };
      return part.is_snoozed ? { suppress: 'snoozed' } : 'send';
    case 'reminder':
    case 'updated':
    case 'acknowledged':
      if (part.ended_at !== null) return { suppress: 'over' };
      if (part.kind === 'reminder' && part.acknowledged_at !== null) return { suppress: 'acknowledged' };
      return part.is_snoozed ? { suppress: 'snoozed' } : 'send';
    case 'resolved':
    case 'recovered':
    case 'was_down':
    case 'all_clear':
    case 'information':
      return 'send';
  }
}
