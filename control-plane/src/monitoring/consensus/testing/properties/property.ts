import fc from '@parallax/testkit/fast-check';
import type { Outcome } from '@parallax/checks';
import { timeline } from '../../batch.ts';
import { at, result } from '../../test-support.ts';
import type { MonitorInputs, Segment, Status, StoredResult } from '../../types.ts';
import { overS } from '../lives.ts';

/** A statement that holds, whatever happens. */
export type Property = {
  /** The statement, as a sentence. */
  readonly name: string;
  /** Looks for what contradicts it. Throws with the smallest that was found. */
  readonly check: (runs: Runs) => void;
};

/** How often a property is tried, and from which number on; absent: another one each time. */
export type Runs = { readonly numRuns: number; readonly seed?: number | undefined };

/** A statement with what tries it. */
export function holds<Values extends [unknown, ...unknown[]]>(
  name: string,
  property: fc.IPropertyWithHooks<Values>,
): Property {
  return {
    name,
    check: ({ numRuns, seed }) => fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed }) }),
  };
}

/** The batch form over a whole life. */
export const tell = (inputs: MonitorInputs, rows: readonly StoredResult[], untilS = overS): readonly Segment[] =>
  timeline(inputs, rows, at(0), at(untilS)).segments;

/** What holds so many seconds after the origin. */
export const segmentAt = (segments: readonly Segment[], seconds: number): Segment | undefined =>
  segments.find((segment) => segment.fromUs <= at(seconds) && at(seconds) < segment.toUs);

export const isDown = (status: Status | undefined): boolean => status === 'DOWN' || status === 'TIMEOUT';
export const isFailure = ({ outcome }: Pick<StoredResult, 'outcome'>): boolean =>
  outcome === 'fail' || outcome === 'timeout';
export const statusesOf = (segments: readonly Segment[]): Set<Status> => new Set(segments.map(({ status }) => status));

/** Five regions, so that as many probes can lie in different ones. */
export const farApart = ['eu', 'us', 'ap', 'sa', 'af'];

/** Everybody's rounds, a minute apart: an outcome for each voter and round; null: no result. */
export const rounds = (voters: number, outcome: fc.Arbitrary<Outcome | null>): fc.Arbitrary<(Outcome | null)[][]> =>
  fc.array(fc.array(outcome, { minLength: voters, maxLength: voters }), { minLength: 1, maxLength: 10 });

/** The rows of rounds. The voters of a round are three seconds apart. */
export const toRows = (
  list: readonly (readonly (Outcome | null)[])[],
  changes: Partial<StoredResult> = {},
): StoredResult[] =>
  list.flatMap((round, index) =>
    round.flatMap((outcome, voter) =>
      outcome === null ? [] : [result(voter + 1, index * 60 + voter * 3, outcome, changes)],
    ),
  );

export const good = fc.constantFrom<Outcome>('ok', 'ok', 'slow', 'warn');
export const bad = fc.constantFrom<Outcome>('fail', 'timeout');
export const anything = fc.oneof(good, bad, fc.constantFrom<Outcome | null>('probe_error', 'skipped', null));
/** A second within the first ten minutes. */
export const second = fc.integer({ min: 0, max: overS - 1 });
