import t from 'tap';
import { released, resolveByHand } from './by-hand.ts';
import { noneUnlisted, untold } from './incident-state.ts';
import type { IncidentState, MemberState } from './incident-state.ts';
import { settle, titleOfMany } from './settle.ts';

const member = (subject: string, more: Partial<MemberState> = {}): MemberState => ({
  subject,
  title: `${subject} is down`,
  startedMs: 1_000,
  endedMs: null,
  resolution: null,
  windowMs: 60_000,
  ...more,
});
const over = (endedMs: number, resolution: MemberState['resolution'] = 'auto') => ({ endedMs, resolution });

const incident = (more: Partial<IncidentState> = {}): IncidentState => ({
  id: 1,
  key: null,
  title: 'old',
  hasOwnTitle: false,
  status: 'open',
  resolution: null,
  isAcknowledged: false,
  isManual: false,
  isDeleted: false,
  startedMs: 5_000,
  resolvedMs: null,
  foldedInto: null,
  members: [member('a')],
  unlisted: noneUnlisted,
  told: { ...untold, seq: 1, atMs: 2_000, members: 1 },
  ...more,
});
const kinds = (messages: readonly { kind: string }[]) => messages.map(({ kind }) => kind);

void t.test('an incident is what its members say', async (t) => {
  t.match(settle(incident(), 9_000, false), {
    incident: { status: 'open', title: 'a is down', startedMs: 1_000, resolvedMs: null },
    messages: [],
  });
  t.match(settle(incident({ isAcknowledged: true }), 9_000, false).incident, { status: 'acknowledged' });
  t.match(settle(incident({ hasOwnTitle: true }), 9_000, false).incident, { title: 'old' });
  const ended = settle(
    incident({ members: [member('a', over(7_000)), member('b', over(8_000, 'paused'))] }),
    9_000,
    false,
  );
  t.match(ended, {
    incident: { status: 'resolved', resolution: 'paused', resolvedMs: 8_000, title: 'a is down, and 1 more' },
    messages: [{ kind: 'resolved' }],
  });
  t.same(settle(ended.incident, 10_000, false).messages, [], 'told once');
  const corrected = [member('a', over(9_000, 'corrected')), member('b', over(8_000))];
  t.match(settle(incident({ members: corrected }), 9_000, false).incident, { resolution: 'auto' });
  t.match(settle(incident({ members: corrected.slice(0, 1) }), 9_000, false), {
    incident: { resolution: 'corrected' },
    messages: [{ kind: 'resolved' }],
  });
});

void t.test('what was over before it was told is told whole, and what was no outage is not', async (t) => {
  const told = { ...untold, dueMs: 9_500 };
  t.same(kinds(settle(incident({ told, members: [member('a', over(8_000))] }), 9_000, false).messages), [
    'opened',
    'resolved',
  ]);
  t.same(settle(incident({ told, members: [member('a', over(8_000, 'corrected'))] }), 9_000, false).messages, []);
  t.same(settle(incident({ told: untold }), 9_000, false).messages, [], 'found late: nobody is woken');
  t.same(settle(incident({ told: untold, members: [member('a', over(8_000))] }), 9_000, false).messages, []);
});

void t.test('an incident that goes on says so', async (t) => {
  const resolved = incident({ status: 'resolved', resolution: 'auto', resolvedMs: 4_000 });
  t.match(settle(resolved, 9_000, false), {
    incident: { status: 'open', resolution: null, resolvedMs: null },
    messages: [{ kind: 'updated', reason: 'reopened' }],
  });
});

void t.test('what a person resolved stays so, and its recovery is told once', async (t) => {
  const { incident: byHand, messages } = resolveByHand(incident(), 6_000);
  t.same(kinds(messages), ['resolved']);
  t.match(byHand, { status: 'resolved', resolution: 'manual', resolvedMs: 6_000 });
  t.same(resolveByHand(byHand, 7_000).messages, [], 'once');
  const lasting = settle(byHand, 8_000, false);
  t.match(lasting, { incident: { status: 'resolved', resolvedMs: 6_000 }, messages: [] });
  const well = settle({ ...lasting.incident, members: [member('a', over(9_000))] }, 9_500, false);
  t.match(well, { incident: { resolution: 'manual', resolvedMs: 6_000 }, messages: [{ kind: 'recovered' }] });
  t.same(settle(well.incident, 9_900, false).messages, []);
});

void t.test('an incident by hand keeps its time, and its members end with it', async (t) => {
  const manual = incident({ isManual: true, title: 'mine', told: { ...untold, dueMs: 5_000 } });
  const opened = settle(manual, 5_000, false);
  t.match(opened, { incident: { title: 'mine', startedMs: 5_000 }, messages: [{ kind: 'opened' }] });
  const done = resolveByHand(opened.incident, 6_000);
  t.match(done, {
    incident: { resolution: 'manual', members: [{ endedMs: 6_000, resolution: 'manual' }] },
    messages: [{ kind: 'resolved' }],
  });
  t.same(settle(done.incident, 7_000, false).messages, [], 'nobody measures a recovery');
});

void t.test(
  'a maintenance holds the first message; at its end what lasts is told, and the rest is left to the all-clear',
  async (t) => {
    const due = incident({ told: { ...untold, dueMs: 8_000 } });
    const held = settle(due, 9_000, true);
    t.match(held, { incident: { told: { heldMs: 9_000, dueMs: null, seq: 0 } }, messages: [] });
    t.same(settle(held.incident, 9_100, false).messages, [], 'not before it is released');
    t.same(kinds(settle(released(held.incident, 10_000), 10_000, false).messages), ['opened']);
    t.match(
      settle(released(held.incident, 10_000), 10_000, true).incident,
      { told: { heldMs: 10_000 } },
      'another one',
    );
    const ended = settle({ ...held.incident, members: [member('a', over(9_500))] }, 9_600, true);
    t.same(ended.messages, []);
    t.match(released(ended.incident, 10_000), { told: { heldMs: null, dueMs: null } });
    t.same(settle(released(ended.incident, 10_000), 10_000, false).messages, []);
  },
);

void t.test(
  'who joins inside of a maintenance is told of when it is over, and looked at once a minute until then',
  async (t) => {
    const joined = incident({
      members: [member('a'), member('b')],
      told: { ...untold, seq: 1, atMs: 1_000, members: 1, dueMs: 61_000 },
    });
    t.match(settle(joined, 60_999, true), { incident: { told: { dueMs: 61_000 } }, messages: [] });
    const held = settle(joined, 61_000, true);
    t.match(held, { incident: { told: { dueMs: 121_000 } }, messages: [] });
    t.same(kinds(settle(held.incident, 121_000, false).messages), ['updated']);
  },
);

void t.test('nothing is told of an incident that was deleted', async (t) => {
  const deleted = incident({ isDeleted: true, members: [member('a', over(9_000))] });
  t.match(settle(deleted, 9_000, false), { incident: { status: 'resolved' }, messages: [] });
});

void t.test('a title is at most 200 characters, and what happened is not cut', async (t) => {
  const title = titleOfMany([member('a', { title: '😀'.repeat(200) }), member('b'), member('b')]);
  t.equal(Array.from(title).length, 200);
  t.match(title, /…, and 1 more$/);
});
