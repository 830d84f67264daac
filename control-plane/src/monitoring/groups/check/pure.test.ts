import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { findCycle, tellCycle } from './cycle.ts';
import type { GroupNode } from './cycle.ts';
import { decideGroup } from './decide.ts';
import type { Member } from './decide.ts';
import { onsetOf } from './onset.ts';
import { outcomeOf, traceOf } from './outcome.ts';

/** Members by a letter each: u up, d down, t timeout, g degraded, w warning, r partial, ? unknown, p paused (it was down). */
function members(letters: string, sinceMs: readonly number[] = []): Member[] {
  const status = {
    u: 'UP',
    d: 'DOWN',
    t: 'TIMEOUT',
    g: 'DEGRADED',
    w: 'WARNING',
    r: 'PARTIAL',
    '?': 'UNKNOWN',
    p: 'DOWN',
  } as const;
  return Array.from(letters, (letter, index) => ({
    id: index + 1,
    name: `m${index + 1}`,
    status: status[letter as keyof typeof status],
    sinceMs: sinceMs[index] ?? 0,
    isPaused: letter === 'p',
  }));
}

t.test('the verdict by who is up and how many are needed', async (t) => {
  const table: readonly (readonly [string, number | undefined, string])[] = [
    ['uuu', undefined, 'UP'],
    ['ugwr', undefined, 'UP'],
    ['uud', undefined, 'DOWN'],
    ['uut', undefined, 'DOWN'],
    ['uud', 2, 'DEGRADED'],
    ['udd', 2, 'DOWN'],
    ['udd', 1, 'DEGRADED'],
    ['ddd', 1, 'DOWN'],
    ['uu?', undefined, 'UP'],
    ['up', undefined, 'UP'],
    ['ud?', undefined, 'DOWN'],
    ['u??', 2, 'UNKNOWN'],
    ['ud?', 2, 'UNKNOWN'],
    ['dd?', 2, 'DOWN'],
    ['dp', 1, 'UNKNOWN'],
    ['dp', 2, 'DOWN'],
    ['??', undefined, 'UNKNOWN'],
    ['pp', 1, 'UNKNOWN'],
    ['', undefined, 'UNKNOWN'],
    ['', 3, 'UNKNOWN'],
    // One that was deleted is not needed any more.
    ['uu', 3, 'UP'],
    ['ud', 3, 'DOWN'],
  ];
  for (const [letters, minimum, verdict] of table)
    t.equal(decideGroup(members(letters), minimum).verdict, verdict, `${letters} of at least ${minimum ?? 'all'}`);
});

t.test('a member that gets better never makes the group worse', async (t) => {
  const rank = { DOWN: 0, UNKNOWN: 1, DEGRADED: 2, UP: 3 };
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...Array.from('udt?p')), { minLength: 1, maxLength: 8 }),
      fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      fc.nat(7),
      (letters, minimum, at) => {
        const before = decideGroup(members(letters.join('')), minimum);
        if (!'dt'.includes(letters[at] ?? 'u')) return true;
        const after = decideGroup(members(letters.with(at, 'u').join('')), minimum);
        return rank[after.verdict] >= rank[before.verdict];
      },
    ),
  );
  t.pass();
});

t.test('an outage begins with the change of the member that made it', async (t) => {
  const look = (letters: string, minimumUp: number | undefined, since: readonly number[]) => ({
    members: members(letters, since),
    minimumUp,
  });
  const former = (letters: string, minimumUp: number | undefined, effectiveMs = 100) => ({
    ...look(letters, minimumUp, []),
    effectiveMs,
  });
  t.equal(onsetOf(undefined, look('d', 1, [150]), 200), 200, 'nothing is known of before');
  t.equal(onsetOf(former('uu', undefined), look('ud', undefined, [0, 150]), 200), 150);
  t.equal(onsetOf(former('uuu', 2), look('udd', 2, [0, 150, 170]), 200), 170, 'the second one was one too many');
  t.equal(onsetOf(former('uuu', undefined), look('udd', undefined, [0, 170, 150]), 200), 150, 'the first one was');
  t.equal(onsetOf(former('du', undefined), look('ud', undefined, [150, 120]), 200), 200, 'as before: it is of now');
  t.equal(onsetOf(former('uu', undefined), look('ud', undefined, [0, 50]), 200), 100.001, 'not before what was said');
  t.equal(onsetOf(former('uu', undefined), look('ud', undefined, [0, 900]), 200), 200, 'never of the future');
  t.equal(onsetOf(former('d', undefined), look('u', undefined, [150]), 200), 150, 'an end too');
  t.equal(onsetOf(former('u', undefined), look('ud', undefined, [0, 150]), 200), 200, 'a member that joined');
  const wayward = onsetOf(former('udu', 2), look('duu', 3, [120, 150, 0]), 200);
  t.ok(wayward > 100 && wayward <= 200);
});

t.test('an onset lies between the result before and now, whatever happened', async (t) => {
  const letters = fc
    .array(fc.constantFrom(...Array.from('ud?p')), { minLength: 5, maxLength: 5 })
    .map((each) => each.join(''));
  const times = fc.array(fc.integer({ min: -50, max: 400 }), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(letters, letters, times, fc.integer({ min: 1, max: 5 }), (before, after, since, minimumUp) => {
      const present = { members: members(after, since), minimumUp };
      const onset = onsetOf({ members: members(before), minimumUp, effectiveMs: 100 }, present, 200);
      return onset > 100 && onset <= 200;
    }),
  );
  t.pass();
});

t.test('the evidence names who failed, within its bounds', async (t) => {
  t.match(outcomeOf({ members: members('udt'), minimumUp: 2 }), {
    outcome: 'fail',
    source: 'target',
    code: 'members_down',
    message: '1 of 3 members are up, 2 are needed: too few. Down: m2, m3',
    evidence: {
      details: { members: 3, up: 1, down: 2, unknown: 0, minimum_up: 2, failed: 'm2, m3', failed_ids: '2, 3' },
    },
  });
  t.match(outcomeOf({ members: members('ud'), minimumUp: 1 }), { outcome: 'slow', code: 'members_down' });
  t.match(outcomeOf({ members: [], minimumUp: 1 }), { outcome: 'probe_error', source: 'probe', message: /no members/ });
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    id: index,
    name: 'n'.repeat(200),
    status: 'DOWN' as const,
    sinceMs: null,
    isPaused: false,
  }));
  const { evidence } = outcomeOf({ members: many, minimumUp: 1 });
  const failed = String(evidence?.details?.['failed']);
  t.ok(failed.length <= 500);
  t.match(failed, / and 998 more$/);
  t.equal(
    traceOf({ members: members('?p', [5]), minimumUp: 1 })[0]?.detail,
    'monitor 1 "m1" is UNKNOWN since 1970-01-01T00:00:00.005Z',
  );
  t.match(traceOf({ members: members('?p'), minimumUp: 1 })[1]?.detail, /is paused/);
});

t.test('circles are found and told whole', async (t) => {
  const node = (id: number, members: readonly number[], group: string | null = null): GroupNode => ({
    id,
    name: `g${id}`,
    group,
    members,
  });
  t.equal(findCycle([]), undefined);
  t.equal(findCycle([node(1, [2, 3]), node(2, [3]), node(3, [])]), undefined, 'a diamond is none');
  t.equal(findCycle([node(1, [9])]), undefined, 'what is no group monitor');
  const own = findCycle([node(1, [1])]);
  t.equal(own && tellCycle(own), '"g1" → "g1"');
  const through = findCycle([node(1, []), node(2, [3], 'web'), node(3, [4]), node(4, [2])]);
  t.equal(through && tellCycle(through), '"g2" → group "web" → "g3" → "g4" → "g2"');
  const chain = Array.from({ length: 20_000 }, (_, index) => node(index, [index + 1]));
  t.equal(findCycle(chain), undefined);
  t.equal(findCycle([...chain, node(20_000, [0])])?.length, 20_002);
});
