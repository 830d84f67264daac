import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import type { Announcement, State } from '../state.ts';

/** What of a heartbeat is told beside the change itself. */
export type Told = {
  readonly id: number;
  readonly workspace_id: number;
  readonly name: string;
  readonly slug: string;
};

/** The signal that made the change; absent where a deadline or a person did. */
export type TellingSignal = {
  readonly n: number;
  readonly exitCode: number | null;
  readonly rid: string | null;
  readonly durationMs: number | null;
};

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The key under which everything about a heartbeat is told in order. */
export function outboxKey(heartbeatId: number): string {
  return `heartbeat:${heartbeatId}`;
}

/** A change as others are told of it: all that a message or an incident needs, without another look. */
export function entryOf(
  heartbeat: Told,
  { before, after, nowMs, signal }: { before: State; after: State; nowMs: number; signal?: TellingSignal | undefined },
  { kind, from, to, reason, atMs }: Announcement,
): OutboxEntry {
  return {
    key: outboxKey(heartbeat.id),
    kind,
    payload: {
      heartbeat_id: heartbeat.id,
      workspace_id: heartbeat.workspace_id,
      name: heartbeat.name,
      slug: heartbeat.slug,
      from,
      to,
      reason,
      at: iso(atMs),
      detected_at: iso(nowMs),
      // Of a recovery: since when it had been down.
      since: iso(before.statusSinceMs),
      last_ping_at: iso(before.lastPingMs),
      expected_at: iso(before.nextExpectedMs),
      deadline_at: iso(before.deadlineMs),
      next_expected_at: iso(after.nextExpectedMs),
      consecutive_failures: after.failures,
      ...(signal === undefined
        ? {}
        : { ping: signal.n, exit_code: signal.exitCode, rid: signal.rid, duration_ms: signal.durationMs }),
    },
  };
}
