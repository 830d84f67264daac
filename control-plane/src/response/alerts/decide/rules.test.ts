import t from 'tap';
import { failoverAfterMs, failoverOf } from './failover.ts';
import { matches } from './matches.ts';
import { matchesScope } from './matches-scope.ts';
import { untold } from './problem.ts';
import { retryAtMs } from './retry.ts';
import { alert, occasion, target } from './testing.ts';

const none = {
  all: false,
  tags: [],
  monitorIds: new Set<number>(),
  groupIds: new Set<number>(),
  heartbeatIds: new Set<number>(),
  webhookCheckIds: new Set<number>(),
};

void t.test('a scope covers what it names, members of its groups, and what has its tags', async (t) => {
  const monitor = { type: 'monitor', id: 7, tags: ['db'], groupIds: [3] };
  t.ok(matchesScope({ ...none, all: true }, monitor));
  t.ok(matchesScope({ ...none, monitorIds: new Set([7]) }, monitor));
  t.ok(matchesScope({ ...none, groupIds: new Set([3]) }, monitor));
  t.ok(matchesScope({ ...none, tags: ['db'] }, monitor));
  t.notOk(matchesScope({ ...none, monitorIds: new Set([8]), tags: ['web'], heartbeatIds: new Set([7]) }, monitor));
  t.ok(matchesScope({ ...none, heartbeatIds: new Set([7]) }, { ...monitor, type: 'heartbeat' }));
  t.ok(matchesScope({ ...none, webhookCheckIds: new Set([7]) }, { ...monitor, type: 'webhook_check' }));
  t.notOk(matchesScope({ ...none, monitorIds: new Set([7]) }, { ...monitor, type: 'probe', tags: [] }));
});

void t.test('an alert wants an occasion when one subject is both in its scope and wanted', async (t) => {
  const subject = (id: number, event: string) => ({ type: 'monitor', id, event, tags: [], groupIds: [] });
  const two = occasion(0, { subjects: [subject(1, 'monitor.down'), subject(2, 'incident.opened')] });
  const scope = { ...none, monitorIds: new Set([2]) };
  t.notOk(matches(alert({ scope }), two), 'the one in scope is not wanted');
  t.ok(matches(alert({ scope: { ...none, monitorIds: new Set([1]) } }), two));
  t.ok(matches(alert({ scope, events: new Set(['incident.opened']) }), two));
  const byHand = occasion(0, { subjects: [] });
  t.ok(matches(alert({ events: new Set(['incident.opened']) }), byHand));
  t.notOk(matches(alert({ scope, events: new Set(['incident.opened']) }), byHand));
  const flaps = occasion(0, { event: 'monitor.flapping', subjects: [subject(1, 'monitor.flapping')] });
  t.ok(matches(alert(), flaps), 'who is told of outages is told that they come too often');
});

void t.test(
  'attempts come at 5, 30, 120, 600 and 1,800 s after one that failed, later where a service asks for it, and never where it is in vain',
  async (t) => {
    t.same(
      [1, 2, 3, 4, 5, 6, 7].map((attempts) => retryAtMs(attempts, 'passing', undefined, 0)),
      [5_000, 30_000, 120_000, 600_000, 1_800_000, null, null],
    );
    t.equal(retryAtMs(1, 'passing', 60_000, 0), 60_000);
    t.equal(retryAtMs(3, 'passing', 60_000, 0), 120_000);
    t.equal(retryAtMs(1, 'passing', 1e12, 0), 86_400_000);
    for (const fault of ['message', 'target', 'configuration'] as const) t.equal(retryAtMs(1, fault, 60_000, 0), null);
  },
);

void t.test('somebody stands in for who could not be told in a minute, or ever', async (t) => {
  const told = {
    ...untold({ alert: alert(), target: target('a'), step: 0, hold: null }),
    state: 'problem' as const,
    queuedMs: 1_000,
  };
  t.same(failoverOf(told, 2_000), { isDue: false, nextMs: 1_000 + failoverAfterMs });
  t.ok(failoverOf(told, 1_000 + failoverAfterMs).isDue);
  t.ok(failoverOf({ ...told, lostMs: 2_000 }, 2_000).isDue);
  t.notOk(failoverOf({ ...told, sentMs: 2_000 }, 1e9).isDue);
  t.notOk(failoverOf(undefined, 1e9).isDue);
});
