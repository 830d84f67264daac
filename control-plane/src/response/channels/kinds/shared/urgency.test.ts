import t from 'tap';
import { messageKinds } from '../../../messages/index.ts';
import { urgencyOf } from './urgency.ts';

void t.test('only a problem that somebody has to act upon is loud', async (t) => {
  const loud = messageKinds.filter((kind) => urgencyOf({ kind, state: 'problem', severity: 'critical' }) === 'loud');
  t.same([...loud].sort(), ['all_clear', 'escalated', 'opened', 'reminder', 'resolved']);
  for (const kind of messageKinds) {
    t.ok(['usual', 'quiet'].includes(urgencyOf({ kind, state: 'recovered', severity: 'critical' })), kind);
  }
  t.equal(urgencyOf({ kind: 'opened', state: 'problem', severity: 'major' }), 'high');
  t.equal(urgencyOf({ kind: 'test', state: 'information', severity: 'minor' }), 'usual');
});
