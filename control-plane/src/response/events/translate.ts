import { z } from 'zod';
import { codeOf, readStored } from '../../monitoring/monitors/index.ts';
import type { OpenOutage } from './pair.ts';
import { afterTransition } from './pair.ts';
import { subjectKey } from './facts.ts';
import type { Facts, SubjectFacts } from './facts.ts';

/** A state change as the outbox told it. */
export type SourceRow = { readonly kind: string; readonly payload: unknown; readonly atMs: number };

/** An event before it has its number. */
export type Draft = {
  readonly type: string;
  readonly workspaceId: number;
  readonly subjectType: string;
  readonly subjectId: number;
  readonly name: string;
  /** When it became known. */
  readonly knownMs: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** The subject is gone from the workspace. */
  readonly isLast: boolean;
};

/** What is remembered of a monitor between its events. */
export type Memory = {
  readonly outage: OpenOutage | null;
  readonly revised: { readonly atMs: number; readonly sinceMs: number } | null;
};

/** Nothing is remembered. */
export const noMemory: Memory = { outage: null, revised: null };

/** What a state change tells, and what is remembered after it. */
export type Translated = { readonly drafts: readonly Draft[]; readonly memory: Memory };

/** Whom a state change is about, which is known before anything else of it is read. */
export type Subject = { readonly workspaceId: number | null; readonly type: string; readonly id: number };

const id = z.number().int();
const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const envelopes = {
  monitor: z.looseObject({ monitor_id: id, workspace_id: id }),
  incident: z.looseObject({ incident_id: id, workspace_id: id }),
  heartbeat: z.looseObject({ heartbeat_id: id, workspace_id: id }),
  webhook_check: z.looseObject({ webhook_check_id: id, workspace_id: id }),
  maintenance: z.looseObject({ maintenance_id: id, workspace_id: id }),
  probe: z.looseObject({ probe_id: id }),
};

/**
 * Whom a row is about.
 * @throws when the payload is none of its kind
 */
export function subjectOf(row: Pick<SourceRow, 'kind' | 'payload'>): Subject {
  const type = typeOf(row.kind);
  switch (type) {
    case 'incident': {
      const read = envelopes.incident.parse(row.payload);
      return { workspaceId: read.workspace_id, type, id: read.incident_id };
    }
    case 'heartbeat': {
      const read = envelopes.heartbeat.parse(row.payload);
      return { workspaceId: read.workspace_id, type, id: read.heartbeat_id };
    }
    case 'webhook_check': {
      const read = envelopes.webhook_check.parse(row.payload);
      return { workspaceId: read.workspace_id, type, id: read.webhook_check_id };
    }
    case 'maintenance': {
      const read = envelopes.maintenance.parse(row.payload);
      return { workspaceId: read.workspace_id, type, id: read.maintenance_id };
    }
    case 'probe':
      return { workspaceId: null, type, id: envelopes.probe.parse(row.payload).probe_id };
    default: {
      const read = envelopes.monitor.parse(row.payload);
      return { workspaceId: read.workspace_id, type: 'monitor', id: read.monitor_id };
    }
  }
}

function typeOf(kind: string): string {
  return kind.slice(0, kind.indexOf('.'));
}

/** What of a payload many kinds have. */
const times = z.looseObject({ at: time.optional(), detected_at: time.optional(), name: z.string().optional() });

type Telling = {
  readonly row: SourceRow;
  readonly subject: Subject & { readonly workspaceId: number };
  readonly facts: Facts;
  readonly memory: Memory;
};

/**
 * The events of a state change.
 * @param memory what is remembered of its subject
 * @throws when the payload is none of its kind
 */
export function translate(row: SourceRow, facts: Facts, memory: Memory): Translated {
  const found = subjectOf(row);
  const workspaceId = found.workspaceId ?? facts.workspaceOfProbe.get(found.id);
  if (workspaceId === undefined) return { drafts: [], memory };
  const telling: Telling = { row, subject: { ...found, workspaceId }, facts, memory };
  const kind = row.kind;
  if (kind === 'monitor.transition') return transition(telling);
  if (kind === 'monitor.revised') return revision(telling);
  if (kind.startsWith('monitor.')) return monitorChange(telling);
  return { drafts: [oneOf(telling)], memory };
}

function transition(telling: Telling): Translated {
  const { subject, facts, memory } = telling;
  const read = z
    .looseObject({ from: z.string(), to: z.string(), at: time, evidence: z.unknown().optional() })
    .parse(telling.row.payload);
  const { from: previous, to: status, at: atMs } = read;
  const incidentId = factsOf(facts, subject)?.incidentId ?? null;
  const { told, open } = afterTransition(memory.outage, { from: previous, to: status, atMs, incidentId });
  const drafts = told.map((one) => {
    const changed = { status, previous };
    if (one.type === 'monitor.down') {
      const more = { cause: causeOf(read.evidence), incident_id: incidentId, continues: one.continues };
      return draft(telling, one.type, { ...changed, ...more });
    }
    if (one.type === 'monitor.up') return draft(telling, one.type, { ...changed, outage: ended(one.outage, atMs) });
    return draft(telling, one.type, changed);
  });
  return { drafts, memory: { ...memory, outage: open } };
}

function ended(outage: OpenOutage | null, endedMs: number) {
  if (outage === null) return null;
  return {
    started_at: iso(outage.startedMs),
    ended_at: iso(endedMs),
    seconds: Math.max(0, Math.round((endedMs - outage.startedMs) / 1_000)),
    incident_id: outage.incidentId,
  };
}

/** The error that most of the failing probes got; of several with as many, the first by name. */
function causeOf(evidence: unknown) {
  const { voters } = readStored(evidence);
  const failing = voters.filter(({ vote }) => vote === 'DOWN' || vote === 'TIMEOUT');
  const codes = Map.groupBy(failing.flatMap((vote) => codeOf(vote) ?? []).toSorted(), (code) => code);
  const [code = null] = [...codes].toSorted(([, one], [, other]) => other.length - one.length).map(([name]) => name);
  return { code, failing: failing.length, voters: voters.length };
}

const revisedEveryMs = 60_000;

/** A flood of late results would tell of each of them: within a minute only what reaches back further is told. */
function revision(telling: Telling): Translated {
  const { row, memory } = telling;
  const { since: sinceMs } = z.looseObject({ since: time }).parse(row.payload);
  const { revised } = memory;
  if (revised !== null && row.atMs - revised.atMs < revisedEveryMs && sinceMs >= revised.sinceMs) {
    return { drafts: [], memory };
  }
  return {
    drafts: [draft(telling, 'monitor.revised', { since: iso(sinceMs) })],
    memory: { ...memory, revised: { atMs: row.atMs, sinceMs } },
  };
}

function monitorChange(telling: Telling): Translated {
  const { row, memory } = telling;
  const type = row.kind;
  if (type === 'monitor.flapping') {
    const read = z.looseObject({ is_flapping: z.boolean() }).parse(row.payload);
    return { drafts: [draft(telling, type, { is_flapping: read.is_flapping })], memory };
  }
  const ends = type !== 'monitor.resumed';
  // What was told before an update of the product does not say who.
  const { by } = z.looseObject({ by: id.nullable().default(null) }).parse(row.payload);
  const act = { by: by === null ? null : { user_id: by } };
  return { drafts: [draft(telling, type, act)], memory: ends ? { ...memory, outage: null } : memory };
}

/** The event of a kind that tells one. */
function oneOf(telling: Telling): Draft {
  const { row, subject } = telling;
  switch (typeOf(row.kind)) {
    case 'incident':
      return incidentDraft(telling);
    case 'heartbeat':
    case 'webhook_check':
      return signalDraft(telling);
    case 'maintenance':
      return maintenanceDraft(telling);
    case 'certificate':
    case 'domain': {
      const read = z.looseObject({ not_after: time, threshold_days: z.number() }).parse(row.payload);
      return draft(telling, row.kind, { not_after: iso(read.not_after), threshold_days: read.threshold_days });
    }
    case 'dnsbl':
      return draft(telling, row.kind, {
        provider: z.looseObject({ provider: z.string() }).parse(row.payload).provider,
      });
    case 'probe': {
      const read = z.looseObject({ region: z.string().nullish(), reason: z.unknown().optional() }).parse(row.payload);
      const reason = typeof read.reason === 'string' ? read.reason : null;
      return draft(telling, row.kind, { region: read.region ?? null, reason });
    }
    default:
      throw new Error(`nothing is told of ${row.kind} of ${subject.type} ${subject.id}`);
  }
}

const incidentPayload = z.looseObject({
  seq: z.number(),
  title: z.string(),
  status: z.string(),
  severity: z.string(),
  resolution: z.string().nullable(),
  started_at: time,
  resolved_at: time.nullable(),
  detected_late: z.boolean(),
  reason: z.string().optional(),
  member_count: z.number(),
  members: z.array(z.looseObject({ type: z.string(), id, name: z.string() })).catch([]),
});

const mostMembers = 20;

function incidentDraft(telling: Telling): Draft {
  const { row, subject, facts } = telling;
  const read = incidentPayload.parse(row.payload);
  const members = read.members.slice(0, mostMembers).map((member) => {
    const known = facts.subjects.get(subjectKey(member.type, member.id));
    return {
      type: member.type,
      id: member.id,
      name: member.name,
      tags: known?.tags ?? [],
      group_ids: known?.groupIds ?? [],
    };
  });
  const covered = read.members.map((member) => facts.subjects.get(subjectKey(member.type, member.id))?.inMaintenance);
  const made = draft(telling, row.kind === 'incident.deleted' ? 'incident.removed' : row.kind, {
    incident: {
      id: subject.id,
      title: read.title,
      status: read.status,
      severity: read.severity,
      resolution: read.resolution,
      started_at: iso(read.started_at),
      resolved_at: read.resolved_at === null ? null : iso(read.resolved_at),
      detected_late: read.detected_late,
    },
    members,
    member_count: read.member_count,
    update: facts.written.get(`${subject.id} ${read.seq}`) ?? null,
    reason: row.kind === 'incident.deleted' ? (read.reason ?? 'removed') : (read.reason ?? null),
  });
  return {
    ...made,
    name: read.title,
    data: {
      ...made.data,
      subject: { ...emptySubject(subject), name: read.title },
      at: iso(read.started_at),
      in_maintenance: covered.length > 0 && covered.every((one) => one === true),
      url: `${facts.publicUrl}/incidents/${subject.id}`,
    },
    isLast: row.kind === 'incident.deleted',
  };
}

function signalDraft(telling: Telling): Draft {
  const { row } = telling;
  const read = z
    .looseObject({ from: z.string().nullish(), to: z.string().nullish(), reason: z.string().nullish() })
    .parse(row.payload);
  return draft(telling, row.kind, { status: read.to ?? null, previous: read.from ?? null, cause: read.reason ?? null });
}

function maintenanceDraft(telling: Telling): Draft {
  const { row, subject } = telling;
  const read = z
    .looseObject({
      name: z.string(),
      occurrence: z.looseObject({ starts_at: time, ends_at: time }).nullish(),
      incident_count: z.number().nullish(),
    })
    .parse(row.payload);
  const made = draft(telling, row.kind, {
    maintenance: {
      id: subject.id,
      name: read.name,
      starts_at: read.occurrence == null ? null : iso(read.occurrence.starts_at),
      ends_at: read.occurrence == null ? null : iso(read.occurrence.ends_at),
    },
    incident_count: read.incident_count ?? null,
  });
  return { ...made, data: { ...made.data, in_maintenance: row.kind === 'maintenance.started' } };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function factsOf(facts: Facts, { type, id: number }: Pick<Subject, 'type' | 'id'>): SubjectFacts | undefined {
  return facts.subjects.get(subjectKey(type, number));
}

const emptySubject = ({ type, id: number }: Subject) => ({
  type,
  id: number,
  name: '',
  target: null,
  tags: [],
  group_ids: [],
});

/** The event of a subject with what all of them say. */
function draft(telling: Telling, type: string, more: Readonly<Record<string, unknown>>): Draft {
  const { row, subject, facts } = telling;
  const { at: atMs, detected_at: detectedMs, name: said } = times.parse(row.payload);
  const known = factsOf(facts, subject);
  const knownMs = detectedMs ?? row.atMs;
  // What is deleted may have lost its name since.
  const name = said ?? known?.name ?? '';
  const isLast = type.endsWith('.deleted') || type === 'monitor.moved';
  const data = {
    subject: {
      ...emptySubject(subject),
      name,
      target: isLast ? null : (known?.target ?? null),
      tags: known?.tags ?? [],
      group_ids: known?.groupIds ?? [],
    },
    at: iso(atMs ?? knownMs),
    in_maintenance: known?.inMaintenance ?? false,
    is_flapping: known?.isFlapping ?? false,
    url: subject.type === 'monitor' && !isLast ? `${facts.publicUrl}/monitors/${subject.id}` : null,
    ...more,
  };
  const { workspaceId, type: subjectType, id: subjectId } = subject;
  return { type, workspaceId, subjectType, subjectId, name, knownMs, data, isLast };
}
