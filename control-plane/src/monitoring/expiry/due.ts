import type { OutboxEntry } from '../../platform/outbox/enqueue.ts';

export type ExpiryKind = 'certificate' | 'domain';

/** A threshold that was crossed. */
export type Occasion = {
  readonly monitorId: number;
  readonly workspaceId: number;
  readonly kind: ExpiryKind;
  readonly notAfterMs: number;
  readonly thresholdDays: number;
};

/** The notice that something ends soon, or has ended. */
export function expiryNotice({ monitorId, workspaceId, kind, notAfterMs, thresholdDays }: Occasion): OutboxEntry {
  const notAfter = new Date(notAfterMs).toISOString();
  return {
    key: `monitor:${monitorId}`,
    kind: `${kind}.expiring`,
    payload: {
      workspace_id: workspaceId,
      monitor_id: monitorId,
      not_after: notAfter,
      threshold_days: thresholdDays,
      occasion: `${kind}:${monitorId}:${notAfter}:${thresholdDays}`,
    },
  };
}
