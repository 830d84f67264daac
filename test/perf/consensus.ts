import { ShardFold } from '../../control-plane/src/monitoring/check-results/ingest/fold.ts';
import type { IngestRow } from '../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import type { Bench } from './report.ts';

const probeCount = 10;
const intervalS = 10;
const freshS = 2 * intervalS + 35;
const startUs = 1_800_000_000_000_000;
/** As the ingest folds them. */
const rowsPerSlice = 500;
/** Who fails does so for as many rounds, so that its vote turns. */
const failingRounds = 3;

const sizes = {
  full: { near: { monitors: 10, rounds: 6_000 }, spread: { monitors: 1_000, rounds: 90 }, failingShare: 0.001 },
  brief: { near: { monitors: 10, rounds: 60 }, spread: { monitors: 100, rounds: 12 }, failingShare: 0.01 },
} as const;

/** What the decision costs by itself: the fold of a shard, without broker and database. */
export const consensusBench: Bench = {
  name: 'consensus',
  summary:
    'what deciding costs by itself, with ten probes: results that repeat, results that turn votes, many monitors',
  run: (say, options) => {
    const { near: few, spread: many, failingShare } = sizes[options?.brief === true ? 'brief' : 'full'];
    say('ten monitors, all results repeat');
    const near = measured({ ...few, failingShare: 0 });
    say(`ten monitors, a share of ${failingShare} of the results fails`);
    const turning = measured({ ...few, failingShare });
    say('a thousand monitors');
    const spread = measured({ ...many, failingShare: 0 });
    const text = (ns: number): string => `${ns.toFixed(0)} ns a result`;
    return Promise.resolve({
      figures: {
        consensus_ns: near.ns,
        consensus_turning_ns: turning.ns,
        consensus_spread_ns: spread.ns,
        consensus_edits: turning.edits,
      },
      table: [
        ['ten monitors of ten probes', text(near.ns)],
        [`the same where a share of ${failingShare} fails`, `${text(turning.ns)}, ${turning.edits} writes to ranges`],
        [`${many.monitors.toLocaleString('en')} monitors of ten probes`, text(spread.ns)],
      ],
    });
  },
};

type Load = { readonly monitors: number; readonly rounds: number; readonly failingShare: number };

/** The median round of the second half: until then the code is compiled, and each voter has as many rows in memory as it keeps. */
function measured({ monitors, rounds, failingShare }: Load): { ns: number; edits: number } {
  const fold = foldOf(monitors);
  const slots = inOrderOfTime(monitors);
  const perResult: number[] = [];
  let edits = 0;
  for (let round = 0; round < rounds; round += 1) {
    let spentNs = 0n;
    for (let from = 0; from < slots.length; from += rowsPerSlice) {
      // Made only now, as the results of a batch are decoded just before they are folded.
      const rows = slots.slice(from, from + rowsPerSlice).map((slot) => rowOf(slot, round, failingShare));
      const lastUs = rows.at(-1)?.receivedUs ?? startUs;
      const begun = process.hrtime.bigint();
      fold.apply(rows);
      const taken = fold.take(lastUs, false);
      spentNs += process.hrtime.bigint() - begun;
      if (round > 0) edits += taken.edits.length;
    }
    if (round >= rounds / 2) perResult.push(Number(spentNs) / slots.length);
  }
  if (edits > 0 !== failingShare > 0) {
    throw new Error(`${edits} writes to ranges at a share of ${failingShare} failures`);
  }
  perResult.sort((a, b) => a - b);
  return { ns: perResult[perResult.length >> 1] ?? Number.NaN, edits };
}

function foldOf(monitors: number): ShardFold {
  const fold = new ShardFold();
  const assignments = Array.from({ length: probeCount }, (_, index) => ({
    voter: index + 1,
    region: `region-${index % 3}`,
    fromUs: startUs,
    toUs: null,
    supplement: false,
  }));
  const configuration = { fromUs: startUs, probeRevision: 1, confirmations: 2, policy: 'majority', intervalS } as const;
  for (let monitorId = 1; monitorId <= monitors; monitorId += 1) {
    const inputs = {
      monitorId,
      assignments,
      configurations: [configuration],
      pauses: [],
      quarantines: [],
      resetUs: null,
      createdUs: startUs,
    };
    fold.restore({
      monitor: {
        monitorId,
        workspaceId: 1,
        status: 'UNKNOWN',
        statusSinceUs: startUs,
        announcedStatus: null,
        inputs,
        isDeleted: false,
        probes: new Set(assignments.map(({ voter }) => voter)),
        longestFreshUs: freshS * 1_000_000,
        intervalS,
        timeoutS: 10,
        confirmations: configuration.confirmations,
        changedXid: '1',
      },
      window: { before: [], votesAtHorizon: new Map(), results: [], storedRanges: [], storedProbeRanges: [] },
      horizonUs: startUs,
      toldUntilUs: startUs,
    });
  }
  fold.take(startUs, false);
  return fold;
}

type Slot = { readonly monitorId: number; readonly voter: number; readonly offsetUs: number };

/** Every check of an interval, spread over it, in the order in which the results come. */
function inOrderOfTime(monitors: number): Slot[] {
  const slots: Slot[] = [];
  for (let voter = 1; voter <= probeCount; voter += 1) {
    for (let monitorId = 1; monitorId <= monitors; monitorId += 1) {
      const offsetUs = ((monitorId * 7_919 + voter * 104_729) % (intervalS * 1_000)) * 1_000;
      slots.push({ monitorId, voter, offsetUs });
    }
  }
  return slots.sort((a, b) => a.offsetUs - b.offsetUs);
}

function rowOf({ monitorId, voter, offsetUs }: Slot, round: number, failingShare: number): IngestRow {
  const eUs = startUs + round * intervalS * 1_000_000 + offsetUs;
  const stretch = Math.floor(round / failingRounds);
  const isFailing =
    round > 0 && ((monitorId * 7_919 + voter * 104_729 + stretch * 1_299_709) % 10_007) / 10_007 < failingShare;
  return {
    monitorId,
    eUs,
    voter,
    kind: 'scheduled',
    outcome: isFailing ? 'fail' : 'ok',
    error: isFailing ? 1 : 0,
    freshS,
    probeRevision: 1,
    receivedUs: eUs + 200_000,
    flags: 0,
    totalUs: 20_000,
    dnsUs: undefined,
    connectUs: undefined,
    tlsUs: undefined,
    firstByteUs: undefined,
    transferUs: undefined,
    evidence: undefined,
  };
}
