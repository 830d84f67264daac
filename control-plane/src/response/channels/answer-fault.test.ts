import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { answerFault } from './answer-fault.ts';
import { retryAfterMs } from './retry-after.ts';

const nowMs = Date.parse('2026-03-01T00:00:00Z');
const fault = (status: number, headers: Record<string, string> = {}) =>
  answerFault({ status, headers }, { service: 'The service', nowMs });

void t.test('statuses mean what they usually mean', async (t) => {
  for (const [status, code, what] of [
    [400, 'refused_message', 'message'],
    [401, 'refused_credentials', 'configuration'],
    [403, 'refused_credentials', 'configuration'],
    [404, 'unknown_target', 'target'],
    [408, 'service_unavailable', 'passing'],
    [410, 'unknown_target', 'target'],
    [413, 'refused_message', 'message'],
    [429, 'rate_limited', 'passing'],
    [500, 'service_unavailable', 'passing'],
    [503, 'service_unavailable', 'passing'],
    [199, 'unexpected_status', 'passing'],
  ] as const) {
    t.match(fault(status), { code, fault: what }, String(status));
  }
});

void t.test('what is asked to wait is kept, in seconds or until a date', async (t) => {
  t.equal(fault(429, { 'retry-after': '7' }).retryAfterMs, 7_000);
  t.equal(fault(503, { 'retry-after': 'Sun, 01 Mar 2026 00:01:00 GMT' }).retryAfterMs, 60_000);
  t.equal(fault(503, { 'retry-after': 'Sun, 01 Feb 2026 00:01:00 GMT' }).retryAfterMs, 0, 'what is over is over');
  t.equal(fault(429, { 'retry-after': 'soon' }).retryAfterMs, undefined);
  t.equal(
    fault(400, { 'retry-after': '7' }).retryAfterMs,
    undefined,
    'of what is not tried again nothing is waited for',
  );
  t.equal(retryAfterMs({ 'retry-after': '999999999' }, nowMs), 86_400_000, 'a day at most');
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = retryAfterMs({ 'retry-after': text }, nowMs);
      return ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= 86_400_000);
    }),
  );
});

void t.test('what a service says stands in one short line', async (t) => {
  const reason = `line one\r\nline two ${'x'.repeat(500)}`;
  const { message } = answerFault({ status: 400, headers: {} }, { service: 'X', nowMs, reason });
  t.notMatch(message, /[\r\n]/);
  t.ok(message.length < 300);
});
