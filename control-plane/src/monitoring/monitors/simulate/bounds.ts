import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '@parallax/api-contract';

/** Others are let in after this. */
const sliceMs = 15;

/** Lets work in, or refuses it. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** @returns a gate that refuses with the problem `busy` what comes while so many are at work */
export function createGate(most: number): Gate {
  let atWork = 0;
  return async (work) => {
    if (atWork >= most) {
      throw new Problem('busy', `${most} simulations are under way in this process; try again`, {
        retryAfterSeconds: 5,
      });
    }
    atWork += 1;
    try {
      return await work();
    } finally {
      atWork -= 1;
    }
  };
}

/** Works a generator off, in slices between which everybody else is let in. `check` may end it by throwing. */
export async function inSlices(steps: Generator<void, void, undefined>, check: () => void): Promise<void> {
  let sinceMs = performance.now();
  for (const _ of steps) {
    if (performance.now() - sinceMs < sliceMs) continue;
    await nextTurn();
    check();
    sinceMs = performance.now();
  }
}
