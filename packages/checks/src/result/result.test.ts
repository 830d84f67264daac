import t from 'tap';
import { outcomes } from '../outcome.ts';
import type { CheckOutcome } from '../outcome.ts';
import { maxEvidenceCharacters, outcomeColumns } from './columns.ts';
import { Novelty } from './novelty.ts';
import { freshSeconds, verdictOf } from './verdict.ts';

const answer: CheckOutcome = { outcome: 'ok', total: 1_000.4, phases: { connect: 10.4 } };
const failure = (code: 'connect_refused' | 'http_status'): CheckOutcome => ({
  outcome: 'fail',
  total: 5,
  phases: {},
  source: 'target',
  code,
  message: 'm'.repeat(5_000),
  evidence: { status: 503, body: 'b'.repeat(30_000), headers: [['h', 'x'.repeat(60_000)]] },
});
const made = { nowMs: 0, probeRevision: 1 };
const ownError: CheckOutcome = { outcome: 'probe_error', total: 1, phases: {}, source: 'probe', code: 'probe_uplink' };

void t.test('what outcomes mean for a streak', async (t) => {
  const meanings = outcomes.map((outcome) => `${outcome} ${verdictOf(outcome)}`);
  t.same(meanings.sort(), [
    'fail failing',
    'ok good',
    'probe_error neutral',
    'skipped neutral',
    'slow good',
    'timeout failing',
    'warn good',
  ]);
});

void t.test('a vote lasts two and a half times its cadence, ten seconds at least, and the timeout', async (t) => {
  t.equal(freshSeconds(1, 2), 12);
  t.equal(freshSeconds(5, 0), 13);
  t.equal(freshSeconds(60, 7), 157);
});

void t.test('numbers are whole and bounded, and evidence that is too large loses what is largest', async (t) => {
  t.same(outcomeColumns(answer, false), {
    outcome: 'ok',
    source: undefined,
    error: 0,
    totalUs: 1_000,
    dnsUs: undefined,
    connectUs: 10,
    tlsUs: undefined,
    firstByteUs: undefined,
    transferUs: undefined,
    evidence: undefined,
  });
  t.match(outcomeColumns({ ...answer, total: 1e18, phases: { dns: -5 } }, false), { totalUs: 4e9, dnsUs: 0 });
  const { evidence } = outcomeColumns(failure('http_status'), true);
  t.equal(evidence?.message.length, 1_000);
  t.same(Object.keys(JSON.parse(evidence?.json ?? '') as object), ['status', 'body']);
  t.ok((evidence?.json.length ?? 0) <= maxEvidenceCharacters);
  const huge = outcomeColumns(
    { ...failure('http_status'), evidence: { address: 'a', body: 'b'.repeat(50_000) } },
    true,
  );
  t.equal(huge.evidence?.json, '{"address":"a"}');
});

void t.test('new is a first failure, another code, a first warning; a turn cannot wait', async (t) => {
  const novelty = new Novelty();
  const told = [
    answer,
    failure('connect_refused'),
    failure('connect_refused'),
    ownError,
    failure('connect_refused'),
    failure('http_status'),
    answer,
    answer,
    failure('http_status'),
  ].map((outcome) => {
    const { isNew, isUrgent } = novelty.take(1, outcome, made);
    return `${isNew ? 'new' : 'known'} ${isUrgent ? 'urgent' : 'waits'}`;
  });
  t.same(told, [
    'known urgent',
    'new urgent',
    'known waits',
    'new waits',
    'new urgent',
    'new urgent',
    'known urgent',
    'known waits',
    'new urgent',
  ]);
  const atStep = (step: number) => ({ ...failure('http_status'), evidence: { details: { failed_step: step } } });
  t.same(
    [1, 1, 2, 2].map((step) => novelty.take(3, atStep(step), made).isNew),
    [true, false, true, false],
    'another step of several is another failure',
  );
  novelty.presumeGood(2);
  t.same(novelty.take(2, answer, made), { isNew: false, isUrgent: false });
  novelty.forget(1);
  t.same(novelty.take(1, failure('http_status'), made), { isNew: true, isUrgent: true });
});
