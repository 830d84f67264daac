import { maxBatchResults } from '@parallax/wire';

/** The load of the ingest's bench: at most one result per monitor and interval, of each probe, in an order of its own. */
export const monitorCount = 10_000;
export const intervalS = 60;
export const batchRows = maxBatchResults;

/** Time since the start of the load at which a probe's `position`th result was made. */
export function positionUs(position: number): number {
  return Math.floor((position * intervalS * 1_000_000) / monitorCount);
}

/** A fixed order that looks random, a different one for each probe. */
export function permutation(items: readonly number[], seed: number): number[] {
  const order = [...items];
  let state = seed * 2_654_435_761;
  for (let index = order.length - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = state % (index + 1);
    [order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0];
  }
  return order;
}

export type PublisherOrder = {
  readonly natsUrl: string;
  readonly startUs: number;
  readonly windowMessages: number;
  readonly monitors: readonly number[];
  readonly probes: readonly { readonly id: number; readonly seed: string }[];
};
