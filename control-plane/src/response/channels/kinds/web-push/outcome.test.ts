import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { DeliveryError } from '../../delivery-error.ts';
import { outcomeOf, settle } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const nowMs = Date.parse('2026-03-01T00:00:00Z');
const of = (status: number, headers: Record<string, string> = {}, text = '') =>
  outcomeOf({ status, headers, text }, nowMs);

void t.test('what push services answer, and what it means', async (t) => {
  for (const status of [200, 201, 202, 204]) t.match(of(status), { kind: 'taken' }, String(status));
  for (const status of [404, 410]) t.match(of(status), { kind: 'gone' }, String(status));
  t.match(of(413), { kind: 'too_large' });
  for (const status of [401, 403]) {
    t.match(of(status), {
      error: { code: 'refused_credentials', fault: 'configuration', message: /Unsubscribe in the browser/ },
    });
  }
  for (const text of ['{"reason":"VapidPkHashMismatch"}', 'UnauthorizedRegistration']) {
    t.match(of(400, {}, text), { error: { code: 'refused_credentials', fault: 'configuration' } }, text);
  }
  t.match(of(400, {}, '{"reason":"BadTtl"}'), { error: { code: 'refused_message' } });
  t.match(of(429, { 'retry-after': '30' }), {
    error: { code: 'rate_limited', fault: 'passing', retryAfterMs: 30_000 },
  });
  t.match(of(429, { 'retry-after': 'Sun, 01 Mar 2026 00:01:00 GMT' }), { error: { retryAfterMs: 60_000 } });
  t.match(of(429, { 'retry-after': 'soon' }), { error: { retryAfterMs: undefined } });
  t.match(of(406), { error: { code: 'rate_limited', fault: 'passing' } });
  t.match(of(503, { 'retry-after': '5' }), {
    error: { code: 'service_unavailable', fault: 'passing', retryAfterMs: 5_000 },
  });
  t.match(of(400), { error: { code: 'refused_message', fault: 'message' } });
  t.match(of(418), { error: { code: 'refused_message', fault: 'message' } });
});

const failed = (fault: DeliveryError['fault'], retryAfterMs?: number): Outcome => ({
  kind: 'failed',
  error: new DeliveryError('internal', fault, fault, retryAfterMs),
});
const thrown = (outcomes: readonly Outcome[], target = 'all') => {
  try {
    settle(outcomes, target);
    return undefined;
  } catch (error) {
    return error;
  }
};

void t.test('one browser that took it is enough; else the fault that most can be done about', async (t) => {
  t.equal(thrown([{ kind: 'gone' }, failed('passing'), { kind: 'taken' }]), undefined);
  t.match(thrown([{ kind: 'gone' }, failed('configuration'), failed('passing', 7_000), failed('passing', 3_000)]), {
    fault: 'passing',
    retryAfterMs: 7_000,
  });
  t.match(thrown([failed('message'), failed('configuration')]), { fault: 'configuration' });
  t.match(thrown([{ kind: 'too_large' }, { kind: 'gone' }]), { fault: 'message', code: 'refused_message' });
  t.match(thrown([{ kind: 'gone' }, { kind: 'gone' }]), { fault: 'target', message: /No browser is subscribed/ });
  t.match(thrown([{ kind: 'gone' }], '17'), { fault: 'target', message: /Browser 17 / });
});

void t.test('the order of browsers decides nothing', async () => {
  const outcome = fc.constantFrom<Outcome>(
    { kind: 'taken' },
    { kind: 'gone' },
    { kind: 'too_large' },
    failed('passing'),
    failed('passing', 1_000),
    failed('configuration'),
    failed('message'),
  );
  const faultOf = (outcomes: readonly Outcome[]) => {
    const error = thrown(outcomes);
    return error instanceof DeliveryError ? [error.fault, error.retryAfterMs] : error;
  };
  fc.assert(
    fc.property(
      fc.array(outcome, { minLength: 1, maxLength: 6 }),
      (outcomes) => JSON.stringify(faultOf(outcomes)) === JSON.stringify(faultOf(outcomes.toReversed())),
    ),
  );
});
