import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { maintenanceReachMs, mostMaintenance, publicMaintenance } from './public-maintenance.ts';
import type { StoredOccurrence } from './public-maintenance.ts';

const dayMs = 86_400_000;
const nowMs = 100 * dayMs;
const names = new Map([['aaaaaaaaaaaa', 'Shop']]);
const at = { nowMs, names };

const occurrence = (more: Partial<StoredOccurrence> = {}): StoredOccurrence => ({
  publicId: '0123456789ab',
  isPublic: true,
  publicTitle: 'A move',
  publicText: 'To another house.',
  startsMs: nowMs - dayMs,
  endsMs: nowMs + dayMs,
  endedMs: null,
  hasStarted: true,
  changedMs: nowMs - 5 * dayMs,
  componentIds: ['aaaaaaaaaaaa'],
  ...more,
});

void t.test('what lasts, what comes, and what is over', async (t) => {
  const upcoming = occurrence({ hasStarted: false, startsMs: nowMs + dayMs, endsMs: nowMs + 2 * dayMs });
  const over = occurrence({ startsMs: nowMs - 3 * dayMs, endedMs: nowMs - 2 * dayMs });
  const told = publicMaintenance([over, upcoming, occurrence()], at);
  t.same(
    told.map(({ status }) => status),
    ['in_progress', 'scheduled', 'completed'],
  );
  t.match(told[0], { title: 'A move', text: 'To another house.', componentNames: ['Shop'], updatedMs: nowMs - dayMs });
  t.equal(told[2]?.endsMs, nowMs - 2 * dayMs, 'as it was');
  const [again] = publicMaintenance([occurrence()], at);
  t.equal(again?.id, told[0]?.id, 'an occurrence keeps its name');
  const far = occurrence({ hasStarted: false, startsMs: nowMs + maintenanceReachMs + 1, endsMs: nowMs + 60 * dayMs });
  const old = occurrence({ endedMs: nowMs - maintenanceReachMs });
  t.same(publicMaintenance([far, old, occurrence({ componentIds: [] })], at), []);
});

void t.test('of what is not public the word alone is told, while it lasts', async (t) => {
  const quiet = { isPublic: false };
  const [only, ...others] = publicMaintenance(
    [
      occurrence(quiet),
      occurrence({ ...quiet, endedMs: nowMs - dayMs }),
      occurrence({ ...quiet, hasStarted: false, startsMs: nowMs + dayMs }),
    ],
    at,
  );
  t.match(only, { status: 'in_progress', title: null, text: null, componentIds: [], componentNames: [] });
  t.same(others, []);
});

void t.test('the list is bounded, and in one order whatever the order of what is stored', async () => {
  const some = fc.array(
    fc.record({
      publicId: fc.stringMatching(/^[a-z0-9]{12}$/),
      isPublic: fc.boolean(),
      startsMs: fc.integer({ min: nowMs - 40 * dayMs, max: nowMs + 40 * dayMs }),
      over: fc.boolean(),
    }),
    { maxLength: 70 },
  );
  fc.assert(
    fc.property(some, (list) => {
      const stored = list.map(({ publicId, isPublic, startsMs, over }) =>
        occurrence({
          publicId,
          isPublic,
          startsMs,
          endsMs: startsMs + dayMs,
          hasStarted: startsMs <= nowMs,
          endedMs: over && startsMs + dayMs <= nowMs ? startsMs + dayMs : null,
        }),
      );
      const told = publicMaintenance(stored, at);
      const turned = publicMaintenance(stored.toReversed(), at);
      return told.length <= mostMaintenance && JSON.stringify(told) === JSON.stringify(turned);
    }),
  );
});
