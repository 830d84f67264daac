import t from 'tap';
import type { Outcome } from '@parallax/checks';
import { medianMs, verdictOf } from './verdict.ts';

const seats = [1, 2, 3].map((probeId) => ({ probeId, region: `r${probeId}`, supplement: false }));
const answers = (...outcomes: Outcome[]) =>
  outcomes.map((outcome, index) => ({ probeId: index + 1, outcome, totalUs: (index + 1) * 1_000 }));

void t.test('the answers of one check are judged by the rules of the consensus', async (t) => {
  const cases: [Outcome[], string][] = [
    [['ok', 'ok', 'ok'], 'UP'],
    [['ok', 'ok', 'fail'], 'PARTIAL'],
    [['fail', 'ok', 'fail'], 'DOWN'],
    [['timeout', 'timeout', 'ok'], 'TIMEOUT'],
    [['slow', 'slow', 'ok'], 'DEGRADED'],
    [['ok', 'warn', 'ok'], 'WARNING'],
    [['probe_error', 'probe_error', 'probe_error'], 'UNKNOWN'],
    [['fail'], 'PARTIAL'],
    [['ok'], 'UP'],
  ];
  for (const [outcomes, status] of cases)
    t.equal(verdictOf(seats, answers(...outcomes), 'majority'), status, outcomes.join());
  t.equal(verdictOf(seats, answers('ok', 'ok', 'fail'), 'any'), 'DOWN');
  t.equal(verdictOf(seats, answers('fail', 'ok', 'fail'), 'all'), 'PARTIAL');
  t.equal(verdictOf(seats, [], 'majority'), 'UNKNOWN');
});

void t.test('without probes the control plane alone decides', async (t) => {
  t.equal(verdictOf([], [{ probeId: 0, outcome: 'fail', totalUs: 1 }], 'majority'), 'DOWN');
  t.equal(verdictOf([], [{ probeId: 0, outcome: 'ok', totalUs: 1 }], 'majority'), 'UP');
});

void t.test('the response time is the median of what was answered', async (t) => {
  t.equal(medianMs(answers('ok', 'ok', 'ok')), 2);
  t.equal(medianMs(answers('ok', 'slow')), 1.5);
  t.equal(medianMs(answers('ok', 'fail', 'timeout')), 1);
  t.equal(medianMs(answers('fail', 'timeout')), 1.5);
  t.equal(medianMs(answers('probe_error', 'skipped')), null);
});
