import fc from '@parallax/testkit/fast-check';
import type { ReportRange, TimelineInputs } from './spans.ts';

/** Made timelines: ranges in order that may touch, with pauses and maintenance across them, and a window that may cut all of it. */
export const timelines: fc.Arbitrary<TimelineInputs> = fc
  .record({
    pieces: fc.array(
      fc.record({
        gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000_000 })),
        ms: fc.integer({ min: 1, max: 40_000_000 }),
        status: fc.constantFrom('UP', 'DEGRADED', 'DOWN', 'TIMEOUT'),
        isRevised: fc.boolean(),
      }),
      { maxLength: 30 },
    ),
    isOpen: fc.boolean(),
    pauses: intervals(),
    maintenance: intervals(),
    startMs: fc.integer({ min: -50_000_000, max: 50_000_000 }),
    lengthMs: fc.integer({ min: 0, max: 400_000_000 }),
    lagMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300_000_000 })),
  })
  .map(({ pieces, isOpen, startMs, lengthMs, lagMs, pauses, maintenance }) => {
    let atMs = baseMs;
    const ranges = pieces.map(({ gapMs, ms, status, isRevised }, index): ReportRange => {
      const startedMs = atMs + gapMs;
      atMs = startedMs + ms;
      const endedMs = isOpen && index === pieces.length - 1 ? null : atMs;
      return { startedMs, endedMs, status, isRevised, votes: [] };
    });
    const fromMs = baseMs + startMs;
    const toMs = fromMs + lengthMs;
    return { ranges, pauses, maintenance, fromMs, toMs, openUntilMs: toMs - lagMs };
  });

/** In the middle of a day. */
const baseMs = Date.parse('2026-03-01T09:30:00.000Z');

function intervals() {
  return fc.array(
    fc
      .record({
        fromMs: fc.integer({ min: -20_000_000, max: 300_000_000 }),
        ms: fc.option(fc.integer({ min: 1, max: 50_000_000 })),
      })
      .map(({ fromMs, ms }) => ({ fromMs: baseMs + fromMs, toMs: ms === null ? null : baseMs + fromMs + ms })),
    { maxLength: 4 },
  );
}
