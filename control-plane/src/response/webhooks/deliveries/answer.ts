import type { DeadLetter, WebhookDelivery } from '@parallax/api-contract';
import type { DeliveryRow } from './queries.ts';

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** A delivery as lists answer it. */
export function deliveryAnswer(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    event_id: row.event_id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    // While it is tried, the column holds the end of the lease.
    next_attempt_at: row.state === 'queued' && !row.is_leased ? iso(row.due_at) : null,
    status_code: row.status_code,
    error_code: row.error_code,
    duration_ms: row.duration_ms,
    is_test: row.is_test,
    event_at: iso(row.event_at),
  };
}

/** A delivery as a dead letter. */
export function deadLetterAnswer(row: DeliveryRow): DeadLetter {
  return {
    dlq_id: row.id,
    event_id: row.event_id,
    type: row.type,
    status: row.dlq_status ?? 'failed',
    retries: row.retries,
    attempts: row.attempts,
    status_code: row.status_code,
    error_code: row.error_code,
    failed_at: iso(row.failed_at ?? row.due_at),
    delivered_at: isoOrNull(row.delivered_at),
    resolved_by: row.resolved_by,
  };
}
