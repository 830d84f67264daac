import type { WebhookCheck, WebhookCheckStatus } from '@parallax/api-contract';
import type { CheckRow } from './row.ts';

const text = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The status as it is shown: one that waits for what is overdue is late. */
export function shownStatus(row: Pick<CheckRow, 'status' | 'next_expected_at'>, nowMs: number): WebhookCheckStatus {
  const { status, next_expected_at: nextMs } = row;
  const isLate = (status === 'up' || status === 'degraded') && nextMs !== null && nextMs <= nowMs;
  return isLate ? 'late' : status;
}

/**
 * A check as the API answers it.
 * @param slug null for those who may not see it
 */
export function answerOf(row: CheckRow, slug: string | null, publicUrl: string, nowMs: number): WebhookCheck {
  const isPreviousTaken = row.previous_until !== null && row.previous_until > nowMs;
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    slug,
    url: slug === null ? null : `${publicUrl}/api/v1/webhook-check/${slug}`,
    signature: row.signature,
    custom_hmac: row.custom_hmac,
    has_secret: row.sealed_secret !== null,
    previous_secret_valid_until: isPreviousTaken ? text(row.previous_until) : null,
    expected_interval_seconds: row.expected_interval_seconds,
    grace_period_seconds: row.grace_period_seconds,
    rules: row.rules,
    status: shownStatus(row, nowMs),
    status_since: new Date(row.status_since).toISOString(),
    last_received_at: text(row.last_received_at),
    next_expected_at: text(row.next_expected_at),
    deadline_at: text(row.deadline_at),
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
    version: row.version,
  };
}
