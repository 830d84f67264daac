import { z } from 'zod';
import type { Subject } from '../subject.ts';

const instant = z.iso.datetime({ offset: true });

/**
 * Payload of `heartbeat.*` and `webhook_check.*`: what happened to a subject that tells of itself. `at` is the effective time: when it was
 * missed, said that it has failed or is well again, or was paused or deleted.
 */
const subjectEventSchema = z.looseObject({
  workspace_id: z.number().int(),
  heartbeat_id: z.number().int().optional(),
  webhook_check_id: z.number().int().optional(),
  name: z.string().min(1),
  at: instant,
  detected_at: instant.optional(),
});

/** Kinds of the outbox by which subjects that are no monitors are told of. */
export const subjectEventKinds = [
  'heartbeat.missed',
  'heartbeat.failed',
  'heartbeat.recovered',
  'heartbeat.paused',
  'heartbeat.deleted',
  'webhook_check.missed',
  'webhook_check.failed',
  'webhook_check.recovered',
  'webhook_check.paused',
  'webhook_check.deleted',
] as const;
export type SubjectEventKind = (typeof subjectEventKinds)[number];

export type SubjectEvent = {
  readonly subject: Subject;
  readonly workspaceId: number;
  readonly name: string;
  readonly what: 'missed' | 'failed' | 'recovered' | 'paused' | 'deleted';
  readonly atMs: number;
  /** The rest of the payload, as evidence. */
  readonly facts: Readonly<Record<string, unknown>>;
};

/** @throws when the payload is none */
export function subjectEventOf(kind: SubjectEventKind, payload: unknown): SubjectEvent {
  const {
    workspace_id: workspaceId,
    heartbeat_id: heartbeatId,
    webhook_check_id: checkId,
    name,
    at,
    ...facts
  } = subjectEventSchema.parse(payload);
  const [type, what] = kind.split('.') as ['heartbeat' | 'webhook_check', SubjectEvent['what']];
  const id = type === 'heartbeat' ? heartbeatId : checkId;
  if (id === undefined) throw new Error(`${kind} names no ${type}`);
  return { subject: { type, id }, workspaceId, name, what, atMs: Date.parse(at), facts };
}

const mostTitle = 200;

/** "<name> was missed" or "<name> has failed", at most 200 characters. */
export function titleOfSubject(name: string, what: 'missed' | 'failed'): string {
  const end = what === 'missed' ? ' was missed' : ' has failed';
  const characters = Array.from(name);
  const room = mostTitle - end.length;
  return (characters.length > room ? `${characters.slice(0, room - 1).join('')}…` : name) + end;
}
