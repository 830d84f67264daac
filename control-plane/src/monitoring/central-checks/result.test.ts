import type { CheckOutcome } from '@parallax/checks';
import t from 'tap';
import { isNews, seen, toCentralResult } from './result.ts';
import type { LastSeen } from './result.ts';

const answer: CheckOutcome = { outcome: 'ok', total: 1_000, phases: { connect: 10.4 } };
const failure = (code: 'connect_refused' | 'http_status'): CheckOutcome => ({
  outcome: 'fail',
  total: 5,
  phases: {},
  source: 'target',
  code,
  message: 'm'.repeat(5_000),
  evidence: { status: 503, body: 'b'.repeat(4_000), headers: [['h', 'x'.repeat(60_000)]] },
});

void t.test('evidence is kept of a first failure and when its code changes', async (t) => {
  let last: LastSeen | undefined;
  const news = [
    answer,
    failure('connect_refused'),
    failure('connect_refused'),
    failure('http_status'),
    answer,
    failure('http_status'),
  ].map((outcome) => {
    const isNew = isNews(last, outcome);
    last = seen(last, outcome);
    return isNew;
  });
  t.same(news, [false, true, false, true, false, true]);
});

void t.test(
  'a result carries its origin and its own freshness; evidence that is too large loses its headers',
  async (t) => {
    const facts = {
      monitorId: 3,
      probeRevision: 4,
      freshS: 155,
      isFallback: true,
      kind: 'recheck',
      startedMs: 1_234.5674,
      isNew: true,
    } as const;
    const result = toCentralResult(facts, failure('http_status'));
    t.match(result, {
      monitorId: 3,
      probeRevision: 4,
      freshS: 155,
      isFallback: true,
      kind: 'recheck',
      effectiveUs: 1_234_567,
      error: 52,
    });
    t.equal(result.evidence?.message.length, 1_000);
    t.same(Object.keys(JSON.parse(result.evidence?.json ?? '') as object), ['status', 'body']);
    const good = toCentralResult({ ...facts, isNew: false }, answer);
    t.match(good, { outcome: 'ok', error: 0, connectUs: 10, evidence: undefined });
  },
);
