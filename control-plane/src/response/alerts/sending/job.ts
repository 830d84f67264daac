import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { AlertParts, Links } from '../channels-gateway.ts';
import { mostAttempts, retryAtMs } from '../decide/retry.ts';
import { closingOf, membersOf, nameOf, reportOf, seenOf, writtenOf } from './facts/queries.ts';
import type { Message, Notice } from '../../messages/index.ts';
import { noticeOfMany, noticeOfOne } from './notice-of.ts';
import { claimDeliveries } from './claim/queries.ts';
import type { ClaimedDelivery } from './claim/queries.ts';
import { giveBack, noteFailed, noteSent, partsOf, suppress } from './queries.ts';
import type { Part } from './queries.ts';
import { stillHolds } from './still-holds.ts';
import { toldAfterMs } from './told-after.ts';

/** Messages under way at once: of this process, and of one workspace, so that one whose services hang leaves room for the others. */
const mostUnderWay = 64;
const mostOfWorkspace = 16;

/** A message that is over waits so long for the decision on what is told instead; longer where quiet hours hold that back. */
const waitMs = 500;
const waitHeldMs = 30_000;

export type SenderContext = {
  readonly pool: DatabasePool;
  readonly parts: AlertParts;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly replica: string;
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
};

export type Sender = {
  /** Begins to send what is due and has room. @returns how many it began */
  readonly begin: () => Promise<number>;
  /** When nothing is under way any more. */
  readonly idle: () => Promise<void>;
};

/** Sends messages, each in its own time: a service that hangs holds up nobody but its own target. */
export function createSender(context: SenderContext, onDone: () => void = () => undefined): Sender {
  const underWay = new Map<number, { readonly workspaceId: number; readonly done: Promise<void> }>();
  return {
    begin: async () => {
      const room = mostUnderWay - underWay.size;
      if (room <= 0) return 0;
      const shares = {
        underWay: countsOf(underWay),
        mostOfWorkspace,
        channelsInLanes: context.parts.channels.keepingOpen,
      };
      const claimed = await claimDeliveries(context.pool, context.replica, context.now(), room, shares);
      if (claimed.length === 0) return 0;
      const parts = await partsOf(
        context.pool,
        claimed.map(({ id }) => id),
        context.now(),
      );
      for (const delivery of claimed) {
        const done = sendOne(context, delivery, parts.get(delivery.id) ?? [])
          .catch((error: unknown) => {
            // It stays ours until its lease is over, and is sent again then.
            context.log.error({ err: error, delivery_id: delivery.id }, 'a message was not sent, or not noted');
          })
          .finally(() => {
            underWay.delete(delivery.id);
            onDone();
          });
        underWay.set(delivery.id, { workspaceId: delivery.workspace_id, done });
      }
      return claimed.length;
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}

function countsOf(underWay: ReadonlyMap<number, { readonly workspaceId: number }>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { workspaceId } of underWay.values()) counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
  return counts;
}

async function sendOne(context: SenderContext, delivery: ClaimedDelivery, carried: readonly Part[]): Promise<void> {
  const { pool, parts } = context;
  // It was decided while they were.
  if (!delivery.is_member) return noteFailed(pool, delivery, ownerLeft, null, context.now());
  const verdicts = carried.map((part) => ({ part, verdict: stillHolds(part) }));
  const isDigest = delivery.kind === 'digest' || delivery.kind === 'after_quiet';
  // A digest says of each thing how it is now.
  if (!isDigest && verdicts.some(({ verdict }) => verdict === 'wait')) {
    const isHeld = carried.some((part) => part.is_held);
    return giveBack(pool, delivery.id, context.now() + (isHeld ? waitHeldMs : waitMs));
  }
  const sent = verdicts.filter(({ verdict }) => typeof verdict === 'string').map(({ part }) => part);
  const dropped = verdicts.flatMap(({ part, verdict }) =>
    typeof verdict === 'string' ? [] : [{ notificationId: part.notificationId, reason: verdict.suppress }],
  );
  const [first] = sent;
  await suppress(pool, dropped, first === undefined ? [delivery.id] : [], context.now());
  if (first === undefined) return;
  const notice = isDigest ? noticeOfMany(delivery, sent, context.publicUrl) : await noticeOf(context, delivery, first);
  const message = composed(context, delivery, notice);
  if (message === null) return noteFailed(pool, delivery, notComposed, null, context.now());
  const to = { ownerId: delivery.owner_id, workspaceId: delivery.workspace_id, target: delivery.target };
  const outcome = await parts.channels.deliver(to, message, delivery.attempts >= mostAttempts);
  const nowMs = context.now();
  if (outcome.ok) {
    noteTold(parts, delivery, sent, nowMs);
    return noteSent(pool, delivery.id, { ...outcome, text: parts.asText(message) }, nowMs);
  }
  const retryMs = retryAtMs(delivery.attempts, outcome.fault, outcome.retryAfterMs, nowMs);
  await noteFailed(pool, delivery, outcome, retryMs, nowMs);
}

function noteTold(parts: AlertParts, delivery: ClaimedDelivery, sent: readonly Part[], nowMs: number): void {
  for (const part of sent) {
    const afterMs = toldAfterMs(part, delivery.kind === 'after_quiet', nowMs);
    if (afterMs !== undefined) parts.noteTold?.(delivery.target.channel, afterMs);
  }
}

const ownerLeft = {
  code: 'not_configured',
  fault: 'target',
  message: 'Whose alert it is has left the workspace.',
  latencyMs: 0,
};

/** A defect of ours: trying again would not help, and others are told instead. */
const notComposed = {
  code: 'internal',
  fault: 'message',
  message: 'the message could not be made; this is a defect of Parallax',
  latencyMs: 0,
};

function composed({ parts, log }: SenderContext, delivery: ClaimedDelivery, notice: Notice): Message | null {
  try {
    return parts.compose(notice);
  } catch (error) {
    log.error({ err: error, delivery_id: delivery.id }, 'a message could not be made');
    return null;
  }
}

async function noticeOf(context: SenderContext, delivery: ClaimedDelivery, part: Part): Promise<Notice> {
  const { pool } = context;
  const { incident_id: incidentId } = part;
  const members = incidentId === null ? undefined : (await membersOf(pool, [incidentId])).get(incidentId);
  const first = members?.subjects[0];
  const seen =
    first?.type === 'monitor' ? await seenOf(pool, first.id, first.startedMs, members?.cause?.['evidence']) : undefined;
  const isWritten = incidentId !== null && part.kind === 'updated' && part.reason === 'update';
  const written = isWritten ? await writtenOf(pool, incidentId, part.seq) : null;
  const isClosed = incidentId !== null && part.resolution === 'manual' && endKinds.has(part.kind);
  const closing = isClosed ? await closingOf(pool, incidentId, part.seq) : null;
  const ping = first?.type === 'heartbeat' ? pingOf(members?.cause?.['evidence']) : null;
  const report = first === undefined || ping === null ? null : await reportOf(pool, first.id, ping);
  const { removed_by: removedById } = part.facts;
  const isRemoved = part.resolution === 'removed' && typeof removedById === 'number';
  const removedBy = isRemoved ? await nameOf(pool, removedById) : null;
  const more = { members, removedBy, seen, written, closing, report };
  const notice = (links?: Links): Notice => noticeOfOne(delivery, part, more, links, context.publicUrl, context.now());
  const title = composed(context, delivery, notice())?.title;
  return title === undefined ? notice() : notice(await linksOf(context, delivery, part, title));
}

/** What tells that a problem is over; their number is that of the problem. */
const endKinds: ReadonlySet<Part['kind']> = new Set(['resolved', 'was_down']);

/** By which signal a heartbeat failed; null of one that was missed. */
function pingOf(evidence: unknown): number | null {
  if (typeof evidence !== 'object' || evidence === null || !('ping' in evidence)) return null;
  return typeof evidence.ping === 'number' ? evidence.ping : null;
}

/** Pages by which the reader acts; there is nothing to be done of what is over or told once. */
async function linksOf(
  { pool, parts }: SenderContext,
  delivery: ClaimedDelivery,
  part: Part,
  title: string,
): Promise<Links | undefined> {
  if (parts.linksFor === undefined || !part.is_lasting || part.ended_at !== null) return undefined;
  const request = {
    occasionId: part.occasionId,
    targetKey: delivery.target_key,
    workspaceId: delivery.workspace_id,
    isIncident: part.incident_id !== null,
    title,
  };
  const [links] = await parts.linksFor(pool, [request]);
  return links;
}
