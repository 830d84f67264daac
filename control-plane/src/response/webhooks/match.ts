import { matchesEventPattern } from '@parallax/api-contract';
import { z } from 'zod';

const subject = z.object({
  type: z.string(),
  id: z.number(),
  tags: z.array(z.string()).catch([]),
  group_ids: z.array(z.number()).catch([]),
});
const facts = z.object({
  data: z.object({
    in_maintenance: z.boolean().catch(false),
    members: z.array(z.unknown()).catch([]),
    subject: subject.partial({ tags: true, group_ids: true }).optional().catch(undefined),
  }),
});

type Subject = {
  readonly type: string;
  readonly id: number;
  readonly tags: readonly string[];
  readonly groupIds: readonly number[];
};

/** What filters look at. */
export type EventFacts = {
  readonly type: string;
  readonly inMaintenance: boolean;
  /** Its subject, and the members of an incident. */
  readonly subjects: readonly Subject[];
};

/** The filters of a webhook. Groups include those that have one of its tags. */
export type WebhookFilters = {
  readonly events: readonly string[];
  readonly duringMaintenance: 'send' | 'skip';
  readonly all: boolean;
  readonly tags: readonly string[];
  /** "monitor 17" */
  readonly subjects: ReadonlySet<string>;
  readonly groupIds: ReadonlySet<number>;
};

/** What filters look at in an event that is stored. */
export function factsOf(event: {
  readonly type: string;
  readonly subjectType: string;
  readonly subjectId: number;
  readonly body: string;
}): EventFacts {
  const own: Subject = { type: event.subjectType, id: event.subjectId, tags: [], groupIds: [] };
  const read = facts.safeParse(parsed(event.body));
  if (!read.success) return { type: event.type, inMaintenance: false, subjects: [own] };
  const { in_maintenance: inMaintenance, members, subject: named } = read.data.data;
  const others = members.flatMap((member) => {
    const one = memberOf(member);
    return one === undefined ? [] : [one];
  });
  return {
    type: event.type,
    inMaintenance,
    subjects: [{ ...own, tags: named?.tags ?? [], groupIds: named?.group_ids ?? [] }, ...others],
  };
}

/** A member stands as a subject, or holds one. */
function memberOf(member: unknown): Subject | undefined {
  const read = z.union([subject, z.object({ subject })]).safeParse(member);
  if (!read.success) return undefined;
  const { type, id, tags, group_ids: groupIds } = 'subject' in read.data ? read.data.subject : read.data;
  return { type, id, tags, groupIds };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a webhook is sent an event: by its type, its scope, which one member satisfies, and maintenance. */
export function matches(filters: WebhookFilters, event: EventFacts): boolean {
  if (!matchesEventPattern(filters.events, event.type)) return false;
  if (event.inMaintenance && filters.duringMaintenance === 'skip') return false;
  return filters.all || event.subjects.some((one) => covers(filters, one));
}

function covers(filters: WebhookFilters, { type, id, tags, groupIds }: Subject): boolean {
  return (
    filters.subjects.has(`${type} ${id}`) ||
    tags.some((tag) => filters.tags.includes(tag)) ||
    groupIds.some((group) => filters.groupIds.has(group))
  );
}
