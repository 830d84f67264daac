import t from 'tap';
import { toldAfterMs } from './told-after.ts';

void t.test('a problem is told so long after it was found, or after what held it back', async (t) => {
  const second = 1_000;
  const opened = { kind: 'opened', found_at: 100 * second, queued_at: 103 * second } as const;
  t.equal(toldAfterMs(opened, false, 104 * second), 4 * second);
  t.equal(
    toldAfterMs({ ...opened, queued_at: 700 * second }, false, 702 * second),
    2 * second,
    'its alert has a delay',
  );
  t.equal(toldAfterMs({ ...opened, queued_at: null }, false, 104 * second), 4 * second);
  t.equal(toldAfterMs(opened, false, 99 * second), 0, 'the clocks of two machines differ');
  t.equal(toldAfterMs({ ...opened, kind: 'resolved' }, false, 104 * second), undefined);
  t.equal(toldAfterMs(opened, true, 104 * second), undefined);
});
