import { incidentStatuses } from '@parallax/api-contract';
import { z } from 'zod';
import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import type { Message } from '../folding/incident-state.ts';

/** A row of what a message says of an incident. */
export const factsRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  title: z.string(),
  status: z.enum(incidentStatuses),
  severity: z.string(),
  resolution: z.string().nullable(),
  started_at: z.number(),
  resolved_at: z.number().nullable(),
  detected_late: z.boolean(),
  is_manual: z.boolean(),
  has_own_title: z.boolean(),
  folded_into: z.number().nullable(),
  version: z.number(),
  member_count: z.number(),
  members: z.unknown(),
});
/** What a message says of an incident. */
export type IncidentFacts = z.output<typeof factsRow>;

const iso = (value: number): string => new Date(value).toISOString();

/** What else is announced of an incident, by what people do. */
export type Announced = {
  readonly kind: Message['kind'] | 'acknowledged' | 'deleted';
  /** For `deleted`: `reset`, when the statistics of all that it was made from were reset; nothing when a person deleted it. */
  readonly reason?: Message['reason'] | 'changed' | 'update';
  /** Who did it, where a message names them. */
  readonly userId?: number;
};

/**
 * The row of the outbox by which an incident is announced. `(incident_id, seq)` is told once: later messages of one incident have higher numbers.
 * It carries no evidence, which may be large; that stands with the members.
 */
export function messageEntry(facts: IncidentFacts, message: Announced, seq: number): OutboxEntry {
  return {
    key: `incident:${facts.id}`,
    kind: `incident.${message.kind}`,
    payload: {
      incident_id: facts.id,
      workspace_id: facts.workspace_id,
      seq,
      ...(message.reason === undefined ? {} : { reason: message.reason }),
      ...(message.userId === undefined ? {} : { by_user_id: message.userId }),
      title: facts.title,
      status: facts.status,
      severity: facts.severity,
      resolution: facts.resolution,
      started_at: iso(facts.started_at),
      resolved_at: facts.resolved_at === null ? null : iso(facts.resolved_at),
      is_manual: facts.is_manual,
      has_own_title: facts.has_own_title,
      detected_late: facts.detected_late,
      folded_into: facts.folded_into,
      version: facts.version,
      member_count: facts.member_count,
      members: facts.members,
    },
  };
}
