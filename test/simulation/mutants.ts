/** A change of one file, by which a mechanism is taken out. */
export type Mutant = { readonly name: string; readonly file: string; readonly from: string; readonly to: string };

const ingest = 'control-plane/src/monitoring/check-results/ingest';
const consensus = 'control-plane/src/monitoring/consensus';

/** Mechanisms that the promises rest on, each taken out. A simulation that does not notice when one is gone proves nothing. */
export const mutants: readonly Mutant[] = [
  {
    name: 'cursor',
    file: `${ingest}/trim.ts`,
    from: 'const done = cursors.get(cursorKey(place)) ?? 0;',
    to: 'const done = place.firstSeq - 1 + 0 * cursors.size;',
  },
  {
    name: 'fence',
    file: 'test/simulation/stand-ins/ingest-writes.ts',
    from: 'if (row.owner !== write.owner || row.term !== write.term) {',
    to: 'if (row.term < 0) {',
  },
  {
    name: 'freshness',
    file: `${consensus}/voter-state.ts`,
    from: 'row.eUs + freshUs,',
    to: 'Number.POSITIVE_INFINITY,',
  },
  {
    name: 'quorum',
    file: `${consensus}/decide.ts`,
    from: 'if (failing >= electorate.quorum && regions',
    to: 'if (failing * 2 > electors.length && regions',
  },
  {
    name: 'durability',
    file: 'probe-agent/src/results/log.ts',
    from: 'await this.#handle.datasync();',
    to: '',
  },
  {
    name: 'acknowledgement',
    file: 'probe-agent/src/results/publisher.ts',
    from: 'lane.inFlight = lane.inFlight.filter((each) => each !== part);',
    to: `lane.inFlight = lane.inFlight.filter((each) => each !== part);
      this.acknowledge([{ epoch: lane.stream.epoch, shard: lane.stream.shard, seq: lane.next - 1 }]);`,
  },
  {
    name: 'sleep',
    file: 'probe-agent/src/runner/clock.ts',
    from: 'const jumped = Math.abs(byMs) > jumpMs;',
    to: 'const jumped = Math.abs(byMs) > 1e12;',
  },
];

export const mutantsCalled = (name: string | undefined): readonly Mutant[] =>
  mutants.filter((mutant) => mutant.name === name);
