import type { SerializableValue } from 'slonik';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';

/** One write, as the audit log keeps it. */
export type AuditEvent = {
  /** `<subject>.<what happened>`: `api_key.created`, `monitor.deleted`. */
  readonly action: string;
  readonly subjectType: string;
  readonly subjectId: string | number | null;
  /** The workspace whose log shows it; left out for what concerns the user alone. */
  readonly workspaceId?: number;
  /** Never secrets. */
  readonly detail?: Readonly<Record<string, SerializableValue>>;
};

/** What nobody with an account has asked for: the holder of a link. */
type NoCaller = { readonly kind: 'system'; readonly userId: null };

/**
 * Writes a row of the audit log in the transaction of the change, so that there is no change without its row.
 * The transaction must have the caller's scope: the row is theirs or of one of their workspaces.
 */
export async function recordAudit(
  transaction: Transaction,
  caller: Pick<Caller, 'kind' | 'userId'> | NoCaller,
  request: Pick<RequestFacts, 'remoteAddress' | 'requestId'>,
  event: AuditEvent,
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
    values (
      ${event.workspaceId ?? null}, ${caller.userId}, ${caller.kind}, ${event.action}, ${event.subjectType},
      ${event.subjectId === null ? null : String(event.subjectId)}, ${sql.jsonb(event.detail ?? {})},
      ${request.remoteAddress}, ${request.requestId}
    )
  `);
}

/** The same for many writes of one request, in one statement. */
export async function recordAudits(
  transaction: Transaction,
  caller: Pick<Caller, 'kind' | 'userId'>,
  request: Pick<RequestFacts, 'remoteAddress' | 'requestId'>,
  events: readonly AuditEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => [
    event.workspaceId ?? null,
    event.action,
    event.subjectType,
    event.subjectId === null ? null : String(event.subjectId),
    JSON.stringify(event.detail ?? {}),
  ]);
  await transaction.query(sql.unsafe`
    insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
    select workspace_id, ${caller.userId}, ${caller.kind}, action, subject_type, subject_id, detail::jsonb,
      ${request.remoteAddress}, ${request.requestId}
    from ${sql.unnest(rows, ['int4', 'text', 'text', 'text', 'text'])} as event (workspace_id, action, subject_type, subject_id, detail)
  `);
}
