import { customHmacSchema, payloadRuleSchema, signatureForms } from '@parallax/api-contract';
import { z } from 'zod';
import type { Expectation, State } from './state.ts';

const bytes = z.instanceof(Buffer);
const atMs = z.number();

/** What deliveries of a check are judged by, as it is stored. */
export const signingFields = {
  id: z.number(),
  workspace_id: z.number(),
  signature: z.enum(signatureForms),
  custom_hmac: customHmacSchema.nullable(),
  sealed_secret: bytes.nullable(),
  sealed_previous: bytes.nullable(),
  previous_until: atMs.nullable(),
};

/** The state of a check, and what decides about it, as it is stored. */
export const stateFields = {
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  expected_interval_seconds: z.number().nullable(),
  grace_period_seconds: z.number(),
  rules: z.array(payloadRuleSchema),
  status: z.enum(['new', 'up', 'degraded', 'down', 'paused']),
  status_since: atMs,
  reason: z.enum(['failed', 'missed']).nullable(),
  last_received_at: atMs.nullable(),
  expects_from: atMs.nullable(),
  next_expected_at: atMs.nullable(),
  deadline_at: atMs.nullable(),
};
const stateRow = z.object(stateFields);
export type StateRow = z.output<typeof stateRow>;

/** A check as it is stored. */
export const checkRow = z.object({
  ...signingFields,
  ...stateFields,
  description: z.string(),
  tags: z.array(z.string()),
  sealed_slug: bytes,
  version: z.number(),
  created_at: atMs,
  updated_at: atMs,
});
export type CheckRow = z.output<typeof checkRow>;

export function stateOf(row: StateRow): State {
  return {
    status: row.status,
    statusSinceMs: row.status_since,
    reason: row.reason,
    lastReceivedMs: row.last_received_at,
    expectsFromMs: row.expects_from,
    nextExpectedMs: row.next_expected_at,
    deadlineMs: row.deadline_at,
  };
}

export function expectationOf(row: Pick<StateRow, 'expected_interval_seconds' | 'grace_period_seconds'>): Expectation {
  const interval = row.expected_interval_seconds;
  return { intervalMs: interval === null ? null : interval * 1_000, graceMs: row.grace_period_seconds * 1_000 };
}
