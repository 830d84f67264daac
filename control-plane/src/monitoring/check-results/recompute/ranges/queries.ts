import type pg from 'pg';
import { rowsBeforeHorizon } from '../../../consensus/index.ts';
import { windowOf } from '../../ingest/memory.ts';
import type { ShardMonitor } from '../../ingest/queries.ts';
import { readWindows } from '../../ingest/windows/queries.ts';
import type { Look, Underived } from '../look.ts';
import type { Place } from '../place/queries.ts';
import { rangeDifferences } from '../range-differences.ts';
import { resultsFrom } from '../results/queries.ts';
import { SlicedTimeline } from '../sliced-timeline.ts';

type RangeLook = {
  readonly place: Place;
  readonly monitor: ShardMonitor;
  readonly fromUs: number;
  readonly untilUs: number;
  /** The window ends where the shard is folded, so the status is that of its end. */
  readonly isPresent: boolean;
  /** Results before it are lost; minus infinity when none is. */
  readonly lostUntilUs: number;
};

/** Derives the ranges of a window from its results, and compares them and the status with those that are stored. */
export async function lookAtRanges(
  client: pg.ClientBase,
  look: RangeLook,
): Promise<Pick<Look, 'ranges' | 'status' | 'underived'>> {
  const { monitor, place, untilUs } = look;
  const { fromUs, underived } = derivableFrom(look);
  if (fromUs >= untilUs) return { ranges: [], status: undefined, underived };
  const window = { ...windowOf(monitor, fromUs), isBeforeOnly: true };
  const stored = (await readWindows(client, [window])).get(monitor.monitorId);
  if (stored === undefined) return { ranges: [], status: undefined, underived };
  const { before, votesAtHorizon: votesAtStart, votedUntilUs } = stored;
  const timeline = new SlicedTimeline({ inputs: monitor.inputs, fromUs, untilUs, before, votesAtStart, votedUntilUs });
  for await (const rows of resultsFrom(client, place, fromUs)) {
    timeline.add(rows);
    if (timeline.isComplete) break;
  }
  const derived = timeline.finish();
  const ranges = [...stored.storedRanges, ...stored.storedProbeRanges];
  const voters = [null, ...new Set([...derived.perVoter.keys(), ...window.voters])];
  return {
    underived,
    ranges: voters.flatMap((voter) => {
      const own = voter === null ? derived.all : (derived.perVoter.get(voter) ?? []);
      return rangeDifferences(voter, own, ranges, fromUs, untilUs);
    }),
    status:
      look.isPresent && derived.status !== monitor.status
        ? { expected: derived.status, found: monitor.status }
        : undefined,
  };
}

/** Ranges are judged from where on all results that they rest on are there, and those of a repair too. */
function derivableFrom({ place, monitor, fromUs, lostUntilUs }: RangeLook): {
  fromUs: number;
  underived: Underived | undefined;
} {
  const marginUs = 2 * (rowsBeforeHorizon + 1) * monitor.longestFreshUs;
  const keptUs = place.isCut ? place.floorUs + marginUs : place.floorUs;
  const lostUs = lostUntilUs + marginUs;
  const untilUs = Math.max(fromUs, keptUs, lostUs);
  if (untilUs === fromUs) return { fromUs, underived: undefined };
  const reason =
    untilUs === lostUs ? 'results that they rest on are lost' : 'results that they rest on are not kept any more';
  return { fromUs: untilUs, underived: { untilUs, reason } };
}
