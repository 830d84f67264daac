import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { componentStatuses } from './page-view.ts';
import { isTold, incidentView, mostIncidents, publicIncidents } from './public-incidents.ts';
import type { StoredIncident, StoredUpdate } from './public-incidents.ts';

const nowMs = 10_000_000;
const names = new Map([
  ['aaaaaaaaaaaa', 'Shop'],
  ['bbbbbbbbbbbb', 'Mail'],
]);
const rules = { nowMs, automaticIncidents: true, delayMs: 60_000, names };

const incident = (more: Partial<StoredIncident> = {}): StoredIncident => ({
  publicId: '0123456789ab',
  visibility: 'auto',
  publicTitle: null,
  severity: 'major',
  resolution: null,
  isManual: false,
  isHeld: false,
  isFolded: false,
  isDetectedLate: false,
  startedMs: nowMs - 3_600_000,
  resolvedMs: null,
  createdMs: nowMs - 3_590_000,
  postmortem: null,
  hasMembers: true,
  componentIds: ['aaaaaaaaaaaa'],
  updates: [],
  ...more,
});
const update = (more: Partial<StoredUpdate> = {}): StoredUpdate => ({
  kind: 'identified',
  body: 'We know.',
  createdMs: nowMs - 1_000,
  displayMs: null,
  impacts: [],
  ...more,
});

const updates: fc.Arbitrary<StoredUpdate> = fc.record({
  kind: fc.constantFrom('investigating', 'identified', 'monitoring', 'resolved', 'note'),
  body: fc.string({ minLength: 1 }),
  createdMs: fc.integer({ min: 0, max: nowMs }),
  displayMs: fc.option(fc.integer({ min: 0, max: nowMs })),
  impacts: fc.array(
    fc.record({
      componentId: fc.constantFrom('aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'),
      status: fc.constantFrom(...componentStatuses),
    }),
    { maxLength: 2 },
  ),
});
const incidents: fc.Arbitrary<StoredIncident> = fc
  .record({
    publicId: fc.stringMatching(/^[a-z0-9]{12}$/),
    visibility: fc.constantFrom('auto', 'public', 'hidden'),
    publicTitle: fc.option(fc.constant('A title')),
    severity: fc.constantFrom('minor', 'major', 'critical'),
    resolution: fc.constantFrom('auto', 'manual', 'paused', 'corrected', 'deleted', 'folded'),
    isManual: fc.boolean(),
    isHeld: fc.boolean(),
    isFolded: fc.boolean(),
    isDetectedLate: fc.boolean(),
    startedMs: fc.integer({ min: 0, max: nowMs }),
    resolvedMs: fc.option(fc.integer({ min: 0, max: 200_000 })),
    createdMs: fc.integer({ min: 0, max: nowMs }),
    postmortem: fc.option(fc.constant('It was us.')),
    hasMembers: fc.boolean(),
    componentIds: fc.constantFrom([], ['aaaaaaaaaaaa'], ['aaaaaaaaaaaa', 'bbbbbbbbbbbb']),
    updates: fc.array(updates, { maxLength: 4 }),
  })
  .map((one) => ({
    ...one,
    resolution: one.resolvedMs === null ? null : one.resolution,
    resolvedMs: one.resolvedMs === null ? null : Math.min(nowMs, one.startedMs + one.resolvedMs),
  }));

void t.test('which incidents a page tells', async (t) => {
  const told = (more: Partial<StoredIncident>, changed: Partial<typeof rules> = {}) =>
    isTold(incident(more), { ...rules, ...changed });
  t.equal(told({}), true);
  t.equal(told({ startedMs: nowMs - 60_000 }), true);
  t.equal(told({ startedMs: nowMs - 59_999 }), false, 'not before the delay');
  t.equal(told({ startedMs: 5, resolvedMs: 60_004, resolution: 'auto' }), false, 'it was over before it was told');
  t.equal(told({}, { automaticIncidents: false }), false);
  for (const more of [
    { isHeld: true },
    { isDetectedLate: true },
    { resolvedMs: nowMs, resolution: 'corrected' },
  ] as const) {
    t.equal(told(more), false, JSON.stringify(more));
    t.equal(told({ ...more, visibility: 'public' }), true, 'somebody said so');
  }
  t.equal(told({ isFolded: true, visibility: 'public' }), false, 'another one tells it');
  t.equal(told({ visibility: 'hidden', updates: [update()] }), false);
  t.equal(told({ componentIds: [] }), false, 'of another page');
  t.equal(told({ isManual: true }), false, 'nothing of it is public');
  t.equal(told({ isManual: true, updates: [update()] }), true);
  t.equal(told({ isManual: true, visibility: 'public' }), true);
  t.equal(told({ isManual: true, updates: [update()], componentIds: [] }), false, 'its members are of another page');
  t.equal(told({ isManual: true, updates: [update()], componentIds: [], hasMembers: false }), true, 'it names nothing');
  const impacts = [{ componentId: 'bbbbbbbbbbbb', status: 'degraded' as const }];
  t.equal(told({ isManual: true, updates: [update({ impacts })], componentIds: [] }), true, 'by what people name');
  fc.assert(fc.property(incidents, (one) => !isTold(one, rules) || (one.visibility !== 'hidden' && !one.isFolded)));
});

void t.test('how an automatic incident is told', async (t) => {
  const view = incidentView(incident({ resolvedMs: nowMs - 100, resolution: 'auto', postmortem: 'It was us.' }), rules);
  t.match(view, {
    title: null,
    status: 'postmortem',
    isAutomatic: true,
    createdMs: nowMs - 3_600_000,
    updatedMs: nowMs - 100,
    componentNames: ['Shop'],
    postmortem: 'It was us.',
    updates: [
      { status: 'resolved', body: null, displayMs: nowMs - 100 },
      { status: 'investigating', body: null, displayMs: nowMs - 3_600_000 },
    ],
  });
  t.equal(incidentView(incident({ postmortem: 'It was us.' }), rules).postmortem, null, 'not while it lasts');
  const past = incident({
    isManual: true,
    startedMs: 1_000,
    resolvedMs: 9_000,
    updates: [update({ displayMs: 2_000 }), update({ kind: 'resolved', displayMs: 9_000 })],
  });
  t.match(incidentView(past, rules), {
    createdMs: 2_000,
    updatedMs: 9_000,
    updates: [{ displayMs: 9_000 }, { displayMs: 2_000 }],
  });
  t.equal(
    incidentView(past, rules).updates.length,
    2,
    'what was entered later keeps its times, and its end is said once',
  );
});

void t.test('what is told is in order, bounded, and names components of the page alone', async () => {
  fc.assert(
    fc.property(fc.array(incidents, { maxLength: 80 }), (stored) => {
      const told = publicIncidents(stored, rules);
      const lasting = stored.filter((one) => isTold(one, rules) && one.resolvedMs === null).length;
      const isInOrder = told.every((one, place) => one.startedMs <= (told[place - 1]?.startedMs ?? nowMs));
      const isOfPage = told.every(({ componentIds, updates: said }) =>
        [...componentIds, ...said.flatMap(({ impacts }) => impacts.map(({ componentId }) => componentId))].every((id) =>
          names.has(id),
        ),
      );
      const isNewestFirst = told.every(({ updates: said }) =>
        said.every((one, place) => one.displayMs <= (said[place - 1]?.displayMs ?? Number.POSITIVE_INFINITY)),
      );
      const isDistinct = told.every(({ updates: said }) => new Set(said.map(({ id }) => id)).size === said.length);
      return (
        isInOrder &&
        isOfPage &&
        isNewestFirst &&
        isDistinct &&
        told.length <= Math.max(mostIncidents, lasting) &&
        told.filter(({ resolvedMs }) => resolvedMs === null).length === lasting &&
        told.every(
          ({ updates: said, status, resolvedMs }) =>
            said.length > 0 && (resolvedMs === null) === (status !== 'resolved' && status !== 'postmortem'),
        )
      );
    }),
  );
});
