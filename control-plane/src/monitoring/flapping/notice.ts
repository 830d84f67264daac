import type { OutboxEntry } from '../../platform/outbox/enqueue.ts';

/** The notice that a monitor began to flap, or ceased to: alerts about it are held back meanwhile. */
export function flappingNotice(
  monitor: { readonly monitorId: number; readonly workspaceId: number },
  isFlapping: boolean,
  atMs: number,
): OutboxEntry {
  return {
    key: `monitor:${monitor.monitorId}`,
    kind: 'monitor.flapping',
    payload: {
      monitor_id: monitor.monitorId,
      workspace_id: monitor.workspaceId,
      is_flapping: isFlapping,
      at: new Date(atMs).toISOString(),
    },
  };
}
