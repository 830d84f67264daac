import { duringMaintenance, maintenanceSubjectTypes, webhookContents, webhookSignatures } from '@parallax/api-contract';
import type { Webhook, WebhookDisabledReason } from '@parallax/api-contract';
import { z } from 'zod';
import { isEmptyScope } from '../maintenance/index.ts';
import type { Covered } from '../maintenance/index.ts';

/** A webhook with its scope, as it is read. Times are milliseconds since the epoch. */
export const webhookRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  description: z.string(),
  is_active: z.boolean(),
  disabled_reason: z.enum(['failing', 'gone', 'queue_full']).nullable(),
  sealed: z.instanceof(Buffer),
  origin: z.string(),
  header_names: z.array(z.string()),
  public_key: z.string(),
  previous_until: z.number().nullable(),
  events: z.array(z.string()),
  covers_all: z.boolean(),
  tags: z.array(z.string()),
  subjects: z.array(z.object({ type: z.enum(maintenanceSubjectTypes), id: z.number() })),
  group_ids: z.array(z.number()),
  during_maintenance: z.enum(duringMaintenance),
  signature: z.enum(webhookSignatures),
  content: z.enum(webhookContents),
  max_per_second: z.number().nullable(),
  failing_since: z.number().nullable(),
  queued: z.number(),
  missed: z.number(),
  last_success_at: z.number().nullable(),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type WebhookRow = z.output<typeof webhookRow>;

/** What a webhook covers, as it is stored. */
export function coveredOf(row: WebhookRow): Covered {
  const idsOf = (type: WebhookRow['subjects'][number]['type']) =>
    row.subjects.filter((subject) => subject.type === type).map(({ id }) => id);
  return {
    all: row.covers_all,
    monitorIds: idsOf('monitor'),
    heartbeatIds: idsOf('heartbeat'),
    webhookCheckIds: idsOf('webhook_check'),
    groupIds: row.group_ids,
    tags: row.tags,
  };
}

function disabledReason(row: WebhookRow): WebhookDisabledReason | null {
  if (row.disabled_reason !== null) return row.disabled_reason;
  return isEmptyScope(coveredOf(row)) ? 'scope_empty' : null;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** A webhook as the API answers it. @param url null for those who see its origin only */
export function answerOf(row: WebhookRow, url: string | null, nowMs: number): Webhook {
  const isPreviousUsed = row.previous_until !== null && row.previous_until > nowMs;
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    description: row.description,
    is_active: row.is_active,
    disabled_reason: disabledReason(row),
    url: url ?? row.origin,
    events: row.events,
    scope: { all: row.covers_all, subjects: row.subjects, group_ids: row.group_ids, tags: row.tags },
    during_maintenance: row.during_maintenance,
    header_names: row.header_names,
    signature: row.signature,
    public_key: row.public_key,
    content: row.content,
    max_per_second: row.max_per_second,
    failing_since: isoOrNull(row.failing_since),
    queued: row.queued,
    missed: row.missed,
    previous_secret_until: isPreviousUsed ? isoOrNull(row.previous_until) : null,
    last_success_at: isoOrNull(row.last_success_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    version: row.version,
  };
}
