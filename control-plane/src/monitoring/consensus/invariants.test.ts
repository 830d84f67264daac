import fc from 'fast-check';
import t from 'tap';
import { ranges, timeline } from './batch.ts';
import { arbitraryHistory } from './test-histories.ts';
import { at, inputsOf, result, seats, told } from './test-support.ts';
import type { MonitorInputs, Policy, Segment, Status, StoredResult } from './types.ts';

/* The invariants of the consensus rules, on the batch form; the increment is held to them by being equal to it. */

const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 200);
const fromS = 0;
const untilS = 700;
const second = fc.integer({ min: fromS, max: untilS - 1 });

const rowsOf = (history: { arrivals: readonly { row: StoredResult }[] }) => history.arrivals.map(({ row }) => row);
const tell = (inputs: MonitorInputs, rows: readonly StoredResult[]) => timeline(inputs, rows, at(fromS), at(untilS));
const at1 = (segments: readonly Segment[], seconds: number): Segment | undefined =>
  segments.find((segment) => segment.fromUs <= at(seconds) && at(seconds) < segment.toUs);

/** Everybody's rounds, a minute apart: an outcome for each voter and round; null: no result. */
type Outcome = StoredResult['outcome'];
const rounds = (voters: number, outcome: fc.Arbitrary<Outcome | null>) =>
  fc.array(fc.array(outcome, { minLength: voters, maxLength: voters }), { minLength: 1, maxLength: 10 });
const toRows = (list: readonly (readonly (Outcome | null)[])[], changes: Partial<StoredResult> = {}) =>
  list.flatMap((round, index) =>
    round.flatMap((outcome, voter) =>
      outcome === null ? [] : [result(voter + 1, index * 60 + voter * 3, outcome, changes)],
    ),
  );
const good = fc.constantFrom<Outcome>('ok', 'ok', 'slow', 'warn');
const bad = fc.constantFrom<Outcome>('fail', 'timeout');
const any = fc.oneof(good, bad, fc.constantFrom<Outcome | null>('probe_error', 'skipped', null));
const statusesOf = (segments: readonly Segment[]) => new Set(segments.map((segment) => segment.status));
const isDown = (status: Status | undefined) => status === 'DOWN' || status === 'TIMEOUT';
const farApart = ['eu', 'us', 'ap', 'sa', 'af'];

function holds<T extends [unknown, ...unknown[]]>(name: string, property: fc.IProperty<T>): void {
  void t.test(name, async () => {
    fc.assert(property, { numRuns });
  });
}

holds(
  'order, duplicates and the order of inputs change nothing',
  fc.property(arbitraryHistory, fc.infiniteStream(fc.nat()), (history, keys) => {
    const rows = rowsOf(history);
    const shuffled = [...rows, ...rows.slice(0, 5)]
      .map((row) => ({ row, key: keys.next().value ?? 0 }))
      .sort((a, b) => a.key - b.key)
      .map(({ row }) => row);
    const { inputs } = history;
    const turned: MonitorInputs = {
      ...inputs,
      assignments: [...inputs.assignments].reverse(),
      pauses: [...inputs.pauses].reverse(),
      quarantines: [...inputs.quarantines].reverse(),
    };
    return told(tell(inputs, rows).segments) === told(tell(turned, shuffled).segments);
  }),
);

holds(
  'segments partition the window and ranges never touch an equal neighbour; none is empty',
  fc.property(arbitraryHistory, (history) => {
    const { segments, perVoter } = tell(history.inputs, rowsOf(history));
    for (const list of [segments, ...perVoter.values()]) {
      let fromUs = at(fromS);
      for (const [index, segment] of list.entries()) {
        if (segment.fromUs !== fromUs || segment.toUs <= segment.fromUs) return false;
        if (segment.status === list[index - 1]?.status) return false;
        fromUs = segment.toUs;
      }
      if (fromUs !== at(untilS)) return false;
      const runs = ranges(list);
      for (const [index, run] of runs.entries()) {
        const before = runs[index - 1];
        if (run.toUs <= run.fromUs) return false;
        if (
          before !== undefined &&
          (before.toUs > run.fromUs || (before.toUs === run.fromUs && before.status === run.status))
        )
          return false;
      }
    }
    return true;
  }),
);

holds(
  'by majority one probe alone never makes DOWN',
  fc.property(
    fc.integer({ min: 2, max: 5 }),
    rounds(1, any),
    rounds(4, fc.oneof(good, fc.constant(null))),
    fc.integer({ min: 1, max: 3 }),
    (n, liar, others, confirmations) => {
      const inputs = inputsOf({
        assignments: seats(...farApart.slice(0, n)),
        configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy: 'majority' }],
      });
      const rows = [...toRows(liar), ...toRows(others.map((round) => [null, ...round.slice(0, n - 1)]))];
      return ![...statusesOf(tell(inputs, rows).segments)].some(isDown);
    },
  ),
);

holds(
  'of three voting probes any one may lie without turning UP into DOWN or back while the other two agree',
  fc.property(rounds(1, fc.oneof(good, bad)), fc.boolean(), fc.integer({ min: 1, max: 3 }), (liar, areDown, liarAt) => {
    const confirmations = 1;
    const inputs = inputsOf({
      configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy: 'majority' }],
    });
    const honest: Outcome = areDown ? 'fail' : 'ok';
    const rows = liar.flatMap(([lie], index) =>
      [1, 2, 3].map((voter) => result(voter, index * 60, voter === liarAt ? (lie ?? 'ok') : honest)),
    );
    const { segments } = timeline(inputs, rows, at(0), at((liar.length - 1) * 60 + 1));
    return segments.every(({ status }) => isDown(status) === areDown);
  }),
);

holds(
  'a voter that falls silent or is quarantined never makes DOWN out of what was not',
  fc.property(
    rounds(4, any),
    second,
    fc.integer({ min: 1, max: 4 }),
    fc.boolean(),
    fc.constantFrom<Policy>('majority', 'all', 2, 3),
    (list, momentS, voter, isSilent, policy) => {
      const inputs = inputsOf({
        assignments: seats(...farApart.slice(0, 4)),
        configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 2, policy }],
      });
      const rows = toRows(list);
      const before = tell(inputs, rows).segments;
      // A streak is not to be taken apart by the silence: the silent voter is one that says nothing at all.
      const after = isSilent
        ? tell(
            inputs,
            rows.filter((row) => row.voter !== voter),
          ).segments
        : tell({ ...inputs, quarantines: [{ voter, fromUs: at(momentS), toUs: null }] }, rows).segments;
      const was = at1(before, momentS)?.status;
      const is = at1(after, momentS)?.status;
      return !isDown(is) || isDown(was);
    },
  ),
);

holds(
  'all ok gives only UP and UNKNOWN; all failing gives DOWN throughout',
  fc.property(
    rounds(3, fc.oneof(fc.constant<Outcome>('ok'), fc.constantFrom<Outcome | null>('skipped', null))),
    fc.integer({ min: 2, max: 10 }),
    bad,
    (list, n, outcome) => {
      const ok = statusesOf(tell(inputsOf(), toRows(list)).segments);
      for (const status of ok) if (status !== 'UP' && status !== 'UNKNOWN') return false;
      const failing = toRows(Array.from({ length: n }, (): Outcome[] => [outcome, outcome, outcome]));
      const end = at((n - 1) * 60 + 7);
      const { segments } = timeline(inputsOf(), failing, at(6), end);
      return segments.length === 1 && isDown(segments[0]?.status);
    },
  ),
);

const badness: Record<Status, number> = {
  UNKNOWN: -1,
  UP: 0,
  WARNING: 1,
  DEGRADED: 2,
  PARTIAL: 3,
  TIMEOUT: 4,
  DOWN: 4,
};

holds(
  'turning a vote from UP to DOWN never improves the status',
  fc.property(
    fc.array(fc.oneof(good, bad), { minLength: 1, maxLength: 5 }),
    fc.nat({ max: 4 }),
    fc.constantFrom<Policy>('majority', 'any', 'all', 2),
    (votes, turned, policy) => {
      const inputs = inputsOf({
        assignments: seats(...farApart.slice(0, votes.length)),
        configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 1, policy }],
      });
      const statusOf = (list: readonly Outcome[]) =>
        timeline(
          inputs,
          list.map((outcome, index) => result(index + 1, 0, outcome)),
          at(10),
          at(11),
        ).segments[0]?.status ?? 'UNKNOWN';
      const up = votes.map((vote, index) => (index === turned % votes.length ? 'ok' : vote));
      const down = votes.map((vote, index) => (index === turned % votes.length ? 'fail' : vote));
      return badness[statusOf(down)] >= badness[statusOf(up)];
    },
  ),
);

holds(
  'one blip is invisible with two confirmations, also of all probes at once',
  fc.property(
    fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { minLength: 2, maxLength: 9 }),
    bad,
    (blips, outcome) => {
      // No voter fails twice in a row, and the first round is good, so that there is a vote to carry.
      const list = blips.map((round, index) =>
        round.map((isBlip, voter): Outcome => (index % 2 === 1 && isBlip && voter < 3 ? outcome : 'ok')),
      );
      const { segments } = timeline(inputsOf(), toRows(list), at(6), at(list.length * 60));
      return segments.length === 1 && segments[0]?.status === 'UP';
    },
  ),
);

holds(
  'manual and skipped results are neutral',
  fc.property(
    arbitraryHistory,
    fc.array(fc.tuple(second, fc.integer({ min: 0, max: 4 }), fc.boolean())),
    (history, extra) => {
      const rows = rowsOf(history);
      const neutral = extra.map(([s, voter, isManual]) =>
        isManual
          ? result(voter, s, 'fail', { kind: 'manual', probeRevision: 9 })
          : result(voter, s, 'skipped', { probeRevision: 9 }),
      );
      return told(tell(history.inputs, rows).segments) === told(tell(history.inputs, [...rows, ...neutral]).segments);
    },
  ),
);

holds(
  'a pause covers its interval, and nothing is known after it but from results after it',
  fc.property(arbitraryHistory, second, fc.integer({ min: 1, max: 300 }), (history, pauseS, lengthS) => {
    const inputs = { ...history.inputs, pauses: [{ fromUs: at(pauseS), toUs: at(pauseS + lengthS) }] };
    const rows = rowsOf(history);
    const { segments } = tell(inputs, rows);
    const during = segments.filter((segment) => segment.fromUs < at(pauseS + lengthS) && segment.toUs > at(pauseS));
    if (during.some(({ status }) => status !== 'UNKNOWN')) return false;
    const young = rows.filter((row) => row.eUs >= at(pauseS + lengthS));
    const old = rows.filter((row) => row.eUs < at(pauseS));
    const after = timeline(inputs, young, at(pauseS + lengthS), at(untilS + 300)).segments;
    const before = timeline(inputs, old, at(0), at(pauseS)).segments;
    return (
      told(timeline(inputs, rows, at(pauseS + lengthS), at(untilS + 300)).segments) === told(after) &&
      told(timeline(inputs, rows, at(0), at(pauseS)).segments) === told(before)
    );
  }),
);

holds(
  'nothing is known after the last result and its freshness',
  fc.property(arbitraryHistory, (history) => {
    const rows = rowsOf(history);
    const endUs = Math.max(at(0), ...rows.map((row) => row.eUs + row.freshS * 1_000_000));
    const { segments } = timeline(history.inputs, rows, endUs, endUs + 1_000_000);
    return segments.length === 1 && segments[0]?.status === 'UNKNOWN';
  }),
);

holds(
  'the onset of DOWN is the first failure of the voter that completes the quorum',
  fc.property(
    fc.integer({ min: 2, max: 5 }),
    fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 5, maxLength: 5 }),
    fc.integer({ min: 1, max: 4 }),
    (n, offsets, confirmations) => {
      const inputs = inputsOf({
        assignments: seats(...farApart.slice(0, n)),
        configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy: 'majority' }],
      });
      const voters = offsets.slice(0, n);
      const rows = voters.flatMap((offset, index) =>
        [0, 1, 2, 3, 4].map((round) => result(index + 1, round * 60 + offset, round === 0 ? 'ok' : 'fail')),
      );
      const quorum = Math.max(2, Math.floor(n / 2) + 1);
      const onset = [...voters].sort((a, b) => a - b)[quorum - 1] ?? 0;
      const down = timeline(inputs, rows, at(60), at(300)).segments.find(({ status }) => status === 'DOWN');
      return down?.fromUs === at(60 + onset);
    },
  ),
);

holds(
  'a quarantined probe is as an absent one, and its seat still counts',
  fc.property(rounds(3, any), fc.integer({ min: 1, max: 3 }), (list, voter) => {
    const rows = toRows(list);
    const quarantined = inputsOf({ quarantines: [{ voter, fromUs: at(0), toUs: null }] });
    return (
      told(tell(quarantined, rows).segments) ===
      told(
        tell(
          inputsOf(),
          rows.filter((row) => row.voter !== voter),
        ).segments,
      )
    );
  }),
);

holds(
  'a result changes nothing before its streak',
  fc.property(
    rounds(3, any),
    second,
    fc.integer({ min: 1, max: 3 }),
    fc.oneof(good, bad, fc.constant<Outcome>('probe_error')),
    (list, s, voter, outcome) => {
      const rows = toRows(list).filter((row) => row.voter !== voter || row.eUs !== at(s));
      const own = rows.filter(
        (row) => row.voter === voter && row.eUs < at(s) && row.outcome !== 'skipped' && row.outcome !== 'probe_error',
      );
      // Two confirmations: at most the failure just before it is one that it can confirm or part from the next.
      const last = own.sort((a, b) => b.eUs - a.eUs)[0];
      const isFailing = last?.outcome === 'fail' || last?.outcome === 'timeout';
      const streakUs = last !== undefined && isFailing ? last.eUs : at(s);
      const before = (given: readonly StoredResult[]) => told(timeline(inputsOf(), given, at(0), streakUs).segments);
      return streakUs <= at(0) || before(rows) === before([...rows, result(voter, s, outcome)]);
    },
  ),
);

holds(
  'four probes, two up and two down, do not flap',
  fc.property(
    fc.integer({ min: 3, max: 10 }),
    fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 4, maxLength: 4 }),
    (n, offsets) => {
      const inputs = inputsOf({ assignments: seats(...farApart.slice(0, 4)) });
      const rows = offsets.flatMap((offset, index) =>
        Array.from({ length: n }, (_, round) => result(index + 1, round * 60 + offset, index < 2 ? 'ok' : 'fail')),
      );
      const { segments } = timeline(inputs, rows, at(60), at(n * 60));
      return segments.length === 1 && segments[0]?.status === 'PARTIAL';
    },
  ),
);
