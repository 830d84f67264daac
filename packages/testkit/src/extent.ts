/**
 * Whether a test of which the gate runs a sample runs in full: `npm run test:long` sets `PARALLAX_TEST_EXTENT=whole`. What a sample leaves out is written
 * in docs/testing.md.
 */
export const isWhole = process.env['PARALLAX_TEST_EXTENT'] === 'whole';

/** Another number gives another sample of the same size. */
export const sampleSeed = Number(process.env['PARALLAX_TEST_SAMPLE_SEED'] ?? 0);
