import t from 'tap';
import type { Happenings } from '../../view/happenings.gateway.ts';
import type { IncidentView, UpdateView } from '../../view/page-view.ts';
import type { StoredOccurrence } from '../../view/public-maintenance.ts';
import { newsOf, openSubjects } from './news.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = 100 * dayMs;

const update = (fields: Partial<UpdateView> = {}): UpdateView => ({
  id: 'u1',
  status: 'identified',
  body: 'A switch is broken.',
  createdMs: nowMs - hourMs,
  displayMs: nowMs - hourMs,
  impacts: [],
  ...fields,
});
const incident = (fields: Partial<IncidentView> = {}): IncidentView => ({
  id: 'i1',
  title: null,
  status: 'investigating',
  impact: 'major',
  isAutomatic: true,
  startedMs: nowMs - hourMs,
  resolvedMs: null,
  createdMs: nowMs - hourMs,
  updatedMs: nowMs - hourMs,
  componentIds: ['c1'],
  componentNames: ['Checkout'],
  updates: [],
  postmortem: null,
  ...fields,
});
const occurrence = (fields: Partial<StoredOccurrence> = {}): StoredOccurrence => ({
  publicId: 'm1',
  isPublic: true,
  publicTitle: 'New disks',
  publicText: null,
  startsMs: nowMs + 5 * hourMs,
  endsMs: nowMs + 6 * hourMs,
  endedMs: null,
  hasStarted: false,
  changedMs: nowMs - hourMs,
  componentIds: ['c1'],
  ...fields,
});
const happenings = (fields: Partial<Happenings>): Happenings => ({
  notifiesAutomatic: true,
  incidents: [],
  occurrences: [],
  names: new Map([['c1', 'Checkout']]),
  ...fields,
});
const keys = (given: Happenings, at = nowMs): string[] => newsOf(given, at).map(({ key }) => key);

void t.test('the beginning, what people wrote and the end of an incident are news, the oldest first', async (t) => {
  const begin = update({ status: 'investigating', body: null });
  const end = update({ status: 'resolved', body: null, createdMs: nowMs, displayMs: nowMs });
  const written = update({ createdMs: nowMs - 60_000 });
  const one = incident({ resolvedMs: nowMs, updates: [end, written, begin] });
  t.same(keys(happenings({ incidents: [one] })), ['begin', 'update u1', 'end']);
  t.same(keys(happenings({ incidents: [one], notifiesAutomatic: false })), ['update u1']);
  const byHand = { ...one, isAutomatic: false };
  t.equal(
    keys(happenings({ incidents: [byHand], notifiesAutomatic: false })).length,
    3,
    'one by hand is not automatic',
  );
  t.same(keys(happenings({ incidents: [{ ...one, updates: [{ ...written, isQuiet: true }] }] })), []);
  t.same(openSubjects(happenings({ incidents: [one, incident({ id: 'i2' })] })), ['incident i2']);
});

void t.test('what is older than a day is no news, be it filed today or not', async (t) => {
  const old = nowMs - dayMs;
  t.same(keys(happenings({ incidents: [incident({ updates: [update({ createdMs: old })] })] })), []);
  const filed = update({ body: null, status: 'investigating', createdMs: nowMs, displayMs: old });
  t.same(keys(happenings({ incidents: [incident({ updates: [filed] })] })), []);
  const shownEarlier = update({ displayMs: old });
  t.equal(keys(happenings({ incidents: [incident({ updates: [shownEarlier] })] })).length, 1);
});

void t.test('maintenance is told by its plan, its reminder, its beginning and its end', async (t) => {
  const of = (fields: Partial<StoredOccurrence>, at?: number): string[] =>
    keys(happenings({ occurrences: [occurrence(fields)] }), at).map((key) => key.split(' ')[0] ?? '');
  t.same(of({}), ['scheduled']);
  t.same(of({ remindMs: 4 * hourMs }), ['scheduled']);
  t.same(of({ remindMs: 4 * hourMs }, nowMs + hourMs), ['scheduled', 'reminder']);
  t.same(of({ remindMs: 24 * hourMs }), ['scheduled'], 'what was just announced needs no reminder');
  t.same(of({ hasStarted: true, startsMs: nowMs - 1 }), ['in_progress']);
  t.same(of({ hasStarted: true, startsMs: nowMs - hourMs, endedMs: nowMs - 1 }), ['completed']);
  t.same(of({ startsMs: nowMs - 1 }), [], 'it begins when it has begun');
  t.same(of({ isPublic: false }), []);
  t.same(of({ componentIds: [] }), []);
  const farAhead = { changedMs: nowMs - 60 * dayMs, startsMs: nowMs + 30 * dayMs - hourMs };
  t.same(of(farAhead), ['scheduled'], 'it comes into sight when it is 30 days ahead');
});

void t.test('a series is announced once, and a move of a single one anew', async (t) => {
  const series = [5, 29, 53].map((hours) => occurrence({ startsMs: nowMs + hours * hourMs, isRecurring: true }));
  t.same(new Set(keys(happenings({ occurrences: series }))), new Set(['scheduled']));
  const [before, after] = [5, 6].map((hours) =>
    keys(happenings({ occurrences: [occurrence({ startsMs: nowMs + hours * hourMs })] })).join(),
  );
  t.not(before, after);
});
