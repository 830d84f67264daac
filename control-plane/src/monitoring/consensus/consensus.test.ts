import t from 'tap';
import { ranges, timeline } from './batch.ts';
import { at, Ingester, inputsOf, result, seats, three, told } from './test-support.ts';
import type { Assignment, MonitorInputs, Policy, StoredResult } from './types.ts';

/*
 * The rules by example. Seconds count from the origin; results are fresh for 160 s unless an example says otherwise; three probes in three
 * regions, two confirmations and the majority policy unless it says otherwise.
 */

type Example = {
  readonly says: string;
  readonly inputs?: Partial<MonitorInputs>;
  readonly results: readonly StoredResult[];
  /** The timeline from 0 on. */
  readonly told: string;
};

const one: Partial<MonitorInputs> = { assignments: seats('eu') };

function configuration(confirmations: number, policy: Policy = 'majority'): Pick<MonitorInputs, 'configurations'> {
  return { configurations: [{ fromUs: at(0), probeRevision: 1, confirmations, policy }] };
}

const row = (voter: number, region: string, fromS: number, toS: number | null, supplement = false): Assignment => ({
  voter,
  region,
  fromUs: at(fromS),
  toUs: toS === null ? null : at(toS),
  supplement,
});

/** A seat that counts from its voter's first vote, at the latest from a second on. */
const joiner = (seat: Assignment, byS: number): Assignment => ({ ...seat, countsByUs: at(byS) });

const examples: Record<string, readonly Example[]> = {
  'rule 4: a seat that joins others': [
    {
      says: 'a probe that joins while an outage lasts does not split it',
      inputs: { assignments: [row(1, 'eu', 0, null), joiner(row(2, 'us', 20, null), 90)] },
      results: [0, 5, 60].map((s) => result(1, s, 'fail')).concat([22, 27, 82].map((s) => result(2, s, 'fail'))),
      told: 'DOWN 0–220, DEGRADED 220–242, UNKNOWN 242–300',
    },
    {
      says: 'nor do two, of which one raises the quorum',
      inputs: {
        assignments: [...seats('eu', 'us'), joiner(row(3, 'ap', 20, null), 90), joiner(row(4, 'sa', 20, null), 90)],
      },
      results: [1, 2, 3, 4].flatMap((voter) =>
        [0, 5, 60, 120, 180, 240].filter((s) => voter < 3 || s > 5).map((s) => result(voter, s + voter, 'fail')),
      ),
      told: 'UNKNOWN 0–1, DEGRADED 1–2, DOWN 2–300',
    },
    {
      says: 'where it answers, the probes differ from then on',
      inputs: { assignments: [row(1, 'eu', 0, null), joiner(row(2, 'us', 20, null), 90)] },
      results: [0, 5, 60, 120, 180, 240]
        .map((s) => result(1, s, 'fail'))
        .concat(result(2, 22, 'ok'), result(2, 180, 'ok')),
      told: 'DOWN 0–22, DEGRADED 22–300',
    },
    {
      says: 'one that never votes counts after its time',
      inputs: { assignments: [row(1, 'eu', 0, null), joiner(row(2, 'us', 20, null), 90)] },
      results: [0, 5, 60, 120, 180, 240].map((s) => result(1, s, 'fail')),
      told: 'DOWN 0–90, DEGRADED 90–300',
    },
    {
      says: 'its own error is no vote',
      inputs: { assignments: [row(1, 'eu', 0, null), joiner(row(2, 'us', 20, null), 90)] },
      results: [0, 5, 60, 120, 180, 240].map((s) => result(1, s, 'fail')).concat(result(2, 22, 'probe_error')),
      told: 'DOWN 0–90, DEGRADED 90–300',
    },
    {
      says: 'a seat that goes from one probe to another leaves N as it is, so nobody makes DOWN alone',
      inputs: {
        assignments: [row(1, 'eu', 0, null), row(2, 'us', 0, 100), joiner(row(3, 'us', 100, null), 200)],
      },
      results: [0, 60, 120, 180, 240].map((s) => result(1, s, s < 60 ? 'ok' : 'fail')).concat(result(2, 1, 'ok')),
      told: 'UP 0–60, DEGRADED 60–300',
    },
    {
      says: 'when a seat closes, those that had not joined yet count',
      inputs: {
        assignments: [...seats('eu'), row(2, 'us', 0, 100), joiner(row(3, 'ap', 90, null), 250)],
      },
      results: [0, 60, 120, 180, 240].map((s) => result(1, s, s < 60 ? 'ok' : 'fail')).concat(result(2, 1, 'ok')),
      told: 'UP 0–60, DEGRADED 60–300',
    },
    {
      says: 'seats that open where none is open count at once',
      inputs: { assignments: [joiner(row(1, 'eu', 0, null), 90), joiner(row(2, 'us', 0, null), 90)] },
      results: [result(1, 1, 'fail'), result(1, 6, 'fail'), result(2, 10, 'ok')],
      told: 'UNKNOWN 0–1, DEGRADED 1–166, UP 166–170, UNKNOWN 170–300',
    },
  ],
  'rule 1: what votes': [
    {
      says: 'manual and skipped results are neutral',
      inputs: one,
      results: [
        result(1, 0, 'ok'),
        result(1, 60, 'fail', { kind: 'manual' }),
        result(1, 70, 'skipped'),
        result(1, 80, 'fail', { kind: 'manual' }),
      ],
      told: 'UP 0–160, UNKNOWN 160–300',
    },
    {
      says: 'a recheck votes like a scheduled check',
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 65, 'fail', { kind: 'recheck' })],
      told: 'UP 0–60, DOWN 60–225, UNKNOWN 225–300',
    },
    {
      says: "the probe's own error ends its vote",
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 60, 'probe_error')],
      told: 'UP 0–60, UNKNOWN 60–300',
    },
    {
      says: "the probe's own error is not part of a streak and does not break it",
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 90, 'probe_error'), result(1, 120, 'fail')],
      told: 'UP 0–60, DOWN 60–90, UNKNOWN 90–120, DOWN 120–280, UNKNOWN 280–300',
    },
    {
      says: 'central votes for a probe that has no vote, and no longer once it has one',
      inputs: one,
      results: [result(0, 0, 'ok'), result(1, 60, 'slow'), result(0, 70, 'ok')],
      told: 'UP 0–60, DEGRADED 60–220, UP 220–230, UNKNOWN 230–300',
    },
    {
      says: 'a monitor without a probe is decided by central alone',
      inputs: { assignments: [] },
      results: [result(0, 0, 'ok'), result(0, 60, 'fail'), result(0, 120, 'fail')],
      told: 'UP 0–60, DOWN 60–280, UNKNOWN 280–300',
    },
  ],
  'rule 2: how long a vote lasts': [
    {
      says: 'nothing is known after the freshness of the last result, which the result itself carries',
      inputs: one,
      results: [result(1, 10, 'ok', { freshS: 35 })],
      told: 'UNKNOWN 0–10, UP 10–45, UNKNOWN 45–300',
    },
    {
      says: 'the next result ends the vote even when it is fresh for less',
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 50, 'ok', { freshS: 20 })],
      told: 'UP 0–70, UNKNOWN 70–300',
    },
  ],
  'rule 3: streaks': [
    {
      says: 'a single failure is transient and carries the previous vote',
      inputs: one,
      results: [result(1, 0, 'slow'), result(1, 60, 'fail'), result(1, 120, 'ok')],
      told: 'DEGRADED 0–120, UP 120–280, UNKNOWN 280–300',
    },
    {
      says: "a carried vote lasts as long as the failure's own freshness",
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 60, 'fail', { freshS: 30 })],
      told: 'UP 0–90, UNKNOWN 90–300',
    },
    {
      says: 'a first failure without a vote to carry says nothing',
      inputs: one,
      results: [result(1, 20, 'fail')],
      told: 'UNKNOWN 0–300',
    },
    {
      says: 'a vote that has ended is not carried',
      inputs: one,
      results: [result(1, 0, 'ok', { freshS: 30 }), result(1, 31, 'fail')],
      told: 'UP 0–30, UNKNOWN 30–300',
    },
    {
      says: 'a vote is carried over a gap of exactly its freshness',
      inputs: one,
      results: [result(1, 0, 'ok', { freshS: 30 }), result(1, 30, 'fail', { freshS: 20 })],
      told: 'UP 0–50, UNKNOWN 50–300',
    },
    {
      says: 'a confirmed failure is dated back to the first of its streak',
      inputs: { ...one, ...configuration(3) },
      results: [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 120, 'fail'), result(1, 180, 'fail')],
      told: 'UP 0–60, DOWN 60–300',
    },
    {
      says: 'with one confirmation the first failure counts',
      inputs: { ...one, ...configuration(1) },
      results: [result(1, 0, 'ok'), result(1, 60, 'fail')],
      told: 'UP 0–60, DOWN 60–220, UNKNOWN 220–300',
    },
    {
      says: 'failures further apart than their freshness are no streak',
      inputs: one,
      results: [
        result(1, 0, 'fail', { freshS: 50 }),
        result(1, 51, 'fail', { freshS: 50 }),
        result(1, 102, 'fail', { freshS: 50 }),
      ],
      told: 'UNKNOWN 0–300',
    },
    {
      says: 'failures exactly their freshness apart are one streak',
      inputs: one,
      results: [result(1, 0, 'fail', { freshS: 50 }), result(1, 50, 'fail', { freshS: 50 })],
      told: 'DOWN 0–100, UNKNOWN 100–300',
    },
    {
      says: 'timeouts vote TIMEOUT until the first fail, DOWN from it on, also through later timeouts',
      inputs: one,
      results: [result(1, 0, 'timeout'), result(1, 60, 'timeout'), result(1, 120, 'fail'), result(1, 180, 'timeout')],
      told: 'TIMEOUT 0–120, DOWN 120–300',
    },
    {
      says: 'a timeout and a fail confirm each other',
      inputs: one,
      results: [result(1, 0, 'timeout'), result(1, 60, 'fail')],
      told: 'TIMEOUT 0–60, DOWN 60–220, UNKNOWN 220–300',
    },
    {
      says: 'a streak is confirmed by the confirmations in force at one of its results',
      inputs: {
        ...one,
        configurations: [
          { fromUs: at(0), probeRevision: 1, confirmations: 4, policy: 'majority' },
          { fromUs: at(150), probeRevision: 1, confirmations: 2, policy: 'majority' },
        ],
      },
      results: [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 120, 'fail'), result(1, 180, 'fail')],
      told: 'UP 0–60, DOWN 60–300',
    },
    {
      says: 'what is confirmed stays so when more confirmations are asked for later',
      inputs: {
        ...one,
        configurations: [
          { fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'majority' },
          { fromUs: at(130), probeRevision: 1, confirmations: 5, policy: 'majority' },
        ],
      },
      results: [result(1, 0, 'ok'), result(1, 60, 'timeout'), result(1, 120, 'timeout'), result(1, 180, 'fail')],
      told: 'UP 0–60, TIMEOUT 60–180, DOWN 180–300',
    },
  ],
  'rule 4: the quorum': [
    {
      says: 'one of three failing is PARTIAL, two are DOWN from the second one’s first failure',
      results: [
        ...three(0, 'ok'),
        result(1, 60, 'fail'),
        result(2, 70, 'fail'),
        result(3, 80, 'ok'),
        result(1, 90, 'fail'),
        result(2, 100, 'fail'),
        result(3, 200, 'ok'),
      ],
      told: 'UP 0–60, DEGRADED 60–70, DOWN 70–250, DEGRADED 250–260, UP 260–300',
    },
    {
      says: 'the quorum does not shrink when probes fall silent',
      results: [...three(0, 'ok', { freshS: 100 }), result(1, 60, 'fail'), result(1, 120, 'fail')],
      told: 'UP 0–60, DEGRADED 60–280, UNKNOWN 280–300',
    },
    {
      says: 'failing probes of one region are no quorum when the seats lie in two',
      inputs: { assignments: seats('eu', 'eu', 'us') },
      results: [
        result(1, 0, 'fail'),
        result(2, 0, 'fail'),
        result(1, 60, 'fail'),
        result(2, 60, 'fail'),
        result(3, 0, 'ok'),
      ],
      told: 'DEGRADED 0–220, UNKNOWN 220–300',
    },
    {
      says: 'one region is enough when all seats lie in it',
      inputs: { assignments: seats('eu', 'eu', 'eu') },
      results: [
        result(1, 0, 'fail'),
        result(2, 0, 'fail'),
        result(1, 60, 'fail'),
        result(2, 60, 'fail'),
        result(3, 0, 'ok'),
      ],
      told: 'DOWN 0–220, UNKNOWN 220–300',
    },
    {
      says: 'two probes must both fail',
      inputs: { assignments: seats('eu', 'us') },
      results: [
        result(1, 0, 'fail'),
        result(2, 0, 'ok'),
        result(1, 60, 'fail'),
        result(2, 150, 'fail'),
        result(2, 170, 'fail'),
      ],
      told: 'DEGRADED 0–150, DOWN 150–220, DEGRADED 220–300',
    },
    {
      says: 'four probes, two up and two down, are PARTIAL and stay so',
      inputs: { assignments: seats('eu', 'us', 'ap', 'sa') },
      results: [0, 60, 120, 180].flatMap((s) => [
        result(1, s, 'ok'),
        result(2, s + 1, 'ok'),
        result(3, s + 2, 'fail'),
        result(4, s + 3, 'fail'),
      ]),
      told: 'UP 0–2, DEGRADED 2–300',
    },
    {
      says: 'policy any: one is enough',
      inputs: configuration(2, 'any'),
      results: [...three(0, 'ok'), result(1, 60, 'fail'), result(1, 90, 'fail')],
      told: 'UP 0–60, DOWN 60–250, UNKNOWN 250–300',
    },
    {
      says: 'policy all: two of three are not',
      inputs: configuration(1, 'all'),
      results: [result(1, 0, 'fail'), result(2, 0, 'fail'), result(3, 0, 'ok'), result(3, 100, 'fail')],
      told: 'DEGRADED 0–100, DOWN 100–160, DEGRADED 160–260, UNKNOWN 260–300',
    },
    {
      says: 'a number above the seats is clamped to them',
      inputs: configuration(1, 9),
      results: three(0, 'fail'),
      told: 'DOWN 0–160, UNKNOWN 160–300',
    },
    {
      says: 'a supplement votes, and the quorum still comes from the seats',
      inputs: { assignments: [...seats('eu', 'us', 'ap'), row(4, 'sa', 0, null, true)], ...configuration(1) },
      results: [result(1, 0, 'fail'), result(4, 10, 'fail'), result(2, 20, 'ok')],
      told: 'DEGRADED 0–10, DOWN 10–160, DEGRADED 160–170, UP 170–180, UNKNOWN 180–300',
    },
    {
      says: 'an assignment that ended votes no more, from its end on; the next one starts anew',
      inputs: { assignments: [row(1, 'eu', 0, 40), row(1, 'eu', 60, null)] },
      results: [result(1, 0, 'ok'), result(1, 40, 'ok'), result(1, 60, 'fail'), result(1, 70, 'ok')],
      told: 'UP 0–40, UNKNOWN 40–70, UP 70–230, UNKNOWN 230–300',
    },
    {
      says: 'a supplement that gets the seat votes on',
      inputs: { assignments: [row(1, 'eu', 0, 40, true), row(1, 'eu', 40, null)] },
      results: [result(1, 0, 'ok')],
      told: 'UP 0–160, UNKNOWN 160–300',
    },
  ],
  'rule 5: the status': [
    {
      says: 'TIMEOUT when more than half of those that fail timed out, else DOWN',
      inputs: configuration(1),
      results: [result(1, 0, 'timeout'), result(2, 0, 'timeout'), result(3, 10, 'fail'), result(1, 20, 'fail')],
      told: 'TIMEOUT 0–20, DOWN 20–170, DEGRADED 170–180, UNKNOWN 180–300',
    },
    {
      says: 'half timeouts are DOWN',
      inputs: configuration(1),
      results: [result(1, 0, 'timeout'), result(2, 0, 'fail')],
      told: 'DOWN 0–160, UNKNOWN 160–300',
    },
    {
      says: 'one of two slow is DEGRADED, one of three is not',
      results: [result(1, 0, 'slow'), result(2, 0, 'ok'), result(3, 50, 'ok')],
      told: 'DEGRADED 0–50, UP 50–210, UNKNOWN 210–300',
    },
    {
      says: 'one answer proves that the target answers',
      results: [result(2, 0, 'ok')],
      told: 'UP 0–160, UNKNOWN 160–300',
    },
    {
      says: 'a voter in quarantine is as an absent one, for that time',
      inputs: { ...configuration(1), quarantines: [{ voter: 1, fromUs: at(50), toUs: at(100) }] },
      results: [result(1, 0, 'fail'), result(2, 0, 'ok'), result(2, 60, 'ok')],
      told: 'DEGRADED 0–50, UP 50–100, DEGRADED 100–160, UP 160–220, UNKNOWN 220–300',
    },
  ],
  'rule 11: late results': [
    {
      says: 'a result received more than 49 h late counts nowhere',
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 60, 'probe_error', { receivedUs: at(60 + 49 * 3600 + 1) })],
      told: 'UP 0–160, UNKNOWN 160–300',
    },
    {
      says: 'one received exactly 49 h late counts',
      inputs: one,
      results: [result(1, 0, 'ok'), result(1, 60, 'probe_error', { receivedUs: at(60 + 49 * 3600) })],
      told: 'UP 0–60, UNKNOWN 60–300',
    },
  ],
  'rule 15: pauses, resets and revisions': [
    {
      says: 'a pause ends votes, voids what is inside it, and a resumed monitor starts UNKNOWN',
      inputs: { ...one, pauses: [{ fromUs: at(50), toUs: at(100) }] },
      results: [result(1, 0, 'ok'), result(1, 50, 'ok'), result(1, 70, 'fail'), result(1, 110, 'ok')],
      told: 'UP 0–50, UNKNOWN 50–110, UP 110–270, UNKNOWN 270–300',
    },
    {
      says: 'a result at the very end of a pause counts',
      inputs: { ...one, pauses: [{ fromUs: at(50), toUs: at(100) }] },
      results: [result(1, 100, 'ok')],
      told: 'UNKNOWN 0–100, UP 100–260, UNKNOWN 260–300',
    },
    {
      says: 'a streak does not cross a pause, nor is a vote carried across',
      inputs: { ...one, pauses: [{ fromUs: at(70), toUs: at(80) }] },
      results: [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 90, 'fail')],
      told: 'UP 0–70, UNKNOWN 70–300',
    },
    {
      says: 'after a reset what is older is ignored, also for a streak',
      inputs: { ...one, resetUs: at(70) },
      results: [result(1, 0, 'ok'), result(1, 60, 'fail'), result(1, 90, 'fail'), result(1, 120, 'fail')],
      told: 'UNKNOWN 0–90, DOWN 90–280, UNKNOWN 280–300',
    },
    {
      says: 'a new probe revision starts anew: older votes end, older results do not vote, streaks do not cross',
      inputs: {
        ...one,
        configurations: [
          { fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'majority' },
          { fromUs: at(80), probeRevision: 2, confirmations: 2, policy: 'majority' },
        ],
      },
      results: [
        result(1, 0, 'ok'),
        result(1, 60, 'fail'),
        result(1, 90, 'ok', { probeRevision: 1 }),
        result(1, 100, 'fail', { probeRevision: 2 }),
        result(1, 160, 'fail', { probeRevision: 2 }),
      ],
      told: 'UP 0–80, UNKNOWN 80–100, DOWN 100–300',
    },
    {
      says: 'a change that leaves the revision ends no vote',
      inputs: {
        ...one,
        configurations: [
          { fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'majority' },
          { fromUs: at(80), probeRevision: 1, confirmations: 3, policy: 'all' },
        ],
      },
      results: [result(1, 0, 'ok')],
      told: 'UP 0–160, UNKNOWN 160–300',
    },
  ],
};

/** PARTIAL and WARNING are told apart here by their own tests; in the tables they are what is stored. */
function storedForm(inputs: MonitorInputs, results: readonly StoredResult[], untilS: number): string {
  return withGaps(ranges(timeline(inputs, results, at(0), at(untilS)).segments), untilS);
}

function withGaps(runs: readonly { fromUs: number; toUs: number; status: string }[], untilS: number): string {
  const whole: { fromUs: number; toUs: number; status: string }[] = [];
  let fromUs = at(0);
  for (const run of runs) {
    if (run.fromUs > fromUs) whole.push({ fromUs, toUs: run.fromUs, status: 'UNKNOWN' });
    whole.push(run);
    fromUs = run.toUs;
  }
  if (fromUs < at(untilS)) whole.push({ fromUs, toUs: at(untilS), status: 'UNKNOWN' });
  return told(whole);
}

function incrementalForm(inputs: MonitorInputs, results: readonly StoredResult[], untilS: number): string {
  const ingester = new Ingester(inputs, at(0));
  for (const row of [...results].sort((a, b) => a.eUs - b.eUs)) {
    ingester.advance(row.eUs);
    ingester.apply([row]);
    ingester.take();
  }
  ingester.advance(at(untilS));
  ingester.take();
  return withGaps(
    ingester.ranges.of(null).map((range) => ({
      fromUs: range.startedUs,
      toUs: range.endedUs ?? at(untilS),
      status: range.status,
    })),
    untilS,
  );
}

for (const [rule, list] of Object.entries(examples)) {
  void t.test(rule, async (t) => {
    for (const example of list) {
      const inputs = inputsOf(example.inputs);
      t.equal(storedForm(inputs, example.results, 300), example.told, example.says);
      t.equal(incrementalForm(inputs, example.results, 300), example.told, `${example.says} (result by result)`);
    }
  });
}

void t.test('PARTIAL and WARNING are statuses of their own and DEGRADED in what is stored', async (t) => {
  const inputs = inputsOf(configuration(1));
  const results = [
    result(1, 0, 'warn'),
    result(2, 0, 'ok'),
    result(3, 0, 'ok'),
    result(1, 50, 'fail'),
    result(1, 60, 'slow'),
  ];
  const { segments } = timeline(inputs, results, at(0), at(100));
  t.equal(told(segments), 'WARNING 0–50, PARTIAL 50–60, UP 60–100');
  t.equal(told(ranges(segments)), 'DEGRADED 0–60, UP 60–100');
});

void t.test('each voter has its own timeline, whatever the others say', async (t) => {
  const results = [...three(0, 'ok'), result(2, 60, 'fail'), result(2, 70, 'fail'), result(3, 60, 'probe_error')];
  const { perVoter } = timeline(inputsOf(), results, at(0), at(100));
  t.equal(told(perVoter.get(1) ?? []), 'UP 0–100');
  t.equal(told(perVoter.get(2) ?? []), 'UP 0–60, DOWN 60–100');
  t.equal(told(perVoter.get(3) ?? []), 'UP 0–60, UNKNOWN 60–100');
});

void t.test('a range says which rule applied, who voted what since when, and who was missing', async (t) => {
  const results = [
    ...three(0, 'ok'),
    result(2, 60, 'timeout', { error: 21 }),
    result(2, 90, 'fail', { error: 20 }),
    result(3, 70, 'probe_error'),
  ];
  const { segments } = timeline(inputsOf(), results, at(0), at(100));
  t.equal(told(segments), 'UP 0–60, PARTIAL 60–100');
  t.same(segments[1]?.evidence, {
    rule: 'some_failing',
    quorum: 2,
    voters: [
      { voter: 1, vote: 'UP', sinceUs: at(0), error: 0 },
      { voter: 2, vote: 'TIMEOUT', sinceUs: at(60), error: 21 },
      { voter: 3, vote: 'UP', sinceUs: at(0), error: 0 },
    ],
    missing: [],
  });
});

void t.test('evidence says when a quorum is out of reach', async (t) => {
  const inputs = inputsOf(configuration(1));
  const { segments } = timeline(inputs, [result(2, 10, 'fail', { error: 20 })], at(0), at(100));
  t.same(segments.at(-1)?.evidence, {
    rule: 'some_failing',
    quorum: 2,
    voters: [{ voter: 2, vote: 'DOWN', sinceUs: at(10), error: 20 }],
    missing: [1, 3],
    quorum_out_of_reach: true,
  });
});

void t.test('of two rows of one voter and instant the same one counts in any order', async (t) => {
  const inputs = inputsOf({ ...one, ...configuration(1) });
  const rows = [result(1, 0, 'ok'), result(1, 0, 'fail'), result(1, 0, 'fail', { error: 20 })];
  const orders = [rows, [...rows].reverse(), [rows[1], rows[2], rows[0]].flatMap((row) => row ?? [])];
  for (const order of orders) t.equal(told(timeline(inputs, order, at(0), at(100)).segments), 'DOWN 0–100');
});

void t.test('an empty window has no segment', async (t) => {
  t.same(timeline(inputsOf(), three(0, 'ok'), at(50), at(50)).segments, []);
});
