import { errorCodes, freshSeconds } from '@parallax/checks';
import type { Outcome } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { MonitorInputs } from '../../consensus/index.ts';
import { judgedBy } from './proposal.ts';
import type { Proposal, TimedResult } from './proposal.ts';
import { comparisonOf, outagesOf, outcomeOf } from './report.ts';
import { Simulation } from './simulation.ts';
import type { Played, SimulationOptions } from './simulation.ts';
import { Thinning } from './thinning.ts';

const originUs = 1_700_000_000_000_000;
const at = (seconds: number): number => originUs + Math.round(seconds * 1e6);
const secondsOf = (us: number | null): number | null => (us === null ? null : (us - originUs) / 1e6);

const inputs: MonitorInputs = {
  monitorId: 1,
  assignments: ['eu', 'us', 'ap'].map((region, index) => ({
    voter: index + 1,
    region,
    fromUs: originUs,
    toUs: null,
    supplement: false,
  })),
  configurations: [{ fromUs: originUs, probeRevision: 1, confirmations: 2, policy: 'majority', intervalS: 60 }],
  pauses: [],
  quarantines: [],
  resetUs: null,
  createdUs: originUs,
};
const cadences = [{ fromUs: originUs, intervalS: 60, timeoutS: 10 }];

function result(voter: number, seconds: number, outcome: Outcome, more: Partial<TimedResult> = {}): TimedResult {
  return {
    eUs: at(seconds),
    voter,
    kind: 'scheduled',
    outcome,
    error: outcome === 'fail' ? 20 : 0,
    freshS: 160,
    probeRevision: 1,
    receivedUs: at(seconds) + 300_000,
    totalUs: 100_000,
    ...more,
  };
}

/** Results of three probes every minute, 20 s apart; `judge` says how each ended. */
function minutes(count: number, judge: (voter: number, minute: number) => Outcome): TimedResult[] {
  return Array.from({ length: count }, (_, minute) =>
    [1, 2, 3].map((voter) => result(voter, minute * 60 + voter * 20 - 19, judge(voter, minute))),
  ).flat();
}

function simulated(rows: readonly TimedResult[], proposal: Proposal, more: Partial<SimulationOptions> = {}) {
  const lastS = Math.max(...rows.map((row) => secondsOf(row.eUs) ?? 0));
  const simulation = new Simulation({
    inputs,
    cadences,
    proposal,
    fromUs: originUs,
    untilUs: at(lastS + 1),
    playFromUs: originUs,
    before: [],
    votesBefore: new Map(),
    lingerUs: 250_000,
    ...more,
  });
  for (const _ of simulation.add(rows, at(lastS + 60)));
  for (const _ of simulation.finish());
  return simulation.outcome();
}

const shown = ({ ranges }: Played) =>
  ranges.map(({ status, startedUs, endedUs }) => [status, secondsOf(startedUs), secondsOf(endedUs)]);
const told = (played: Played) => played.told.map(({ toldUs, from, to }) => `${secondsOf(toldUs)} ${from} ${to}`);

void t.test('with nothing proposed both sides are one and the same', async (t) => {
  const rows = minutes(20, (_, minute) => (minute >= 8 && minute < 12 ? 'fail' : 'ok'));
  const { present, proposed } = simulated(rows, {});
  t.same(proposed, present);
  t.ok(present.told.length > 2);
});

void t.test('proposing what holds already changes nothing', async () => {
  const outcome = fc.constantFrom<Outcome>(
    'ok',
    'ok',
    'ok',
    'fail',
    'fail',
    'timeout',
    'slow',
    'warn',
    'skipped',
    'probe_error',
  );
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 30, maxLength: 60 }), (outcomes) => {
      const rows = minutes(outcomes.length / 3, (voter, minute) => outcomes[minute * 3 + voter - 1] ?? 'ok');
      const { present, proposed } = simulated(rows, {
        policy: 'majority',
        confirmations: 2,
        intervalS: 60,
        probeIds: [1, 2, 3],
      });
      if (JSON.stringify(present) !== JSON.stringify(proposed)) throw new Error('they differ');
    }),
    { numRuns: 200 },
  );
});

void t.test('more confirmations avoid the alarm of a short failure, fewer find it sooner', async (t) => {
  const rows = minutes(20, (_, minute) => (minute === 8 || minute === 9 ? 'fail' : 'ok'));
  const { present, proposed } = simulated(rows, { confirmations: 3 });
  t.match(outagesOf(present, { fromUs: originUs, untilUs: at(1_200), pauses: [] }), [
    { status: 'DOWN', startedUs: at(501) },
  ]);
  t.same(outagesOf(proposed, { fromUs: originUs, untilUs: at(1_200), pauses: [] }), []);
  const sooner = simulated(rows, { confirmations: 1 }).proposed;
  const first = (played: Played) => played.told.find(({ to }) => to === 'DOWN')?.toldUs ?? 0;
  t.ok(first(sooner) < first(present), `${secondsOf(first(sooner))} before ${secondsOf(first(present))}`);
});

void t.test('another policy decides by its own quorum, over the whole time', async (t) => {
  const rows = minutes(20, (voter, minute) => (voter === 1 && minute >= 8 && minute < 12 ? 'fail' : 'ok'));
  t.notOk(simulated(rows, {}).present.ranges.some(({ status }) => status === 'DOWN'));
  t.ok(simulated(rows, { policy: 'any' }).proposed.ranges.some(({ status }) => status === 'DOWN'));
  t.ok(simulated(rows, { probeIds: [1] }).proposed.ranges.some(({ status }) => status === 'DOWN'));
  t.notOk(simulated(rows, { probeIds: [2, 3] }).proposed.ranges.some(({ status }) => status !== 'UP'));
  t.equal(simulated(rows, { probeIds: [2, 3] }).proposed.results, 40);
});

void t.test('another threshold judges answers by how long they took', async (t) => {
  const slow = errorCodes.response_slow;
  t.match(judgedBy(result(1, 0, 'ok', { totalUs: 500_001 }), 500), { outcome: 'slow', error: slow });
  t.match(judgedBy(result(1, 0, 'ok', { totalUs: 500_000 }), 500), { outcome: 'ok', error: 0 });
  t.match(judgedBy(result(1, 0, 'slow', { totalUs: 500_000, error: slow }), 500), { outcome: 'ok', error: 0 });
  t.match(judgedBy(result(1, 0, 'slow', { totalUs: 900_000, error: slow }), null), { outcome: 'ok', error: 0 });
  t.match(
    judgedBy(result(1, 0, 'slow', { totalUs: 1, error: 0 }), null),
    { outcome: 'slow' },
    'slow for another reason',
  );
  t.match(judgedBy(result(1, 0, 'fail', { totalUs: 9_000_000 }), 500), { outcome: 'fail' });
  const rows = minutes(10, () => 'ok');
  t.match(shown(simulated(rows, { degradedThresholdMs: 99 }).proposed), [['DEGRADED', 1, null]]);
  t.match(shown(simulated(rows, { degradedThresholdMs: 100 }).proposed), [['UP', 1, null]]);
});

void t.test(
  'a longer interval has the results that it would have had, each as long fresh as it would be',
  async (t) => {
    const rows = minutes(31, () => 'ok');
    const thinning = new Thinning(300, cadences, () => 2);
    const kept = rows.flatMap((row) => thinning.take(row) ?? []);
    t.same(
      kept.filter(({ voter }) => voter === 2).map(({ eUs }) => secondsOf(eUs)),
      [21, 321, 621, 921, 1_221, 1_521, 1_821],
    );
    t.equal(kept.length, 21);
    t.ok(kept.every(({ freshS }) => freshS === freshSeconds(300, 10)));
    t.same(shown(simulated(rows, { intervalS: 300 }).proposed), [['UP', 1, null]], 'no vote ends between');
  },
);

void t.test('it keeps its phase over a gap, and shorter intervals and manual checks are as they were', async (t) => {
  const thinning = new Thinning(300, cadences, () => 2);
  const taken = (row: TimedResult) => thinning.take(row) !== undefined;
  t.same(
    [0, 60, 300, 660, 780, 900, 960].map((s) => taken(result(1, s, 'ok'))),
    [true, false, true, true, false, true, false],
  );
  t.ok(taken(result(1, 961, 'ok', { kind: 'manual' })));
  const shorter = new Thinning(30, cadences, () => 2);
  const row = result(1, 0, 'ok');
  t.equal(shorter.take(row), row);
  const central = new Thinning(300, [{ fromUs: originUs, intervalS: 10, timeoutS: 5 }], () => 2).take(
    result(0, 0, 'ok'),
  );
  t.equal(central?.freshS, freshSeconds(300, 5));
});

void t.test('after a failure it has the checks that would have been made at once', async (t) => {
  const thinning = new Thinning(600, cadences, () => 3);
  const taken = (voter: number, s: number, outcome: Outcome) => thinning.take(result(voter, s, outcome)) !== undefined;
  t.ok(taken(1, 0, 'fail'));
  t.ok(taken(1, 60, 'fail'), 'its own');
  t.ok(taken(1, 65, 'fail'));
  t.notOk(taken(1, 120, 'fail'), 'confirmed');
  t.ok(taken(2, 1, 'ok'));
  thinning.ask([{ monitorId: 1, voters: [2], reason: 'first_failure' }], at(70));
  t.notOk(taken(2, 61, 'ok'), 'measured before it was asked');
  t.ok(taken(2, 121, 'ok'));
  t.notOk(taken(2, 181, 'ok'));
});

void t.test('a longer interval finds an outage, later', async (t) => {
  const rows = minutes(60, (_, minute) => (minute >= 12 && minute < 40 ? 'fail' : 'ok'));
  const { present, proposed } = simulated(rows, { intervalS: 600 });
  const window = { fromUs: originUs, untilUs: at(3_600), pauses: [] };
  const [before, ...others] = outagesOf(present, window);
  const [after, ...more] = outagesOf(proposed, window);
  t.same([others.length, more.length], [0, 0]);
  t.ok((after?.announcedUs ?? 0) > (before?.announcedUs ?? 0));
  t.ok((after?.announcedUs ?? 0) < at(12 * 60 + 600 + 180), `${secondsOf(after?.announcedUs ?? 0)}`);
  t.ok(proposed.results < present.results / 2);
});

void t.test('the window cuts ranges, and what was before decides how it begins', async (t) => {
  const rows = minutes(30, (_, minute) => (minute >= 5 && minute < 20 ? 'fail' : 'ok'));
  const { present } = simulated(rows, {}, { fromUs: at(600), untilUs: at(1_500) });
  const window = { fromUs: at(600), untilUs: at(1_500), pauses: [] };
  t.same(
    shown(present).map(([status, from, to]) => `${status} ${from} ${to}`),
    ['DOWN 600 1221', 'DEGRADED 1221 1241', 'UP 1241 null'],
  );
  const [outage] = outagesOf(present, window);
  t.match(outage, { isWhole: false, announcedUs: null });
  t.ok(present.told.every(({ toldUs }) => toldUs >= at(600) && toldUs < at(1_500)));
  const settings = {
    consensus_policy: 'majority' as const,
    confirmations: 2,
    interval_seconds: 60,
    degraded_threshold_ms: null,
    probe_ids: [],
  };
  const outcome = outcomeOf(present, { ...window, pauses: [{ fromUs: at(1_400), toUs: null }] }, settings);
  t.match(outcome, { detection_delay: null, uptime_percent: 22.375 });
  t.same(outcome.seconds, { up: 159, degraded: 20, down: 621, timeout: 0, unknown: 0, paused: 100 });
});

const evidence = { rule: 'quorum_failing', quorum: 2, voters: [], missing: [] } as const;

/** A course that is made up: outages from and to a second, told so many seconds after their onset or not at all. */
function course(...outages: readonly (readonly [from: number, to: number | null, delay: number | null])[]): Played {
  return {
    results: 0,
    ranges: outages.map(([from, to]) => ({
      voter: null,
      status: 'DOWN',
      startedUs: at(from),
      endedUs: to === null ? null : at(to),
      evidence,
    })),
    told: outages.flatMap(([from, to, delay]) =>
      delay === null
        ? []
        : [
            { toldUs: at(from + delay), from: 'UP' as const, to: 'DOWN' as const, sinceUs: at(from), evidence },
            ...(to === null
              ? []
              : [{ toldUs: at(to + 5), from: 'DOWN' as const, to: 'UP' as const, sinceUs: at(to), evidence }]),
          ],
    ),
  };
}
const window = { fromUs: originUs, untilUs: at(1_000), pauses: [] };

void t.test('outages are compared by what the other side does not see at all', async (t) => {
  const present = course([100, 150, 10], [300, 310, null], [500, 600, 20], [900, null, 30]);
  const proposed = course([120, 130, 8], [700, 720, 9], [950, null, 10]);
  const comparison = comparisonOf(present, proposed, window);
  t.match(comparison, {
    alarms_avoided_total: 1,
    alarms_avoided: [{ announced_at: new Date(at(520) / 1_000).toISOString() }],
    alarms_added_total: 1,
    alarms_added: [{ started_at: new Date(at(700) / 1_000).toISOString() }],
    downtime_seconds: 80 - 260,
    mean_detection_delay_seconds: 9 - 20,
  });
  t.same(comparisonOf(present, present, window), {
    alarms_avoided: [],
    alarms_added: [],
    alarms_avoided_total: 0,
    alarms_added_total: 0,
    downtime_seconds: 0,
    mean_detection_delay_seconds: 0,
  });
  t.equal(comparisonOf(course(), present, window).mean_detection_delay_seconds, null);
});

void t.test(
  'touching failing ranges are one outage; what was told of one that is gone is not told of the next',
  async (t) => {
    const touching: Played = {
      ...course([100, 150, 10]),
      ranges: [
        {
          voter: null,
          status: 'TIMEOUT',
          startedUs: at(100),
          endedUs: at(150),
          evidence: { ...evidence, rule: 'quorum_timed_out' },
        },
        { voter: null, status: 'DOWN', startedUs: at(150), endedUs: at(200), evidence },
        { voter: null, status: 'DEGRADED', startedUs: at(200), endedUs: at(210), evidence },
        { voter: null, status: 'DOWN', startedUs: at(210), endedUs: null, evidence },
      ],
    };
    t.match(outagesOf(touching, window), [
      { status: 'TIMEOUT', rule: 'quorum_timed_out', startedUs: at(100), endedUs: at(200), announcedUs: at(110) },
      { status: 'DOWN', startedUs: at(210), endedUs: null, announcedUs: null },
    ]);
    const vanished: Played = { ...course([100, 150, 10]), ranges: course([400, 450, null]).ranges };
    t.match(outagesOf(vanished, window), [{ announcedUs: null }]);
  },
);

void t.test('delays are told by mean, median and greatest', async (t) => {
  const settings = {
    consensus_policy: 'majority' as const,
    confirmations: 2,
    interval_seconds: 60,
    degraded_threshold_ms: null,
    probe_ids: [],
  };
  const outcome = outcomeOf(course([100, 150, 10], [300, 350, 20], [500, 600, 60], [700, 710, null]), window, settings);
  t.same(outcome.detection_delay, { mean_seconds: 30, p50_seconds: 20, max_seconds: 60 });
  t.equal(outcome.outages_total, 4);
  t.match(outcome.outages[3], { announced_at: null, detection_delay_seconds: null, duration_seconds: 10 });
  t.equal(outcomeOf(course(), window, settings).uptime_percent, null);
});

void t.test('whatever is proposed, seconds sum to the window and what is told continues what was told', async () => {
  const outcome = fc.constantFrom<Outcome>('ok', 'ok', 'ok', 'fail', 'fail', 'timeout', 'slow', 'probe_error');
  const proposal = fc.record(
    {
      policy: fc.constantFrom('any' as const, 'all' as const, 'majority' as const, 2),
      confirmations: fc.integer({ min: 1, max: 5 }),
      intervalS: fc.integer({ min: 1, max: 600 }),
      degradedThresholdMs: fc.option(fc.integer({ min: 1, max: 200 })),
      probeIds: fc.subarray([1, 2, 3], { minLength: 1 }),
    },
    { requiredKeys: [] },
  );
  const settings = {
    consensus_policy: 'majority' as const,
    confirmations: 2,
    interval_seconds: 60,
    degraded_threshold_ms: null,
    probe_ids: [],
  };
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 30, maxLength: 90 }), proposal, (outcomes, given) => {
      const rows = minutes(outcomes.length / 3, (voter, minute) => outcomes[minute * 3 + voter - 1] ?? 'ok');
      const until = { fromUs: originUs, untilUs: at((rows.length / 3) * 60), pauses: [] };
      const { proposed } = simulated(rows, given, until);
      const { seconds } = outcomeOf(proposed, until, settings);
      const sum = Object.values(seconds).reduce((total, part) => total + part, 0);
      if (Math.abs(sum - (until.untilUs - originUs) / 1e6) > 0.01) throw new Error(`${sum} s`);
      let last = 'UNKNOWN';
      for (const { from, to } of proposed.told) {
        if (from !== last) throw new Error(told(proposed).join(', '));
        last = to;
      }
    }),
    { numRuns: 200 },
  );
});
