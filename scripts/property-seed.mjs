// Loaded before each test file: its properties draw from one seed, so that the tests say the same of the same code each time.
// `PARALLAX_PROPERTY_SEED=random` draws anew, which finds what that seed does not; a number repeats the run that drew from it.
import { isMainThread } from 'node:worker_threads';

const given = process.env.PARALLAX_PROPERTY_SEED ?? '20260711';
// Threads and processes that a test starts get its arguments too, and have no properties.
const isTest = isMainThread && process.argv[1]?.endsWith('.test.ts') === true;
if (isTest && given !== 'random') {
  const seed = Number(given);
  if (!Number.isInteger(seed)) {
    throw new Error(`PARALLAX_PROPERTY_SEED is a whole number or "random", not ${JSON.stringify(given)}`);
  }
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed });
}
