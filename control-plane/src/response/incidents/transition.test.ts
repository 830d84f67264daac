import t from 'tap';
import { decideIncident, titleOf } from './transition.ts';
import type { Transition } from './transition.ts';

const at = '2026-03-01T10:00:00.000Z';
const atMs = Date.parse(at);
const monitor = { name: 'Shop', isPaused: false, isDeleted: false };
const transition = (to: Transition['to'], more: Partial<Transition> = {}): Transition => ({
  monitor_id: 1,
  workspace_id: 1,
  from: 'UP',
  to,
  at,
  detected_at: at,
  evidence: {},
  ...more,
});

const detected = (minutes: number) => new Date(atMs + minutes * 60_000).toISOString();

void t.test('a confirmed outage opens an incident dated back to its onset', async (t) => {
  const onset = '2026-03-01T09:59:40.000Z';
  t.match(decideIncident(transition('DOWN', { range_started_at: onset }), monitor, undefined), {
    kind: 'open',
    startedMs: Date.parse(onset),
    title: 'Shop is down',
  });
  t.match(decideIncident(transition('TIMEOUT'), monitor, undefined), { kind: 'open', cause: { status: 'TIMEOUT' } });
});

void t.test('an open incident stays through PARTIAL and UNKNOWN and ends on an answer', async (t) => {
  const open = { startedMs: atMs - 60_000 };
  for (const to of ['PARTIAL', 'UNKNOWN'] as const)
    t.same(decideIncident(transition(to), monitor, open), { kind: 'nothing' });
  for (const to of ['UP', 'WARNING', 'DEGRADED'] as const) {
    t.same(decideIncident(transition(to), monitor, open), { kind: 'resolve', resolution: 'auto', atMs });
    t.same(decideIncident(transition(to), monitor, undefined), { kind: 'nothing' });
  }
});

void t.test('one that was good all the time is corrected, as of when that was noticed', async (t) => {
  for (const startedMs of [atMs, atMs + 5]) {
    const decided = decideIncident(transition('UP', { detected_at: detected(2) }), monitor, { startedMs });
    t.same(decided, { kind: 'resolve', resolution: 'corrected', atMs: atMs + 120_000 });
  }
});

void t.test('the onset of an open incident moves back only', async (t) => {
  t.same(decideIncident(transition('DOWN'), monitor, { startedMs: atMs - 1 }), { kind: 'nothing' });
  t.same(decideIncident(transition('TIMEOUT'), monitor, { startedMs: atMs + 1 }), {
    kind: 'move_onset',
    startedMs: atMs,
  });
});

void t.test('an outage that began before the last incident ended is that incident, which goes on', async (t) => {
  const ended = { id: 7, startedMs: atMs - 60_000, resolvedMs: atMs + 1 };
  t.same(decideIncident(transition('DOWN'), monitor, undefined, ended), {
    kind: 'reopen',
    incidentId: 7,
    startedMs: atMs - 60_000,
  });
  t.match(decideIncident(transition('DOWN'), monitor, undefined, { ...ended, startedMs: atMs + 1 }), {
    startedMs: atMs,
  });
  t.match(decideIncident(transition('DOWN'), monitor, undefined, { ...ended, resolvedMs: atMs }), { kind: 'open' });
  t.match(decideIncident(transition('DOWN'), { ...monitor, isPaused: true }, undefined, ended), { kind: 'nothing' });
});

void t.test('nothing is opened for a monitor that is paused or deleted by now', async (t) => {
  t.same(decideIncident(transition('DOWN'), { ...monitor, isPaused: true }, undefined), { kind: 'nothing' });
  t.same(decideIncident(transition('DOWN'), { ...monitor, isDeleted: true }, undefined), { kind: 'nothing' });
});

void t.test('a title fits whatever the name', async (t) => {
  t.equal(titleOf('Shop', 'TIMEOUT'), 'Shop does not answer in time');
  const long = titleOf('ö'.repeat(200), 'DOWN');
  t.equal(long.length, 200);
  t.match(long, /… is down$/);
});
