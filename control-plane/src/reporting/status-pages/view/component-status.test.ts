import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { namedWords, raised, subjectStatuses, wordOf, wordOfGroup, worstOf } from './component-status.ts';
import type { SubjectState, Word } from './component-status.ts';
import { indicatorOf } from './indicator.ts';
import { componentStatuses, indicators } from './page-view.ts';
import type { ComponentStatus } from './page-view.ts';

const nowMs = 1_000_000;
const at = { nowMs, delayMs: 0 };
const order: readonly ComponentStatus[] = [
  'unknown',
  'operational',
  'maintenance',
  'degraded',
  'partial_outage',
  'major_outage',
];
const rank = (status: ComponentStatus): number => order.indexOf(status);

const state = (status: SubjectState['status'], more: Partial<SubjectState> = {}): SubjectState => ({
  status,
  sinceMs: 1,
  maintenanceSinceMs: null,
  failingSinceMs: null,
  last: null,
  calm: null,
  ...more,
});

const instant = fc.option(fc.integer({ min: 0, max: nowMs }));
const known = fc.option(fc.record({ status: fc.constantFrom(...subjectStatuses), sinceMs: instant }));
const states: fc.Arbitrary<SubjectState> = fc.record({
  status: fc.constantFrom(...subjectStatuses),
  sinceMs: instant,
  maintenanceSinceMs: instant,
  failingSinceMs: instant,
  last: known,
  calm: known,
});
const word = fc.constantFrom(...componentStatuses);
const words: fc.Arbitrary<Word[]> = fc.array(fc.record({ status: word, sinceMs: instant }), { maxLength: 8 });

void t.test('each status has its word', async (t) => {
  const table = {
    UP: 'operational',
    WARNING: 'operational',
    LATE: 'operational',
    DEGRADED: 'degraded',
    PARTIAL: 'partial_outage',
    DOWN: 'major_outage',
    TIMEOUT: 'major_outage',
    UNKNOWN: 'unknown',
    NEW: 'unknown',
    PAUSED: 'unknown',
  } as const;
  for (const status of subjectStatuses) t.equal(wordOf(state(status), at).status, table[status], status);
});

void t.test('maintenance beats all, and what is unknown keeps its last known word', async (t) => {
  fc.assert(
    fc.property(states, fc.integer({ min: 0, max: nowMs }), (one, delayMs) => {
      const told = wordOf(one, { nowMs, delayMs });
      if (one.maintenanceSinceMs !== null)
        return told.status === 'maintenance' && told.sinceMs === one.maintenanceSinceMs;
      return told.status !== 'maintenance';
    }),
  );
  for (const status of ['UNKNOWN', 'PAUSED'] as const) {
    t.same(wordOf(state(status, { last: { status: 'DOWN', sinceMs: 7 } }), at), { status: 'major_outage', sinceMs: 7 });
    t.same(wordOf(state(status, { last: { status: 'UP', sinceMs: 7 } }), at), { status: 'operational', sinceMs: 7 });
    t.same(wordOf(state(status), at), { status: 'unknown', sinceMs: null });
  }
});

void t.test('an outage becomes a word after the delay of the page', async (t) => {
  const calm = { status: 'DEGRADED', sinceMs: 3 } as const;
  const down = state('DOWN', { sinceMs: nowMs - 60_000, calm });
  t.equal(wordOf(down, { nowMs, delayMs: 60_000 }).status, 'major_outage');
  t.same(wordOf(down, { nowMs, delayMs: 60_001 }), { status: 'degraded', sinceMs: 3 });
  const changed = { ...down, failingSinceMs: nowMs - 300_000 };
  t.same(
    wordOf(changed, { nowMs, delayMs: 300_000 }),
    { status: 'major_outage', sinceMs: nowMs - 300_000 },
    'from DOWN to TIMEOUT it is the same outage',
  );
  t.equal(wordOf(state('DOWN', { sinceMs: nowMs }), { nowMs, delayMs: 1 }).status, 'unknown');
});

void t.test('several are as bad as all of them, as some, or as the worst', async (t) => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (statuses) => {
      const worst = worstOf(statuses);
      const measured = statuses.filter((status) => status !== 'unknown' && status !== 'maintenance');
      if (measured.length > 0 && measured.every((status) => status === 'major_outage')) return worst === 'major_outage';
      if (measured.includes('major_outage')) return worst === 'partial_outage';
      return rank(worst) === statuses.reduce((most, status) => Math.max(most, rank(status)), 0);
    }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (statuses) => worstOf(statuses) === worstOf(statuses.toReversed())),
  );
  t.equal(worstOf(['maintenance', 'major_outage']), 'major_outage', 'of what is measured all is down');
  t.equal(worstOf(['unknown', 'operational']), 'operational');
  t.equal(worstOf([]), 'unknown');
});

void t.test('the beginning of a word of a group is that of one of its members', async (t) => {
  fc.assert(
    fc.property(words, (members) => {
      const group = wordOfGroup(members);
      return group.sinceMs === null || members.some(({ sinceMs }) => sinceMs === group.sinceMs);
    }),
  );
  const down = (sinceMs: number): Word => ({ status: 'major_outage', sinceMs });
  t.same(wordOfGroup([down(5), down(9)]), { status: 'major_outage', sinceMs: 9 }, 'since the last one is');
  t.same(wordOfGroup([down(5), down(9), { status: 'operational', sinceMs: 1 }]), {
    status: 'partial_outage',
    sinceMs: 5,
  });
});

void t.test('people name worse words, never better ones', async (t) => {
  const named = fc.array(fc.record({ componentId: fc.constant('a'), status: word, atMs: fc.integer() }), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(word, named, (status, list) => {
      const told = raised({ status, sinceMs: 1 }, list).status;
      return status === 'maintenance' ? told === 'maintenance' : rank(told) >= rank(status);
    }),
  );
  const update = (atMs: number, status: ComponentStatus) => ({ atMs, impacts: [{ componentId: 'a', status }] });
  const told = namedWords([
    { resolvedMs: null, updates: [update(1, 'major_outage'), update(2, 'degraded')] },
    { resolvedMs: 5, updates: [update(3, 'major_outage')] },
  ]);
  t.same(told.get('a'), [{ componentId: 'a', status: 'degraded', atMs: 2 }], 'the latest of each that lasts');
});

void t.test('the indicator', async (t) => {
  t.equal(indicatorOf(['major_outage', 'major_outage', 'unknown'], []), 'critical');
  t.equal(indicatorOf(['major_outage', 'operational'], []), 'major');
  t.equal(indicatorOf(['partial_outage', 'operational'], []), 'minor');
  t.equal(indicatorOf(['degraded', 'maintenance'], []), 'minor');
  t.equal(indicatorOf(['maintenance', 'operational'], []), 'maintenance');
  t.equal(indicatorOf(['operational', 'unknown'], []), 'none');
  t.equal(indicatorOf(['unknown'], []), 'unknown');
  t.equal(indicatorOf([], []), 'unknown');
  t.equal(indicatorOf(['operational'], ['minor', 'critical']), 'critical');
  t.equal(indicatorOf([], ['minor']), 'minor');
  fc.assert(
    fc.property(fc.array(word), fc.array(fc.constantFrom('minor', 'major', 'critical')), (statuses, severities) => {
      const bad = (indicator: (typeof indicators)[number]) =>
        ['unknown', 'none', 'maintenance', 'minor', 'major', 'critical'].indexOf(indicator);
      const all = indicatorOf(statuses, severities);
      return severities.every((one) => bad(all) >= bad(one)) && bad(all) >= bad(indicatorOf(statuses, []));
    }),
  );
});
