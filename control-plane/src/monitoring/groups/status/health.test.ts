import t from 'tap';
import { countGroups, healthOf, statusOf } from './health.ts';

const none = { up: 0, down: 0, degraded: 0, unknown: 0, paused: 0 };

void t.test('the worst category of the members that are not paused is the health', async (t) => {
  t.equal(healthOf({ up: 9, degraded: 2, unknown: 3, down: 1, paused: 4 }), 'down');
  t.equal(healthOf({ ...none, up: 9, degraded: 2, unknown: 3 }), 'degraded');
  t.equal(healthOf({ ...none, up: 9, unknown: 3 }), 'unknown');
  t.equal(healthOf({ ...none, up: 1, paused: 8 }), 'up');
});

void t.test('of a group in which nothing is watched nothing is known', async (t) => {
  t.equal(healthOf(none), 'unknown');
  t.equal(healthOf({ ...none, paused: 3 }), 'unknown');
});

void t.test('a status says whether the group is paused and counts every member once', async (t) => {
  t.same(statusOf(false, { up: 1, down: 2, degraded: 3, unknown: 4, paused: 5 }), {
    status: 'active',
    health: 'down',
    counts: { total: 15, up: 1, down: 2, degraded: 3, unknown: 4, paused: 5 },
  });
  t.match(statusOf(true, { ...none, paused: 1 }), { status: 'paused', health: 'unknown', counts: { total: 1 } });
});

void t.test('groups are counted by health, paused ones apart', async (t) => {
  const groups = [
    { ...none, is_paused: true, paused: 2 },
    { ...none, is_paused: false, up: 1 },
    { ...none, is_paused: false, down: 1, up: 1 },
    { ...none, is_paused: false },
  ];
  t.same(countGroups(groups), {
    total: 4,
    active: 3,
    paused: 1,
    health: { down: 1, degraded: 0, unknown: 1, up: 1 },
  });
});
