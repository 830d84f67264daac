/* What instrumented code asks: which mutant it is, and whether it may go on. */

/** The code took so many steps more than it does unchanged that it will hardly end. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';
}

/** Number of the mutant that the code is; -1: it is as written. */
export let active = -1;
/** By the first mutant of a place: 1 where the code passed as it is written. */
export const covered = new Uint8Array(1 << 16);
/** Steps since they were last counted from 0. */
export let taken = 0;
let most = Number.POSITIVE_INFINITY;

/** Makes the code a mutant, or itself again, and begins to count: beyond so many steps it is stopped, whatever it catches. */
export function become(mutant: number, mostSteps: number): void {
  active = mutant;
  most = mostSteps;
  taken = 0;
}

export function step(): void {
  taken += 1;
  if (taken > most) throw new TooManySteps(`more than ${most} steps`);
}
