import type { Place } from './rows.ts';

/** What is committed, or on its way to be, of each probe's log: the last sequence number by `cursorKey`. */
export type Cursors = Map<string, number>;

export const cursorKey = (place: { readonly probeId: number; readonly epoch: number }): string =>
  `${place.probeId}:${place.epoch}`;

export type Trimmed =
  /** New from the `skip`th result on. */
  | { readonly type: 'take'; readonly skip: number }
  /** All of it is committed already. */
  | { readonly type: 'duplicate' }
  /** Something before it is missing: it is not taken, and the probe sends again from `resendFrom`. */
  | { readonly type: 'gap'; readonly resendFrom: number };

/** Places a batch against the cursor of its (probe, epoch, shard). An epoch that was never seen begins at 1. Pure. */
export function trim(cursors: Cursors, place: Place): Trimmed {
  const done = cursors.get(cursorKey(place)) ?? 0;
  if (place.lastSeq <= done) return { type: 'duplicate' };
  if (place.firstSeq > done + 1) return { type: 'gap', resendFrom: done + 1 };
  return { type: 'take', skip: done + 1 - place.firstSeq };
}
