import t from 'tap';
import { canVote, firstDifference, PreparedInputs } from './prepared-inputs.ts';
import { at, inputsOf, result } from './test-support.ts';
import type { Assignment, ConfigurationEvent, Interval, MonitorInputs } from './types.ts';

const prepared = (changes: Partial<MonitorInputs> = {}) => new PreparedInputs(inputsOf(changes));
const secondsOf = (us: number): number => (us - at(0)) / 1_000_000;
const never = Number.NEGATIVE_INFINITY;
const always = Number.POSITIVE_INFINITY;

const rules = (fromS: number, probeRevision = 1, changes: Partial<ConfigurationEvent> = {}): ConfigurationEvent => ({
  fromUs: at(fromS),
  probeRevision,
  confirmations: 2,
  policy: 'majority',
  ...changes,
});
const during = (fromS: number, toS: number | null): Interval => ({
  fromUs: at(fromS),
  toUs: toS === null ? null : at(toS),
});
const seat = (voter: number, fromS: number, toS: number | null, changes: Partial<Assignment> = {}): Assignment => ({
  voter,
  region: 'eu',
  supplement: false,
  ...during(fromS, toS),
  ...changes,
});

t.test('a row can vote unless it is manual, skipped, or 49 h late', async (t) => {
  const lateUs = 49 * 3_600_000_000;
  t.equal(canVote(result(1, 0, 'probe_error')), true);
  t.equal(canVote(result(1, 0, 'ok', { kind: 'recheck' })), true);
  t.equal(canVote(result(1, 0, 'ok', { kind: 'manual' })), false);
  t.equal(canVote(result(1, 0, 'skipped')), false);
  t.equal(canVote(result(1, 0, 'ok', { receivedUs: at(0) + lateUs })), true);
  t.equal(canVote(result(1, 0, 'ok', { receivedUs: at(0) + lateUs + 1 })), false);
});

t.test('the configuration is the last that has come, before the first one the first', async (t) => {
  const configurations = [rules(50, 2), rules(10, 1), rules(90, 3), rules(50, 4)];
  const inputs = prepared({ configurations });
  const revisions = [0, 10, 49.999999, 50, 89, 90, 1_000].map((s) => inputs.configurationAt(at(s)).probeRevision);
  t.same(revisions, [1, 1, 1, 4, 4, 3, 3], 'of two at one instant the last listed');
  t.same(prepared({ configurations: [] }).configurationAt(at(0)), {
    fromUs: 0,
    probeRevision: 0,
    confirmations: 2,
    policy: 'majority',
  });
});

t.test('results of a revision are votes until a later one comes', async (t) => {
  const inputs = prepared({ configurations: [rules(0, 1), rules(50, 2), rules(60, 1), rules(90, 3)] });
  t.equal(secondsOf(inputs.revisionUntil(1, at(0))), 50);
  t.equal(secondsOf(inputs.revisionUntil(1, at(49.999999))), 50);
  t.equal(secondsOf(inputs.revisionUntil(1, at(50))), 90, 'what has come already is over');
  t.equal(secondsOf(inputs.revisionUntil(2, at(0))), 90);
  t.equal(inputs.revisionUntil(3, at(0)), always);
});

t.test('a voter may vote while it is assigned, from the floor on, but for pauses', async (t) => {
  const inputs = prepared({
    assignments: [
      seat(1, 40, 60),
      seat(1, -50, 10),
      seat(1, 10, 20),
      seat(1, 55, 80),
      seat(1, 90, 90),
      seat(1, 95, null),
    ],
    pauses: [during(100, 110), during(70, 75), during(12, 14), during(13, 15)],
  });
  const until = (seconds: number): number | null => {
    const us = inputs.presentUntil(1, at(seconds));
    return Number.isFinite(us) ? secondsOf(us) : null;
  };
  for (const [seconds, expected] of [
    [-0.000001, null],
    [0, 12],
    [10, 12],
    [11.999999, 12],
    [12, null],
    [14.5, null],
    [15, 20],
    [20, null],
    [39, null],
    [40, 70],
    [57, 70],
    [70, null],
    [75, 80],
    [80, null],
    [90, null],
    [95, 100],
    [105, null],
  ] as const)
    t.equal(until(seconds), expected, `${seconds}`);
  t.equal(inputs.presentUntil(1, at(110)), always);
  t.equal(inputs.presentUntil(1, at(20)), never);
  t.equal(inputs.presentUntil(1, at(-1)), never);
  t.equal(inputs.presentUntil(9, at(50)), never, 'who was never assigned');
  t.equal(secondsOf(inputs.presentUntil(0, at(0))), 12, 'the control plane needs no assignment');
  t.equal(inputs.presentUntil(0, at(200)), always);
});

t.test('a pause that begins or ends with an assignment leaves nothing empty behind', async (t) => {
  const spans = (...pauses: readonly Interval[]) => {
    const inputs = prepared({ assignments: [seat(1, 0, 50)], pauses });
    return [0, 10, 20, 49].map((s) => {
      const us = inputs.presentUntil(1, at(s));
      return us === never ? null : secondsOf(us);
    });
  };
  t.same(spans(during(0, 20)), [null, null, 50, 50]);
  t.same(spans(during(20, 50)), [20, 20, null, null]);
  t.same(spans(during(0, 50)), [null, null, null, null]);
  t.same(spans(during(50, 60), during(-10, 0)), [50, 50, 50, 50]);
  t.same(spans(during(10, 10)), [50, 50, 50, 50], 'an empty one is none');
});

t.test('a row counts while its voter may vote, from its revision on', async (t) => {
  const inputs = prepared({
    assignments: [seat(1, 0, 50)],
    configurations: [rules(0, 1), rules(30, 2)],
  });
  const counts = (seconds: number, probeRevision: number) => inputs.counts(result(1, seconds, 'ok', { probeRevision }));
  t.same([counts(0, 1), counts(49, 2), counts(50, 2), counts(-1, 1)], [true, true, false, false]);
  t.same([counts(29, 1), counts(30, 1), counts(29, 2), counts(29, 0)], [true, false, true, false]);
});

t.test('changes are told in order, each instant once', async (t) => {
  const inputs = prepared({
    assignments: [seat(1, 0, 50), seat(2, 20, null)],
    configurations: [rules(0), rules(30)],
    pauses: [during(20, 25)],
    quarantines: [{ voter: 1, ...during(40, null) }],
    resetUs: at(5),
  });
  t.same(inputs.changes.map(secondsOf), [0, 5, 20, 25, 30, 40, 50]);
  t.equal(secondsOf(inputs.nextChangeAfter(at(20))), 25);
  t.equal(secondsOf(inputs.nextChangeAfter(at(24.999999))), 25);
  t.equal(inputs.nextChangeAfter(at(50)), always);
  t.equal(inputs.floorUs, at(5));
  t.equal(prepared({ resetUs: at(-5) }).floorUs, at(0));
  t.equal(prepared({ createdUs: -5, resetUs: null }).floorUs, -5, 'no reset is none of 1970');
  t.same(
    [19, 20, 25].map((s) => inputs.isPausedAt(at(s))),
    [false, true, false],
  );
});

t.test('two sets of inputs differ from the first instant at which they say something else', async (t) => {
  const differ = (before: Partial<MonitorInputs>, after: Partial<MonitorInputs>): number => {
    const us = firstDifference(prepared(before), prepared(after));
    t.equal(firstDifference(prepared(after), prepared(before)), us, 'either way');
    return Number.isFinite(us) ? secondsOf(us) : us;
  };
  const one = [seat(1, 0, null)];
  t.equal(differ({}, {}), always);
  t.equal(differ({}, { resetUs: at(10) }), never, 'a reset concerns everything');
  t.equal(differ({ assignments: one }, { assignments: [...one, seat(2, 30, null)] }), 30);
  t.equal(differ({ assignments: one }, { assignments: [seat(1, 0, 40)] }), 40, 'one that was closed');
  t.equal(differ({ assignments: [seat(1, 0, 60)] }, { assignments: [seat(1, 0, 40)] }), 40);
  t.equal(differ({ assignments: one }, { assignments: [seat(1, 0, null, { region: 'us' })] }), 0);
  t.equal(differ({ assignments: one }, { assignments: [seat(1, 0, null, { supplement: true })] }), 0);
  t.equal(differ({ assignments: one }, { assignments: [seat(3, 0, null)] }), 0);
  const two = [seat(1, 0, 50), seat(1, 0, 70)];
  t.equal(differ({ assignments: two }, { assignments: [...two].reverse() }), always, 'the order means nothing');
  const three = [during(10, 100), during(10, 20)];
  t.equal(differ({ pauses: three }, { pauses: [...three].reverse() }), always);
  t.equal(differ({ pauses: [during(10, 20)] }, { pauses: [during(10, 30)] }), 20);
  t.equal(differ({ pauses: [during(10, 20)] }, { pauses: [during(15, 20)] }), 10);
  t.equal(differ({ pauses: [] }, { pauses: [during(30, null), during(10, 20)] }), 10);
  t.equal(differ({ pauses: [during(10, null)] }, { pauses: [during(10, 90)] }), 90);
  const quarantine = (voter: number, fromS: number, toS: number | null) => ({ voter, ...during(fromS, toS) });
  t.equal(differ({}, { quarantines: [quarantine(1, 25, null)] }), 25);
  t.equal(differ({ quarantines: [quarantine(1, 25, 40)] }, { quarantines: [quarantine(2, 25, 40)] }), 25);
  t.equal(differ({ quarantines: [quarantine(1, 25, 40)] }, { quarantines: [quarantine(1, 25, null)] }), 40);
  t.equal(differ({ assignments: one }, { assignments: [...one, seat(2, 30, null)], pauses: [during(20, 21)] }), 20);
});

t.test('configurations differ where another revision, number of confirmations or policy is in force', async (t) => {
  const differ = (before: readonly ConfigurationEvent[], after: readonly ConfigurationEvent[]) => {
    const us = firstDifference(prepared({ configurations: before }), prepared({ configurations: after }));
    return Number.isFinite(us) ? secondsOf(us) : us;
  };
  const first = rules(0);
  t.equal(differ([first], [first, rules(30, 2)]), 30);
  t.equal(differ([first], [first, rules(30, 1, { confirmations: 3 })]), 30);
  t.equal(differ([first], [first, rules(30, 1, { policy: 'any' })]), 30);
  t.equal(differ([first], [first, rules(30)]), always, 'one that changes nothing');
  t.equal(differ([first], [first, rules(30, 1, { intervalS: 20 })]), always, 'nor does another interval');
  t.equal(differ([first], [rules(0, 2)]), never, 'the first one holds from ever on');
  t.equal(differ([first, rules(30, 2)], [first, rules(50, 2)]), 30);
});
