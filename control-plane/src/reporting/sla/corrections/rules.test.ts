import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { requireCorrectable } from './rules.ts';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-04-01T00:00:00Z');

function errorsOf(startedMs: number, endedMs: number): unknown {
  try {
    requireCorrectable({ startedMs, endedMs }, nowMs);
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, message: error.message, errors: error.errors };
    throw error;
  }
  return undefined;
}

t.test('a time of a millisecond to 90 days that is over can be corrected', async (t) => {
  t.equal(errorsOf(nowMs - 1, nowMs), undefined);
  t.equal(errorsOf(nowMs - 90 * dayMs, nowMs), undefined);
});

t.test('no other can, and why is said', async (t) => {
  const wrong = (code: string, message: string) => ({
    code: 'invalid_input',
    message,
    errors: [{ in: 'body', path: '/ended_at', code, message }],
  });
  const order = wrong('order', 'ended_at must be later than started_at, by a millisecond at least');
  t.same(errorsOf(nowMs - 5, nowMs - 5), order);
  t.same(errorsOf(nowMs - 5, nowMs - 6), order);
  t.same(errorsOf(nowMs - 5, nowMs + 1), wrong('future', 'ended_at lies in the future'));
  t.same(errorsOf(nowMs - 90 * dayMs - 1, nowMs), wrong('too_long', 'a correction covers 90 days at most'));
});
