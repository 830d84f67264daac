import { z } from 'zod';
import type { Severity } from '../alert.ts';

/** What a row of the outbox makes of an occasion: its beginning, or what has changed of it. Times are milliseconds since the epoch. */
export type OccasionChange = {
  readonly workspaceId: number;
  readonly key: string;
  readonly event: string;
  readonly subject: { readonly type: string; readonly id: number } | null;
  readonly incidentId: number | null;
  readonly title: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly severity: Severity;
  readonly isLasting: boolean;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly resolution: string | null;
  readonly isAcknowledged: boolean;
  /** Higher than that of every change before. */
  readonly seq: number;
  readonly kind: 'opened' | 'updated' | 'acknowledged' | 'resolved' | 'recovered';
  readonly reason: string | null;
  /** It becomes a problem by this: by its beginning, or again. */
  readonly isProblem: boolean;
};

const instant = z.iso.datetime({ offset: true });

const incidentPayload = z.looseObject({
  incident_id: z.number().int(),
  workspace_id: z.number().int(),
  seq: z.number().int().min(1),
  reason: z.string().optional(),
  by_user_id: z.number().int().optional(),
  title: z.string(),
  status: z.enum(['open', 'acknowledged', 'resolved']),
  severity: z.enum(['minor', 'major', 'critical']),
  resolution: z.string().nullable(),
  started_at: instant,
  resolved_at: instant.nullable(),
  is_manual: z.boolean(),
  has_own_title: z.boolean().optional(),
  member_count: z.number(),
  members: z.array(z.object({ type: z.string(), id: z.number(), name: z.string() })),
});

/** Kinds of the outbox by which incidents are announced. */
export const incidentKinds = [
  'incident.opened',
  'incident.updated',
  'incident.acknowledged',
  'incident.resolved',
  'incident.recovered',
  'incident.deleted',
] as const;

/** @throws when the payload is none: the row stays, with the error */
export function incidentChange(kind: (typeof incidentKinds)[number], payload: unknown, nowMs: number): OccasionChange {
  const told = incidentPayload.parse(payload);
  const isDeleted = kind === 'incident.deleted';
  const isOver =
    isDeleted || told.status === 'resolved' || kind === 'incident.resolved' || kind === 'incident.recovered';
  const what = kind.slice('incident.'.length) as OccasionChange['kind'] | 'deleted';
  const startedMs = Date.parse(told.started_at);
  const [first] = told.members;
  return {
    workspaceId: told.workspace_id,
    key: `incident:${told.incident_id}`,
    event: 'incident.opened',
    subject: null,
    incidentId: told.incident_id,
    title: told.title,
    facts: {
      is_manual: told.is_manual,
      member_count: told.member_count,
      members: told.members,
      ...(first === undefined ? {} : { first }),
      ...(told.has_own_title === true && !told.is_manual ? { own_title: told.title } : {}),
      ...(told.by_user_id === undefined ? {} : { removed_by: told.by_user_id }),
    },
    severity: told.severity,
    isLasting: true,
    startedMs,
    endedMs: isOver ? Math.max(startedMs, told.resolved_at === null ? nowMs : Date.parse(told.resolved_at)) : null,
    resolution: resolutionOf(told, isDeleted),
    isAcknowledged: told.status === 'acknowledged',
    seq: told.seq,
    kind: what === 'deleted' ? 'resolved' : what,
    reason: told.reason ?? null,
    isProblem: kind === 'incident.opened' || (kind === 'incident.updated' && told.reason === 'reopened' && !isOver),
  };
}

/** How it ended for those who were told of it: what a person removes may last, and a reset of statistics ends nothing. */
function resolutionOf(told: z.output<typeof incidentPayload>, isDeleted: boolean): string | null {
  if (told.reason === 'reset') return 'reset';
  return isDeleted && told.status !== 'resolved' ? 'removed' : told.resolution;
}

/** How a status that is no incident is named, and how bad it is; null of those that are an incident, or none. */
export function statusEvent(status: string): {
  readonly event: string;
  readonly says: string;
  readonly severity: Severity;
  readonly isBelowOutage: boolean;
} | null {
  switch (status) {
    case 'DEGRADED':
      return { event: 'monitor.degraded', says: 'is degraded', severity: 'minor', isBelowOutage: false };
    case 'WARNING':
      return { event: 'monitor.warning', says: 'warns', severity: 'minor', isBelowOutage: false };
    case 'PARTIAL':
      return { event: 'monitor.partial', says: 'fails for some', severity: 'minor', isBelowOutage: true };
    case 'UNKNOWN':
      return { event: 'monitor.unknown', says: 'is unknown', severity: 'minor', isBelowOutage: true };
    default:
      return null;
  }
}

/** Events of occasions that a monitor's status makes. */
export const statusEvents = ['monitor.degraded', 'monitor.warning', 'monitor.partial', 'monitor.unknown'] as const;

const mostTitle = 200;

/** "<name> <says>", at most 200 characters: a long name is cut, what happened is not. */
export function occasionTitle(name: string, says: string, between = ' '): string {
  const end = between + says;
  const characters = Array.from(name);
  const room = mostTitle - Array.from(end).length;
  return (characters.length > room ? `${characters.slice(0, room - 1).join('')}…` : name) + end;
}

/** An occasion that begins with what is announced: the first change of it. */
export function beginning(
  given: Pick<OccasionChange, 'workspaceId' | 'key' | 'event' | 'subject' | 'title' | 'severity' | 'startedMs'> &
    Partial<Pick<OccasionChange, 'facts' | 'isLasting'>>,
): OccasionChange {
  return {
    incidentId: null,
    facts: {},
    isLasting: true,
    endedMs: null,
    resolution: null,
    isAcknowledged: false,
    seq: 1,
    kind: 'opened',
    reason: null,
    isProblem: true,
    ...given,
  };
}
