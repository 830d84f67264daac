import t from 'tap';
import { decide, electorateAt, evidenceOf, quorumOf } from './decide.ts';
import type { Elector, Electorate } from './decide.ts';
import { PreparedInputs } from './prepared-inputs.ts';
import { at, inputsOf, seats } from './test-support.ts';
import type { Assignment, MonitorInputs, Vote } from './types.ts';

const electorate = (inputs: Partial<MonitorInputs> = {}, seconds = 10): Electorate =>
  electorateAt(new PreparedInputs(inputsOf(inputs)), at(seconds));
type Cast = readonly [voter: number, vote: Vote];
const votes = (...list: readonly Cast[]): Elector[] =>
  list.map(([voter, vote]) => ({ voter, piece: { fromUs: at(0), toUs: at(100), vote, sinceUs: at(1), error: 5 } }));
const row = (voter: number, region: string, supplement = false): Assignment => ({
  voter,
  region,
  fromUs: at(0),
  toUs: null,
  supplement,
});

t.test('a quorum is at least one, and at most all seats', async (t) => {
  const quorums = (policy: Parameters<typeof quorumOf>[0]) => [0, 1, 2, 3, 4, 5, 9].map((n) => quorumOf(policy, n));
  t.same(quorums('any'), [1, 1, 1, 1, 1, 1, 1]);
  t.same(quorums('all'), [1, 1, 2, 3, 4, 5, 9]);
  t.same(quorums('majority'), [1, 1, 2, 2, 3, 3, 5]);
  t.same(quorums(3), [1, 1, 2, 3, 3, 3, 3]);
  t.same(quorums(1), [1, 1, 1, 1, 1, 1, 1]);
  t.equal(quorumOf(2.9, 5), 2);
});

t.test(
  'seats and voters are in order; a seat gives the region, whatever a supplement of the same voter says',
  async (t) => {
    const { seats, assigned, regionOf } = electorate({
      assignments: [row(9, 'us'), row(5, 'ap', true), row(2, 'eu'), row(7, 'sa')],
    });
    t.same([...seats], [2, 7, 9]);
    t.same([...assigned], [2, 5, 7, 9]);
    t.equal(regionOf.get(5), 'ap');
    for (const assignments of [
      [row(1, 'eu'), row(1, 'us', true)],
      [row(1, 'us', true), row(1, 'eu')],
    ]) {
      t.equal(electorate({ assignments }).regionOf.get(1), 'eu');
    }
  },
);

t.test('without assignments the control plane has the seat, in a region of its own', async (t) => {
  const own = electorate({ assignments: [] });
  t.match(own, { seats: [0], assigned: [0], quorum: 1, regionsNeeded: 1 });
  t.equal(own.regionOf.get(0), 'central');
});

t.test('why nobody may vote is told, with no votes beside it', async (t) => {
  for (const [closed, rule] of [
    [electorate({}, -1), 'not_started'],
    [electorate({ pauses: [{ fromUs: at(5), toUs: null }] }), 'paused'],
  ] as const) {
    t.equal(closed.closed, rule);
    const decision = decide(closed, votes([1, 'DOWN'], [2, 'DOWN'], [3, 'DOWN']));
    t.same(decision, { status: 'UNKNOWN', rule, electors: [] });
    t.same(evidenceOf(closed, decision), { rule, quorum: 0, voters: [], missing: [] });
  }
  const open = electorate();
  t.equal(open.closed, null);
  t.same(decide(open, []), { status: 'UNKNOWN', rule: 'no_votes', electors: [] });
});

t.test('the first rule that holds decides', async (t) => {
  const rule = (...list: readonly Cast[]) => {
    const decision = decide(electorate(), votes(...list));
    return `${decision.status} ${decision.rule}`;
  };
  t.equal(rule([1, 'DOWN'], [2, 'DOWN'], [3, 'UP']), 'DOWN quorum_failing');
  t.equal(rule([1, 'TIMEOUT'], [2, 'TIMEOUT'], [3, 'UP']), 'TIMEOUT quorum_timed_out');
  t.equal(rule([1, 'TIMEOUT'], [2, 'DOWN'], [3, 'UP']), 'DOWN quorum_failing');
  t.equal(rule([1, 'DOWN'], [2, 'DEGRADED'], [3, 'DEGRADED']), 'PARTIAL some_failing');
  t.equal(rule([1, 'UP'], [2, 'DEGRADED']), 'DEGRADED half_slow');
  t.equal(rule([1, 'UP'], [2, 'DEGRADED'], [3, 'UP']), 'UP answered');
  t.equal(rule([1, 'UP'], [2, 'WARNING'], [3, 'UP']), 'WARNING any_warning');
  t.equal(rule([1, 'UP']), 'UP answered');
});

t.test('the fallback is of the region "central", also where a probe is', async (t) => {
  const inputs = { assignments: [row(1, 'central'), row(2, 'us'), row(3, 'ap')] };
  t.equal(decide(electorate(inputs), votes([0, 'DOWN'], [1, 'DOWN'])).status, 'PARTIAL');
  t.equal(decide(electorate(inputs), votes([0, 'DOWN'], [2, 'DOWN'])).status, 'DOWN');
});

t.test('beside a single probe the fallback counts without another vote only; its own seat it keeps', async (t) => {
  const single = electorate({ assignments: seats('eu') });
  t.same(decide(single, votes([0, 'DOWN'], [1, 'UP'])).status, 'UP');
  t.same(decide(single, votes([0, 'DOWN'])).status, 'DOWN');
  const own = electorate({ assignments: [] });
  t.same(
    decide(own, votes([0, 'DOWN'], [1, 'UP'])).electors.map(({ voter }) => voter),
    [0, 1],
  );
});

t.test('who is in quarantine does not count and is missing', async (t) => {
  const one = electorate({ quarantines: [{ voter: 2, fromUs: at(0), toUs: null }] });
  const decision = decide(one, votes([1, 'DOWN'], [2, 'DOWN'], [3, 'UP']));
  t.equal(decision.status, 'PARTIAL');
  t.same(evidenceOf(one, decision), {
    rule: 'some_failing',
    quorum: 2,
    voters: [
      { voter: 1, vote: 'DOWN', sinceUs: at(1), error: 5 },
      { voter: 3, vote: 'UP', sinceUs: at(1), error: 5 },
    ],
    missing: [2],
  });
  const alone = decide(one, votes([1, 'DOWN']));
  t.equal(evidenceOf(one, alone).quorum_out_of_reach, true);
});
