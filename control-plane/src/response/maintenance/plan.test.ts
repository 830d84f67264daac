import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { judgePlan } from './plan.ts';
import type { GivenTimes } from './plan.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const good: GivenTimes = { starts_at: '2026-03-02T02:00:00Z', duration_seconds: 3_600 };

const refusal = (given: Partial<GivenTimes>): string | undefined => {
  try {
    judgePlan({ ...good, ...given }, nowMs);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [first] = error.errors ?? [];
    return `${first?.path} ${first?.code}`;
  }
};

void t.test('a window is from a minute to 31 days long, and begins now or later', async (t) => {
  t.match(judgePlan(good, nowMs), {
    durationSeconds: 3_600,
    zone: 'UTC',
    next: { endsMs: Date.parse('2026-03-02T03:00:00Z') },
  });
  t.equal(refusal({ starts_at: '2026-03-01T11:55:00Z' }), undefined, 'five minutes ago');
  t.equal(refusal({ starts_at: '2026-03-01T11:54:59Z' }), '/starts_at too_early');
  t.equal(refusal({ starts_at: '2126-03-01T12:00:00Z' }), '/starts_at too_late');
  const until = (ends_at: string) => refusal({ duration_seconds: null, ends_at });
  t.equal(until('2026-03-02T02:01:00Z'), undefined);
  t.equal(until('2026-03-02T02:00:59Z'), '/ends_at too_short');
  t.equal(until('2026-03-02T02:00:00Z'), '/ends_at too_early');
  t.equal(until('2026-03-01T02:00:00Z'), '/ends_at too_early', 'it ends before it begins');
  t.equal(until('2026-04-02T02:00:00Z'), undefined);
  t.equal(until('2026-04-02T02:00:01Z'), '/ends_at too_long');
  t.equal(until('2126-03-02T02:00:00Z'), '/ends_at too_long', '100 years');
  t.equal(refusal({ duration_seconds: null }), '/duration_seconds required');
  t.equal(refusal({ ends_at: '2026-03-02T03:00:00Z' }), '/ends_at conflict');
});

void t.test('local times are those of the zone; one that clocks skip is shifted, and begins no series', async (t) => {
  const local = { starts_at: '2026-03-29T02:30:00', timezone: 'Europe/Berlin' };
  t.match(judgePlan({ ...good, ...local }, nowMs), { startsMs: Date.parse('2026-03-29T01:30:00Z'), isShifted: true });
  t.equal(refusal({ ...local, rrule: 'FREQ=DAILY' }), '/starts_at no_such_time');
  const overlap = judgePlan({ ...good, ...local, starts_at: '2026-10-25T02:30:00' }, nowMs);
  t.equal(overlap.startsMs, Date.parse('2026-10-25T00:30:00Z'), 'the first of two');
  for (const timezone of ['Europe/Atlantis', '+02:00', 'CET-1CEST', '', 'x'.repeat(100)])
    t.equal(refusal({ timezone }), '/timezone timezone', timezone);
});

void t.test('a series begins with an occurrence, has one to come, and does not run into itself', async (t) => {
  t.equal(refusal({ rrule: 'FREQ=WEEKLY;BYDAY=MO' }), undefined);
  t.equal(refusal({ rrule: 'FREQ=WEEKLY;BYDAY=TU' }), '/starts_at not_of_rule');
  t.equal(refusal({ rrule: 'FREQ=MINUTELY' }), '/rrule rrule');
  t.equal(refusal({ rrule: 'FREQ=DAILY;UNTIL=20200101' }), '/starts_at not_of_rule');
  t.equal(refusal({ rrule: 'FREQ=DAILY;COUNT=1', exdates: ['2026-03-02T02:00:00Z'] }), '/rrule never');
  t.equal(refusal({ rrule: 'FREQ=DAILY', duration_seconds: 90_000 }), '/rrule rrule');
  t.equal(refusal({ exdates: ['2026-03-02T02:00:00Z'] }), '/exdates without_rrule');
});

void t.test('of what began before, only what is to come is planned', async (t) => {
  const old = { starts_at: '2026-02-01T11:30:00Z', duration_seconds: 3_600, rrule: 'FREQ=DAILY' };
  t.match(
    judgePlan(old, nowMs, true),
    { next: { startsMs: Date.parse('2026-03-02T11:30:00Z') } },
    'not the one of today, which has begun',
  );
  t.match(judgePlan({ ...old, rrule: null }, nowMs, true), { next: null });
  const afterMs = Date.parse('2026-03-02T11:30:00Z');
  t.match(judgePlan(old, nowMs, true, afterMs), { next: { startsMs: Date.parse('2026-03-03T11:30:00Z') } });
});
