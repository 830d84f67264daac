import t from 'tap';
import type { Part } from './queries.ts';
import { stillHolds } from './still-holds.ts';

const part = (more: Partial<Part>): Part =>
  ({
    kind: 'opened',
    ended_at: null,
    is_lasting: true,
    acknowledged_at: null,
    is_undecided: false,
    is_snoozed: false,
    ...more,
  }) as Part;

void t.test('what does not hold any more is not sent', async (t) => {
  t.equal(stillHolds(part({})), 'send');
  t.equal(stillHolds(part({ ended_at: 1, is_undecided: true })), 'wait');
  t.equal(stillHolds(part({ ended_at: 1 })), 'send', 'it was decided on: nothing else says it');
  t.same(stillHolds(part({ kind: 'escalated', acknowledged_at: 1 })), { suppress: 'acknowledged' });
  t.same(stillHolds(part({ kind: 'reminder', acknowledged_at: 1 })), { suppress: 'acknowledged' });
  t.same(stillHolds(part({ kind: 'reminder', ended_at: 1 })), { suppress: 'over' });
  t.same(stillHolds(part({ kind: 'updated', is_snoozed: true })), { suppress: 'snoozed' });
  t.equal(stillHolds(part({ kind: 'resolved', ended_at: 1, is_snoozed: true })), 'send');
});
