import type { CheckOutcome } from '@parallax/checks';
import t from 'tap';
import { toCentralResult } from './result.ts';

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

void t.test('a result carries its origin and its own freshness', async (t) => {
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
});
