import t from 'tap';
import { expiryNotice } from './due.ts';

void t.test('a notice names its occasion', async (t) => {
  const occasion = { monitorId: 4, workspaceId: 2, kind: 'domain', notAfterMs: 86_400_000, thresholdDays: 7 } as const;
  t.same(expiryNotice(occasion), {
    key: 'monitor:4',
    kind: 'domain.expiring',
    payload: {
      workspace_id: 2,
      monitor_id: 4,
      not_after: '1970-01-02T00:00:00.000Z',
      threshold_days: 7,
      occasion: 'domain:4:1970-01-02T00:00:00.000Z:7',
    },
  });
});
