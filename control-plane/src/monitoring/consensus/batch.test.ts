import t from 'tap';
import { ranges, timeline } from './batch.ts';
import { at, inputsOf, originUs, result, seats, told } from './test-support.ts';
import type {
  Assignment,
  MonitorInputs,
  Policy,
  RangeEvidence,
  Segment,
  Status,
  StoredResult,
  Vote,
  VoteEvidence,
} from './types.ts';

/* What the definition says to the last field: it is what all else is compared with. */

const single: Partial<MonitorInputs> = { assignments: seats('eu') };
const rules = (confirmations: number, policy: Policy = 'majority'): Pick<MonitorInputs, 'configurations'> => ({
  configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy }],
});
const seat = (voter: number, region: string, supplement = false, toUs: number | null = null): Assignment => ({
  voter,
  region,
  fromUs: at(0),
  toUs,
  supplement,
});
const whole = (inputs: Partial<MonitorInputs>, results: readonly StoredResult[], fromS = 0, toS = 300) =>
  timeline(inputsOf(inputs), results, at(fromS), at(toS));
const segmentsOf = (inputs: Partial<MonitorInputs>, results: readonly StoredResult[], fromS = 0, toS = 300): string =>
  told(whole(inputs, results, fromS, toS).segments);
/** What is said at one second. */
const saidAt = (inputs: Partial<MonitorInputs>, results: readonly StoredResult[], second: number): Segment =>
  whole(inputs, results, second, second + 1).segments[0] as Segment;
const evidenceAt = (inputs: Partial<MonitorInputs>, results: readonly StoredResult[], second: number): RangeEvidence =>
  saidAt(inputs, results, second).evidence;
const vote = (voter: number, said: Vote, sinceS: number, error = 0): VoteEvidence => ({
  voter,
  vote: said,
  sinceUs: at(sinceS),
  error,
});

t.test('each status says its rule, its quorum, who voted what since when, and who is missing', async (t) => {
  const says = (results: readonly StoredResult[], status: Status, evidence: Partial<RangeEvidence>): void => {
    const said = saidAt(rules(1), results, 10);
    t.equal(said.status, status);
    t.same(said.evidence, { quorum: 2, missing: [], ...evidence });
  };
  says([result(1, 0, 'ok'), result(2, 0, 'ok'), result(3, 0, 'slow')], 'UP', {
    rule: 'answered',
    voters: [vote(1, 'UP', 0), vote(2, 'UP', 0), vote(3, 'DEGRADED', 0)],
  });
  says([result(1, 0, 'ok'), result(2, 0, 'ok'), result(3, 0, 'warn')], 'WARNING', {
    rule: 'any_warning',
    voters: [vote(1, 'UP', 0), vote(2, 'UP', 0), vote(3, 'WARNING', 0)],
  });
  says([result(1, 0, 'ok'), result(3, 0, 'slow')], 'DEGRADED', {
    rule: 'half_slow',
    voters: [vote(1, 'UP', 0), vote(3, 'DEGRADED', 0)],
    missing: [2],
  });
  says([result(1, 0, 'ok'), result(3, 5, 'fail', { error: 11 })], 'PARTIAL', {
    rule: 'some_failing',
    voters: [vote(1, 'UP', 0), vote(3, 'DOWN', 5, 11)],
    missing: [2],
  });
  says([result(3, 5, 'fail', { error: 11 })], 'PARTIAL', {
    rule: 'some_failing',
    voters: [vote(3, 'DOWN', 5, 11)],
    missing: [1, 2],
    quorum_out_of_reach: true,
  });
  says([result(2, 4, 'fail', { error: 12 }), result(1, 5, 'timeout', { error: 11 })], 'DOWN', {
    rule: 'quorum_failing',
    voters: [vote(1, 'TIMEOUT', 5, 11), vote(2, 'DOWN', 4, 12)],
    missing: [3],
  });
  says([result(1, 0, 'timeout'), result(2, 0, 'timeout'), result(3, 0, 'slow')], 'TIMEOUT', {
    rule: 'quorum_timed_out',
    voters: [vote(1, 'TIMEOUT', 0), vote(2, 'TIMEOUT', 0), vote(3, 'DEGRADED', 0)],
  });
  says([], 'UNKNOWN', { rule: 'no_votes', voters: [], missing: [1, 2, 3] });
});

t.test(
  'before it exists, after a reset and in a pause it says why nothing is known, and asks for nobody',
  async (t) => {
    const closed = (rule: string) => ({ rule, quorum: 0, voters: [], missing: [] });
    const inputs = { createdUs: at(10), resetUs: at(20), pauses: [{ fromUs: at(40), toUs: at(50) }] };
    t.same(
      whole(inputs, [], 0, 60).segments.map(({ evidence }) => evidence.rule),
      ['not_started'],
      'neighbours of one status are one segment, with the evidence of the first',
    );
    t.same(evidenceAt(inputs, [], 19), closed('not_started'));
    t.same(evidenceAt({ ...inputs, resetUs: null }, [], 9), closed('not_started'));
    t.same(evidenceAt({ ...inputs, resetUs: at(5) }, [], 9), closed('not_started'), 'the later of the two');
    t.equal(evidenceAt({ ...inputs, resetUs: null }, [], 10).rule, 'no_votes');
    t.same(evidenceAt(inputs, [], 40), closed('paused'));
    t.equal(evidenceAt(inputs, [], 50).rule, 'no_votes');
  },
);

t.test('a voter says what it votes itself, since when, and nothing of a quorum', async (t) => {
  const rows = [result(2, 0, 'ok'), result(2, 60, 'ok'), result(2, 120, 'fail', { error: 4 }), result(2, 130, 'fail')];
  const { perVoter } = whole({}, rows, 0, 400);
  t.same(perVoter.get(2), [
    {
      fromUs: at(0),
      toUs: at(120),
      status: 'UP',
      evidence: { rule: 'own_votes', quorum: 0, voters: [vote(2, 'UP', 0)], missing: [] },
    },
    {
      fromUs: at(120),
      toUs: at(290),
      status: 'DOWN',
      evidence: { rule: 'own_votes', quorum: 0, voters: [vote(2, 'DOWN', 120, 4)], missing: [] },
    },
    {
      fromUs: at(290),
      toUs: at(400),
      status: 'UNKNOWN',
      evidence: { rule: 'no_votes', quorum: 0, voters: [], missing: [] },
    },
  ]);
});

t.test('a vote is dated to where its voter began to vote so without a break, whatever others did then', async (t) => {
  const rows = [
    result(1, 0, 'ok'),
    result(1, 50, 'ok', { freshS: 30 }),
    result(1, 100, 'ok'),
    result(1, 150, 'ok'),
    result(2, 20, 'slow'),
    result(2, 100, 'ok'),
    result(2, 160, 'ok'),
    result(3, 0, 'ok', { freshS: 150 }),
  ];
  t.same(evidenceAt({}, rows, 170).voters, [vote(1, 'UP', 100), vote(2, 'UP', 100)]);
  t.same(evidenceAt({}, rows, 70).voters, [vote(1, 'UP', 0), vote(2, 'DEGRADED', 20), vote(3, 'UP', 0)]);
});

t.test('everybody has a timeline who is assigned, has results, or is the control plane, in order', async (t) => {
  const assignments = [seat(10, 'eu'), seat(9, 'us'), seat(2, 'ap')];
  const { perVoter } = whole({ assignments }, [result(33, 0, 'ok'), result(4, 0, 'ok')]);
  t.same([...perVoter.keys()], [0, 2, 4, 9, 10, 33]);
  t.equal(told(perVoter.get(33) ?? []), 'UNKNOWN 0–300', 'who is not assigned says nothing');
  t.same(evidenceAt({ assignments }, [], 0).missing, [2, 9, 10]);
  t.same(evidenceAt({ assignments }, [result(10, 0, 'ok'), result(9, 0, 'ok'), result(2, 0, 'ok')], 0).voters, [
    vote(2, 'UP', 0),
    vote(9, 'UP', 0),
    vote(10, 'UP', 0),
  ]);
});

t.test('ranges are what segments are stored as; each goes on with its neighbour of the same status', async (t) => {
  const evidence = { rule: 'answered', quorum: 2, voters: [], missing: [] } as const;
  const list = (...pieces: readonly (readonly [number, number, Status])[]): Segment[] =>
    pieces.map(([fromS, toS, status]) => ({ fromUs: at(fromS), toUs: at(toS), status, evidence }));
  const stored = (...pieces: readonly (readonly [number, number, Status])[]): string => told(ranges(list(...pieces)));
  t.equal(stored([0, 10, 'UNKNOWN'], [10, 20, 'UP'], [20, 30, 'UNKNOWN'], [30, 40, 'UP']), 'UP 10–20, UP 30–40');
  t.equal(
    stored([0, 10, 'UP'], [10, 20, 'PARTIAL'], [20, 30, 'WARNING'], [30, 40, 'DEGRADED'], [40, 50, 'DOWN']),
    'UP 0–10, DEGRADED 10–40, DOWN 40–50',
  );
  t.equal(stored([0, 10, 'TIMEOUT'], [10, 20, 'DOWN']), 'TIMEOUT 0–10, DOWN 10–20');
  t.same(ranges(list([0, 10, 'UP'])), [{ fromUs: at(0), toUs: at(10), status: 'UP', evidence }]);
});

t.test(
  'the rules that hold are the last that began; before the first, the first; without any, the standard',
  async (t) => {
    const first = { fromUs: at(100), probeRevision: 1, confirmations: 1, policy: 'any' } as const;
    const second = { fromUs: at(200), probeRevision: 1, confirmations: 1, policy: 'all' } as const;
    const quorumAt = (inputs: Partial<MonitorInputs>, second: number): number => evidenceAt(inputs, [], second).quorum;
    for (const configurations of [
      [first, second],
      [second, first],
    ]) {
      t.same(
        [0, 99, 100, 199, 200, 250].map((at) => quorumAt({ configurations }, at)),
        [1, 1, 1, 1, 3, 3],
      );
    }
    const same = { configurations: [first, { ...first, policy: 'all' } as const] };
    t.same([quorumAt(same, 0), quorumAt(same, 100)], [3, 3], 'of several at one instant the last listed holds');
    const none = { ...single, configurations: [] };
    const failures = (...at: readonly number[]): StoredResult[] =>
      at.map((s) => result(1, s, 'fail', { probeRevision: 0 }));
    t.equal(segmentsOf(none, failures(0)), 'UNKNOWN 0–300');
    t.equal(segmentsOf(none, failures(0, 60)), 'DOWN 0–220, UNKNOWN 220–300');
    t.equal(quorumAt({ configurations: [] }, 0), 2);
  },
);

t.test('the quorum comes from the seats, by the policy', async (t) => {
  const regions = ['eu', 'us', 'ap', 'sa', 'af'];
  const quorum = (policy: Policy, count: number): number =>
    evidenceAt({ ...rules(2, policy), assignments: [seat(9, 'eu', true), ...seats(...regions.slice(0, count))] }, [], 0)
      .quorum;
  const quorums = (policy: Policy): number[] => [0, 1, 2, 3, 4, 5].map((count) => quorum(policy, count));
  t.same(quorums('majority'), [1, 1, 2, 2, 3, 3]);
  t.same(quorums('any'), [1, 1, 1, 1, 1, 1]);
  t.same(quorums('all'), [1, 1, 2, 3, 4, 5]);
  t.same(quorums(2), [1, 1, 2, 2, 2, 2]);
  t.same(quorums(2.9), [1, 1, 2, 2, 2, 2]);
  t.same(quorums(0), [1, 1, 1, 1, 1, 1]);
  t.same(quorums(9), [1, 1, 2, 3, 4, 5]);
  const ended = [...seats('eu'), seat(7, 'us', false, at(5)), { ...seat(8, 'us'), fromUs: at(6) }];
  t.same(evidenceAt({ assignments: ended }, [], 5), { rule: 'no_votes', quorum: 1, voters: [], missing: [1] });
});

t.test('a quorum lies in two regions where the seats do, and in no more', async (t) => {
  const failing = (assignments: readonly Assignment[], ...voters: readonly number[]): Status =>
    saidAt(
      { ...rules(1), assignments },
      voters.map((voter) => result(voter, 0, 'fail')),
      0,
    ).status;
  const four = seats('eu', 'eu', 'us', 'ap');
  t.equal(failing(four, 1, 2, 3), 'DOWN');
  const half = seats('eu', 'eu', 'us');
  t.equal(failing(half, 1, 2), 'PARTIAL');
  t.equal(failing([...half, seat(4, 'eu', true)], 1, 4), 'PARTIAL', 'a supplement is of its own region');
  t.equal(failing([...half, seat(4, 'us', true)], 1, 4), 'DOWN');
  t.equal(failing([...half, seat(4, 'eu', true), seat(4, 'us', true)], 1, 4), 'PARTIAL', 'the first that is listed');
  t.equal(failing([seat(1, 'us', true), ...half], 1, 2), 'PARTIAL', 'a seat tells its region before a supplement');
  t.equal(failing(half, 0, 1), 'DOWN', 'the control plane is of the region "central"');
  t.equal(failing(seats('central', 'us'), 0, 1), 'PARTIAL', 'also where a probe is');
});

t.test(
  'beside a single probe the fallback counts while the probe has no vote; beside two it always does',
  async (t) => {
    const rows = [result(1, 0, 'ok', { freshS: 100 }), result(0, 0, 'slow'), result(2, 0, 'ok')];
    t.same(evidenceAt(single, rows, 50), { rule: 'answered', quorum: 1, voters: [vote(1, 'UP', 0)], missing: [] });
    t.same(evidenceAt(single, rows, 100), {
      rule: 'half_slow',
      quorum: 1,
      voters: [vote(0, 'DEGRADED', 0)],
      missing: [1],
    });
    const two = { assignments: seats('eu', 'us') };
    t.same(evidenceAt(two, rows, 50).voters, [vote(0, 'DEGRADED', 0), vote(1, 'UP', 0), vote(2, 'UP', 0)]);
    const supplemented = { assignments: [...seats('eu'), seat(2, 'us', true)] };
    t.same(evidenceAt(supplemented, rows, 100).voters, [vote(2, 'UP', 0)], 'a supplement is another vote too');
    t.same(evidenceAt({ assignments: [] }, [], 0), { rule: 'no_votes', quorum: 1, voters: [], missing: [0] });
    t.same(evidenceAt({ assignments: [] }, rows, 0).missing, []);
  },
);

t.test('of several rows at one instant one counts: by revision, outcome, freshness and error', async (t) => {
  const inputs = { ...single, ...rules(1) };
  const outcomes = ['ok', 'slow', 'warn', 'fail', 'timeout', 'probe_error'] as const;
  const counting: readonly Partial<StoredResult>[][] = [
    outcomes.map((outcome, index) => ({ outcome, freshS: 90 - index, error: 90 - index })),
    [
      { probeRevision: 1, outcome: 'fail', freshS: 90, error: 9 },
      { probeRevision: 2, freshS: 20 },
    ],
    [
      { freshS: 10, error: 9 },
      { freshS: 20, error: 5 },
      { freshS: 30, error: 7 },
    ],
    [{ error: 1 }, { error: 2 }, { error: 3 }],
  ];
  for (const list of counting) {
    const twins = list.map((changes) => result(1, 5, 'ok', changes));
    for (const [index, greater] of twins.entries()) {
      const alone = whole(inputs, [greater]);
      for (const lesser of twins.slice(0, index)) {
        t.same(whole(inputs, [lesser, greater]), alone);
        t.same(whole(inputs, [greater, lesser]), alone);
      }
    }
  }
  const twice = [result(1, 5, 'fail', { error: 1 }), result(1, 5, 'fail', { error: 2 })];
  t.equal(segmentsOf(single, twice), 'UNKNOWN 0–300', 'two failures of one instant confirm nothing');
  t.equal(segmentsOf(single, [...twice, ...twice]), 'UNKNOWN 0–300');
});

t.test('a streak goes on from its last failure, and ends with an answer', async (t) => {
  const inputs = { ...single, ...rules(3) };
  const failures = [0, 40, 80].map((s) => result(1, s, 'fail', { freshS: 50 }));
  t.equal(segmentsOf(inputs, failures), 'DOWN 0–130, UNKNOWN 130–300');
  const rows = [result(1, 0, 'fail'), result(1, 40, 'ok'), result(1, 80, 'fail')];
  t.equal(segmentsOf(single, rows), 'UNKNOWN 0–40, UP 40–240, UNKNOWN 240–300');
});

t.test('49 h late is in time, a microsecond more is not', async (t) => {
  const row = (lateUs: number): StoredResult => result(1, 0, 'ok', { receivedUs: originUs + lateUs });
  const lateUs = 49 * 3_600_000_000;
  t.equal(segmentsOf(single, [row(lateUs)]), 'UP 0–160, UNKNOWN 160–300');
  t.equal(segmentsOf(single, [row(lateUs + 1)]), 'UNKNOWN 0–300');
});
