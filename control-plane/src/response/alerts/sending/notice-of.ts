import { z } from 'zod';
import type { Links } from '../channels-gateway.ts';
import type {
  Notice,
  NoticeDetails,
  NoticeKind,
  NoticeLine,
  NoticeOccasion,
  NoticeSubject,
} from '../../messages/index.ts';
import type { IncidentMembers, Seen } from './facts/queries.ts';
import type { ClaimedDelivery } from './claim/queries.ts';
import { payloadText } from './payload-text.ts';
import type { Part } from './queries.ts';

/** What is known of an occasion beside its row. */
export type MoreFacts = {
  readonly members: IncidentMembers | undefined;
  /** Who removed its incident. */
  readonly removedBy: string | null;
  readonly seen: Seen | undefined;
  /** What somebody wrote of it and this message announces. */
  readonly written: string | null;
  /** What whoever resolved it by hand wrote at that. */
  readonly closing: string | null;
  /** What a job wrote when it failed. */
  readonly report: string | null;
};

const noLinks: Links = { acknowledge: null, snooze: null, unsubscribe: null };
const namedLines = 20;

/** The notice of a message that carries one thing. */
export function noticeOfOne(
  delivery: ClaimedDelivery,
  part: Part,
  more: MoreFacts,
  links: Links | undefined,
  publicUrl: string,
  nowMs: number,
): Notice {
  return {
    ...common(delivery),
    subjectKey: subjectKeyOf(delivery, part),
    kind: kindOf(part),
    atMs: nowMs,
    occasion: occasionOf(part, more),
    reminder: part.kind === 'reminder' ? part.seq : null,
    step: part.kind === 'escalated' ? part.seq % 10 : null,
    update: part.kind === 'updated' ? { reason: reasonOf(part.reason), text: more.written } : null,
    digest: null,
    alertName: part.alert_name,
    links: { ...noLinks, ...links, open: pageOf(part, publicUrl) },
  };
}

/** The notice of a digest: what lasts first, as it is now. */
export function noticeOfMany(delivery: ClaimedDelivery, parts: readonly Part[], publicUrl: string): Notice {
  // One occasion may come twice, as it began and ended: it is one line.
  const occasions = [...new Map(parts.map((part) => [part.occasionId, part])).values()];
  const over = occasions.filter((part) => part.ended_at !== null);
  const lasting = occasions.filter((part) => part.ended_at === null);
  return {
    ...common(delivery),
    subjectKey: messageId(delivery).replace(/^delivery/, 'digest'),
    kind: delivery.kind === 'after_quiet' ? 'after_quiet' : 'digest',
    atMs: delivery.created_at,
    occasion: null,
    reminder: null,
    step: null,
    update: null,
    digest: {
      count: occasions.length,
      lasting: lasting.length,
      over: over.length,
      lines: [...lasting, ...over].slice(0, namedLines).map((part) => lineOf(part, publicUrl)),
    },
    alertName: null,
    links: { ...noLinks, open: publicUrl },
  };
}

/** By what services know one thing from its beginning to its end: at most 100 of letters, digits and `._:-`. */
function subjectKeyOf({ workspace_id: workspaceId }: ClaimedDelivery, { key, uid }: Part): string {
  const name = `${workspaceId}:${key}`.replace(/[^A-Za-z0-9._:-]/g, '-');
  return `${name.slice(0, 80)}:${uid.slice(0, 18)}`;
}

/** The same at each attempt, by whatever process. Two installations that tell one receiver draw different ones, as does one that was restored. */
const messageId = ({ id, message_id: drawn }: Pick<ClaimedDelivery, 'id' | 'message_id'>): string =>
  drawn === null ? `delivery-${id}` : `delivery-${id}-${drawn}`;

const common = (delivery: ClaimedDelivery) => ({
  id: messageId(delivery),
  locale: delivery.locale,
  timezone: delivery.timezone,
  workspace: { id: delivery.workspace_id, name: delivery.workspace_name },
});

/** Who did not get to know of a problem is told of both when it is over. */
const kindOf = (part: Part): NoticeKind => (part.kind === 'resolved' && part.is_lost ? 'was_down' : part.kind);

const reasons = ['members', 'reopened', 'update', 'changed'] as const;
const reasonOf = (reason: string | null): (typeof reasons)[number] =>
  reasons.find((each) => each === reason) ?? 'changed';

function occasionOf(part: Part, more: MoreFacts): NoticeOccasion {
  const { facts } = part;
  const { members, seen, closing, report } = more;
  const subjects = members?.subjects ?? ownSubjects(part);
  return {
    event: part.event,
    incidentId: part.incident_id,
    severity: part.severity,
    title: part.title,
    ownTitle: typeof facts['own_title'] === 'string' ? facts['own_title'] : null,
    startedMs: part.started_at,
    endedMs: part.ended_at,
    resolution: part.resolution,
    isAcknowledged: part.acknowledged_at !== null,
    isManual: facts['is_manual'] === true,
    by: whoActed(part, more),
    closing,
    subjects,
    subjectCount: members?.count ?? subjects.length,
    votes: seen?.votes ?? [],
    missing: seen?.missing ?? [],
    said: saidOf(members?.cause, report),
    nextCheckMs: part.ended_at === null ? (members?.nextCheckMs ?? null) : null,
    details: detailsOf(facts),
  };
}

/** Who ended it by hand, where that is told; else who takes care of it. */
function whoActed(part: Part, { members, removedBy }: MoreFacts): string | null {
  if (part.kind === 'resolved' && part.resolution === 'removed') return removedBy;
  if (part.kind === 'resolved' && part.resolution === 'manual') return members?.resolvedBy ?? null;
  return members?.acknowledgedBy ?? null;
}

const toldMembers = z.array(z.object({ type: z.string(), id: z.number(), name: z.string() })).catch([]);

/** Its subject; of an incident that is gone those that it had. */
function ownSubjects(part: Part): readonly NoticeSubject[] {
  const { subject_type: type, subject_id: id, facts } = part;
  if (type === null || id === null) {
    const { started_at: startedMs, ended_at: endedMs } = part;
    return toldMembers.parse(facts['members']).map((member) => {
      const status = member.type === 'monitor' ? 'DOWN' : null;
      return { ...member, status, startedMs, endedMs };
    });
  }
  const { name, status } = facts;
  return [
    {
      type,
      id,
      name: typeof name === 'string' ? name : part.title,
      status: typeof status === 'string' ? status : null,
      startedMs: part.started_at,
      endedMs: part.ended_at,
    },
  ];
}

/** What a job or a service told of its failure. */
function saidOf(cause: Readonly<Record<string, unknown>> | null | undefined, report: string | null): string | null {
  const evidence = cause?.['evidence'];
  if (typeof evidence !== 'object' || evidence === null) return null;
  const facts = evidence as Readonly<Record<string, unknown>>;
  const found = ['text', 'message', 'payload', 'reason'].map((name) => facts[name]).find((value) => value != null);
  const text = report ?? found;
  const said = text === undefined ? [] : [payloadText(text)];
  if (typeof facts['exit_code'] === 'number') said.unshift(`exit code ${facts['exit_code']}`);
  return said.length === 0 ? null : said.join(': ').slice(0, 1_000);
}

function detailsOf(facts: Part['facts']): NoticeDetails {
  const text = (name: string): string | undefined => (typeof facts[name] === 'string' ? facts[name] : undefined);
  const number = (name: string): number | undefined => (typeof facts[name] === 'number' ? facts[name] : undefined);
  const notAfter = text('not_after');
  const incidents = Array.isArray(facts['incidents'])
    ? facts['incidents'].map(({ title }: { readonly title?: unknown }) => (typeof title === 'string' ? title : ''))
    : undefined;
  return defined({
    notAfterMs: notAfter === undefined ? undefined : Date.parse(notAfter),
    thresholdDays: number('threshold_days'),
    provider: text('provider'),
    region: text('region'),
    reason: text('reason'),
    incidents,
    incidentCount: number('incident_count'),
  });
}

function defined(details: { readonly [Name in keyof NoticeDetails]: NoticeDetails[Name] | undefined }): NoticeDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

function lineOf(part: Part, publicUrl: string): NoticeLine {
  const { first, member_count: count, name } = part.facts;
  const named = typeof first === 'object' && first !== null ? (first as { readonly name?: unknown }).name : name;
  return {
    event: part.event,
    severity: part.severity,
    title: part.title,
    name: typeof named === 'string' ? named : null,
    subjectCount: typeof count === 'number' ? count : typeof named === 'string' ? 1 : 0,
    startedMs: part.started_at,
    endedMs: part.ended_at,
    url: pageOf(part, publicUrl),
  };
}

/** Its incident was removed: it has no page any more. */
const isGone = ({ kind, resolution }: Part): boolean =>
  resolution === 'removed' || resolution === 'reset' || (kind === 'recovered' && resolution !== 'manual');

/** The console's page. */
function pageOf(part: Part, publicUrl: string): string | null {
  if (isGone(part)) return publicUrl;
  if (part.incident_id !== null) return `${publicUrl}/incidents/${part.incident_id}`;
  const { subject_type: type, subject_id: id } = part;
  if (id === null) return publicUrl;
  return type === 'monitor' || type === 'probe' ? `${publicUrl}/${type}s/${id}` : publicUrl;
}
