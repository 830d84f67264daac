import { timeline } from '../batch.ts';
import type { Timeline } from '../batch.ts';
import { PreparedInputs } from '../prepared-inputs.ts';
import { at } from '../test-support.ts';
import type { Interval, StoredResult } from '../types.ts';
import { overS } from './lives.ts';
import type { Life } from './lives.ts';

/** What makes a life hard to judge. A generator that seldom reaches one of these proves little about it. */
export const features = [
  'DOWN',
  'TIMEOUT',
  'PARTIAL',
  'DEGRADED',
  'WARNING',
  'UNKNOWN between votes',
  'late rows that count',
  'rows beyond 49 h',
  'a pause inside a streak',
  'a supplement that votes',
  'a seat that joins others',
  'a quarantined voter that fails',
  'rows of an older revision',
  'a change of the rules inside a streak',
  'a reset with votes on both sides',
  'a vote of the fallback',
  'a vote that ends unrepeated',
  'an unconfirmed failure',
] as const;
export type Feature = (typeof features)[number];

/** Those that a life has. */
export function featuresOf(life: Life): Set<Feature> {
  const { inputs, rows } = life;
  const told = timeline(inputs, rows, at(0), at(overS));
  const found = new Set<Feature>();
  const add = (feature: Feature, isThere: boolean): void => {
    if (isThere) found.add(feature);
  };
  const statuses = new Set(told.segments.map(({ status }) => status));
  for (const status of ['DOWN', 'TIMEOUT', 'PARTIAL', 'DEGRADED', 'WARNING'] as const)
    add(status, statuses.has(status));
  const isKnown = told.segments.map(({ status }) => status !== 'UNKNOWN');
  add('UNKNOWN between votes', isKnown.lastIndexOf(true) - isKnown.indexOf(true) >= isKnown.filter(Boolean).length);
  add(
    'late rows that count',
    rows.some((row) => isFailure(row) && row.receivedUs - row.eUs > 15_000_000),
  );
  add(
    'rows beyond 49 h',
    rows.some((row) => row.receivedUs - row.eUs > 49 * 3_600_000_000),
  );
  add(
    'a pause inside a streak',
    inputs.pauses.some((pause) => hasFailuresAround(rows, pause.fromUs)),
  );
  add(
    'a supplement that votes',
    inputs.assignments.some((row) => row.supplement && votes(told, row.voter, row)),
  );
  add('a seat that joins others', new PreparedInputs(inputs).joining.length > 0);
  add(
    'a quarantined voter that fails',
    inputs.quarantines.some((row) => votes(told, row.voter, row, isDown)),
  );
  const newest = Math.max(...inputs.configurations.map(({ probeRevision }) => probeRevision));
  add('rows of an older revision', newest > 1 && rows.some(({ probeRevision }) => probeRevision < newest));
  add(
    'a change of the rules inside a streak',
    inputs.configurations.slice(1).some((event) => hasFailuresAround(rows, event.fromUs)),
  );
  const { resetUs } = inputs;
  add(
    'a reset with votes on both sides',
    resetUs !== null && rows.some(({ eUs }) => eUs < resetUs) && rows.some(({ eUs }) => eUs > resetUs),
  );
  add('a vote of the fallback', told.perVoter.get(0)?.some(({ status }) => status !== 'UNKNOWN') === true);
  add(
    'a vote that ends unrepeated',
    [...told.perVoter.values()].some((own) =>
      own.slice(0, -1).some(({ status }, index) => status === 'UNKNOWN' && index > 0),
    ),
  );
  add('an unconfirmed failure', isSingleFailure(life, told));
  return found;
}

const isFailure = ({ outcome }: StoredResult): boolean => outcome === 'fail' || outcome === 'timeout';
const isDown = (status: string): boolean => status === 'DOWN' || status === 'TIMEOUT';

/** Some voter failed within its freshness before and after an instant. */
function hasFailuresAround(rows: readonly StoredResult[], t: number): boolean {
  const failures = rows.filter(isFailure);
  return failures.some(
    (row) =>
      row.eUs < t &&
      failures.some((next) => next.voter === row.voter && next.eUs > t && next.eUs - row.eUs <= row.freshS * 1_000_000),
  );
}

/** Whether a voter says something within an interval, or something of a kind. */
function votes(
  told: Timeline,
  voter: number,
  { fromUs, toUs }: Interval,
  isMeant: (status: string) => boolean = (status) => status !== 'UNKNOWN',
): boolean {
  const untilUs = toUs ?? Number.POSITIVE_INFINITY;
  return (
    told.perVoter.get(voter)?.some((own) => isMeant(own.status) && own.toUs > fromUs && own.fromUs < untilUs) === true
  );
}

/** A failure that changed no vote. */
function isSingleFailure({ rows }: Life, told: Timeline): boolean {
  return rows.some((row) => {
    if (!isFailure(row) || row.kind === 'manual') return false;
    const own = told.perVoter.get(row.voter)?.find(({ fromUs, toUs }) => fromUs <= row.eUs && row.eUs < toUs);
    return own !== undefined && own.status !== 'UNKNOWN' && !isDown(own.status);
  });
}
