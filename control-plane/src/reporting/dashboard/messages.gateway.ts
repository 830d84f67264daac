import type { DashboardAlertsSummary, NotificationStatus } from '@parallax/api-contract';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { countMessages, toldAfterP95 } from '../../response/alerts/index.ts';

type Summary = Omit<DashboardAlertsSummary, 'as_of' | 'workspace_id'>;
type Counts = Record<NotificationStatus, number>;

const hourMs = 3_600_000;
const none = (): Counts => ({ held: 0, queued: 0, sent: 0, failed: 0, suppressed: 0, deduplicated: 0 });

/** What became of the messages that alerts of the scope decided on in the last hours. */
export async function readMessages(scope: Scope, tx: Transaction, hours: number, nowMs: number): Promise<Summary> {
  const window = { fromMs: nowMs - hours * hourMs, toMs: nowMs };
  const all = none();
  const channels = new Map<string, Counts>();
  for (const { channel, status, n } of await countMessages(scope, tx, window)) {
    const counts = channels.get(channel) ?? none();
    channels.set(channel, counts);
    counts[status] += n;
    all[status] += n;
  }
  const total = (counts: Counts): number => Object.values(counts).reduce((sum, n) => sum + n, 0);
  return {
    hours,
    from: new Date(window.fromMs).toISOString(),
    to: new Date(window.toMs).toISOString(),
    ...all,
    by_channel: [...channels]
      .map(([channel, counts]) => ({ channel, ...counts }))
      .toSorted(
        (a, b) =>
          total(channels.get(b.channel) ?? none()) - total(channels.get(a.channel) ?? none()) ||
          (a.channel < b.channel ? -1 : 1),
      ),
    told_after_p95_ms: await toldAfterP95(scope, tx, window),
  };
}
