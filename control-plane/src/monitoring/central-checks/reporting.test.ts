import t from 'tap';
import { mayStillReport } from './reporting.ts';

const nowMs = 10_000_000;
const healthy = {
  isPaused: false,
  openedMs: nowMs - 600_000,
  heardMs: nowMs - 4_000,
  oldestUnacknowledgedMs: 800,
};

void t.test('results of a probe may yet come while it lives and they wait, or it has just come back', async (t) => {
  const may = (changed: Partial<typeof healthy>) => mayStillReport({ ...healthy, ...changed }, nowMs);
  t.notOk(may({}), 'a probe whose results pass and that does not vote cannot tell');
  t.notOk(mayStillReport(undefined, nowMs), 'nor one without a session');
  t.ok(may({ oldestUnacknowledgedMs: 5_000 }));
  t.ok(may({ openedMs: nowMs - 59_000 }));
  t.notOk(may({ oldestUnacknowledgedMs: 5_000, heardMs: nowMs - 46_000 }), 'a lost one');
  t.notOk(may({ oldestUnacknowledgedMs: 5_000, isPaused: true }), 'a paused one');
});
