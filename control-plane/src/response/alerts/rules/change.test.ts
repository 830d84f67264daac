import { createAlertSchema, updateAlertSchema } from '@parallax/api-contract';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { sameCovered } from '../../maintenance/index.ts';
import { coveredOf, targetRight, valuesOf } from './change.ts';
import type { AlertRow } from './row.ts';
import { givenTarget, shownTarget } from './targets.ts';
import type { StoredTarget } from './targets.ts';
import { changedValues, createdValues, mayTellMore, mutedUntil, placedTargets } from './values.ts';

const own = { email: 'me@example.com' } as const;
const nowMs = Date.parse('2026-01-05T10:00:00Z');
const mask = ({ target }: StoredTarget): string => `${target.slice(0, 1)}…`;

const target = fc.record({
  channel: fc.constantFrom('email', 'sms', 'team-chat'),
  config_id: fc.option(fc.integer({ min: 1, max: 3 })),
  target: fc.constantFrom('anna', 'alex', 'boris', 'b'),
  locale: fc.constantFrom('en', 'ru', null),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', null),
});
const steps = fc
  .array(fc.array(target, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((each) => each.map((targets, index) => ({ after_seconds: index * 60, targets })));
const failover = fc.option(target);

const row = (given: Pick<AlertRow, 'steps' | 'failover'>, more: Partial<AlertRow> = {}): AlertRow => ({
  id: 1,
  workspace_id: 1,
  owner_id: 1,
  owner: { id: 1, display_name: null },
  name: 'x',
  description: '',
  is_active: true,
  is_default: false,
  covers_all: false,
  tags: ['web'],
  subjects: [{ type: 'monitor', id: 3 }],
  group_ids: [2],
  events: ['monitor.down'],
  notify_on_recovery: true,
  min_duration_seconds: 0,
  reminder_interval_seconds: null,
  quiet_hours: null,
  muted_until: null,
  version: 1,
  created_at: nowMs,
  updated_at: nowMs,
  ...given,
  ...more,
});

void t.test('nobody but the owner has anything sent elsewhere by the configurations of the owner', async (t) => {
  fc.assert(
    fc.property(
      steps,
      failover,
      fc.option(steps, { nil: undefined }),
      fc.option(failover, { nil: undefined }),
      (now, other, given, otherGiven) => {
        const alert = row({ steps: now, failover: other });
        const body = {
          ...(given === undefined ? {} : { steps: given }),
          ...(otherGiven === undefined ? {} : { failover: otherGiven }),
        };
        try {
          return targetRight(alert, body, 2, own, mask) === 'unchanged';
        } catch {
          // Refused: then it says something else than what is shown.
          const shown = now.map((step) => ({ ...step, targets: step.targets.map((one) => shownTarget(one, mask)) }));
          return JSON.stringify(body.steps ?? shown) !== JSON.stringify(shown) || otherGiven !== undefined;
        }
      },
    ),
  );
  const alert = row({
    steps: [{ after_seconds: 0, targets: [givenTarget({ channel: 'email' }, own)] }],
    failover: null,
  });
  const shown = { ...givenTarget({ channel: 'email' }, own), target: 'm…' };
  t.equal(
    targetRight(alert, { steps: [{ after_seconds: 0, targets: [shown] }], failover: null }, 2, own, mask),
    'unchanged',
  );
  t.equal(targetRight(alert, { failover: shown }, 1, own, mask), 'owner');
  t.equal(targetRight({ ...alert, owner: null }, { steps: [] }, 2, own, mask), 'takes_over');
  t.throws(() => targetRight({ ...alert, owner: null }, { failover: shown }, 2, own, mask), { code: 'forbidden' });
});

void t.test(
  'what an alert was made of changes nothing when it is sent again, and null goes back to the default',
  async (t) => {
    const body = createAlertSchema.parse({
      workspace_id: 1,
      name: ' Night ',
      steps: [{ targets: [{ channel: 'email' }] }],
      quiet_hours: { timezone: 'Asia/Tokyo', windows: [{ days: [7, 1], start: '22:00', end: '07:00' }] },
      reminder_interval_seconds: 600,
      muted_until: '2026-01-06T10:00:00Z',
    });
    const made = createdValues(body, own, nowMs);
    t.match(made, {
      name: 'Night',
      steps: [{ after_seconds: 0, targets: [{ target: own.email, locale: null, timezone: null }] }],
      quiet_hours: { except_severity: 'critical', windows: [{ days: [1, 7] }] },
      muted_until: nowMs + 86_400_000,
    });
    const { workspace_id: _workspace, scope: _scope, ...same } = body;
    t.same(changedValues(made, updateAlertSchema.parse(same), own, nowMs), {});
    const cleared = { reminder_interval_seconds: null, quiet_hours: null, muted_until: null, failover: null };
    t.same(changedValues(made, updateAlertSchema.parse(cleared), own, nowMs), {
      reminder_interval_seconds: null,
      quiet_hours: null,
      muted_until: null,
    });
    t.same(
      placedTargets({ steps: made.steps, failover: givenTarget({ channel: 'sms' }, own) }).map(({ path }) => path),
      ['/steps/0/targets/0', '/failover'],
    );
  },
);

void t.test('scopes that name the same are the same, and what lets an alert tell more is known', async (t) => {
  const covered = coveredOf(row({ steps: [], failover: null }));
  t.same(covered, { all: false, monitorIds: [3], heartbeatIds: [], webhookCheckIds: [], groupIds: [2], tags: ['web'] });
  t.ok(sameCovered(covered, { ...covered, monitorIds: [3, 3], tags: ['web'] }));
  t.notOk(sameCovered(covered, { ...covered, heartbeatIds: [3] }));
  t.notOk(sameCovered(covered, { ...covered, tags: ['Web'] }));
  const values = valuesOf(row({ steps: [], failover: null }));
  t.ok(mayTellMore({ muted_until: null }, true));
  t.notOk(mayTellMore({ muted_until: null }, false));
  t.notOk(mayTellMore({ name: values.name }, true));
});

void t.test('a snooze ends at a time to come, a year ahead at most', async (t) => {
  t.equal(mutedUntil({ minutes: 5 }, nowMs), nowMs + 300_000);
  t.equal(mutedUntil({ until: '2026-01-05T10:00:00.001Z' }, nowMs), nowMs + 1);
  t.throws(() => mutedUntil({ until: '2026-01-05T10:00:00Z' }, nowMs), { code: 'invalid_input' });
  t.throws(() => mutedUntil({ until: '2027-01-07T10:00:00Z' }, nowMs), { code: 'invalid_input' });
});
