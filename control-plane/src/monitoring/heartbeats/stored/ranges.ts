import type { DownReason } from '@parallax/api-contract';
import type { State } from '../state.ts';

/** From when on a heartbeat was up, down, or neither, which ends what was before. */
export type RangeEdit = {
  readonly atMs: number;
  readonly status: 'up' | 'down' | null;
  readonly reason: DownReason | null;
};

/** The edit of the timeline that a change of the state is; null when it is none. */
export function rangeEdit(before: State, after: State): RangeEdit | null {
  if (before.status === after.status) return null;
  const status = after.status === 'up' || after.status === 'down' ? after.status : null;
  return { atMs: after.statusSinceMs, status, reason: after.reason };
}
