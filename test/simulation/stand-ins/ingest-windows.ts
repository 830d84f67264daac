import type {
  StoredWindow,
  WindowWanted,
} from '../../../control-plane/src/monitoring/check-results/ingest/windows/queries.ts';
import { fromLastVerdicts } from '../../../control-plane/src/monitoring/consensus/index.ts';
import type { StoredRange, StoredResult } from '../../../control-plane/src/monitoring/consensus/index.ts';
import { current } from '../engine/current.ts';

/* What a fold is restored from, on the modelled database: results and ranges at two instants, as separate statements see them. */

export async function readWindows(
  _reader: unknown,
  wanted: readonly WindowWanted[],
): Promise<Map<number, StoredWindow>> {
  if (wanted.length === 0) return new Map();
  const { database } = current();
  const rows = await database.ask(() => wanted.map((window) => readRows(window)));
  const ranges = await database.ask(() => wanted.map((window) => readRanges(window)));
  return new Map(
    wanted.map(({ monitorId }, index): [number, StoredWindow] => {
      const read = rows[index];
      const told = ranges[index];
      if (read === undefined || told === undefined) throw new Error('a window was not read');
      return [monitorId, { ...read, ...told }];
    }),
  );
}

function readRows({ monitorId, horizonUs, backUs }: WindowWanted): Pick<StoredWindow, 'before' | 'results'> {
  const voting = current()
    .database.results.rowsOf(monitorId)
    .filter((row) => row.kind !== 'manual' && row.outcome !== 'skipped')
    .map(toStored);
  const before = fromLastVerdicts(voting.filter((row) => row.eUs < horizonUs && row.eUs >= horizonUs - backUs));
  return { before, results: voting.filter((row) => row.eUs >= horizonUs) };
}

/** A result as it is read back: what the columns hold. */
function toStored({ eUs, voter, kind, outcome, error, freshS, probeRevision, receivedUs }: StoredResult): StoredResult {
  return { eUs, voter, kind, outcome, error, freshS, probeRevision, receivedUs };
}

function readRanges({
  monitorId,
  horizonUs,
  voters,
}: WindowWanted): Pick<StoredWindow, 'votesAtHorizon' | 'votedUntilUs' | 'storedRanges' | 'storedProbeRanges'> {
  const stored = current().database.results.rangesOf(monitorId).stored();
  const reaches = (range: StoredRange): boolean => range.endedUs === null || range.endedUs >= horizonUs;
  const votesAtHorizon = new Map<number, 'DOWN' | 'TIMEOUT'>();
  const votedUntilUs = new Map<number, number>();
  const storedProbeRanges: StoredRange[] = [];
  for (const voter of voters) {
    const own = stored.filter((range) => range.voter === voter);
    const before = own.findLast((range) => range.startedUs < horizonUs);
    if (before?.status === 'DOWN' || before?.status === 'TIMEOUT') votesAtHorizon.set(voter, before.status);
    if (before !== undefined) votedUntilUs.set(voter, before.endedUs ?? Number.POSITIVE_INFINITY);
    storedProbeRanges.push(...own.filter(reaches).map(bare));
  }
  return {
    votesAtHorizon,
    votedUntilUs,
    storedRanges: stored.filter((range) => range.voter === null && reaches(range)).map(bare),
    storedProbeRanges,
  };
}

const bare = ({ voter, startedUs, endedUs, status }: StoredRange): StoredRange => ({
  voter,
  startedUs,
  endedUs,
  status,
});
