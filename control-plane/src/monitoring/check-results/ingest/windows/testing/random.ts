import type { Outcome } from '@parallax/checks';

/** A small generator of numbers, so that a failing run can be repeated by its seed. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    state ^= state >>> 12;
    return (state >>> 0) / 4_294_967_296;
  };
}

/** That of the environment, so that a failing run can be repeated; else any. */
export const windowsSeed = (): number =>
  Number(process.env['PARALLAX_WINDOWS_SEED'] ?? Math.floor(Math.random() * 1e9));

/** What results are made with. */
export const outcomes: readonly Outcome[] = ['ok', 'ok', 'fail', 'fail', 'timeout', 'slow', 'probe_error', 'skipped'];
