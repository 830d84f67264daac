import type { Bus } from '../../../platform/bus/bus.ts';
import { statusesSubject } from '../../../platform/bus/subjects.ts';
import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import type { RangeEdit, RangeEvidence, Status } from '../../consensus/index.ts';

/** Whom the news is about. */
export type Subject = { readonly monitorId: number; readonly workspaceId: number };

const iso = (us: number): string => new Date(us / 1_000).toISOString();

/** The news that a monitor's status is another, or that its outage began at another time. */
export function transitionOf(
  subject: Subject,
  told: {
    readonly from: Status;
    readonly to: Status;
    /** Since when the new status holds. */
    readonly atUs: number;
    /** Start of the open range. */
    readonly rangeStartedUs: number | null;
    readonly evidence: RangeEvidence;
  },
  nowUs: number,
): OutboxEntry {
  const hasRange = told.to !== 'UNKNOWN' && told.rangeStartedUs !== null;
  return {
    key: `monitor:${subject.monitorId}`,
    kind: 'monitor.transition',
    payload: {
      monitor_id: subject.monitorId,
      workspace_id: subject.workspaceId,
      from: told.from,
      to: told.to,
      at: iso(told.atUs),
      detected_at: iso(nowUs),
      evidence: told.evidence,
      range_started_at: hasRange ? iso(told.rangeStartedUs ?? 0) : null,
    },
  };
}

/** From when on edits change what was told of a monitor's past (rule 11); undefined when they merely go on where it ended. */
export function revisedSince(edits: readonly RangeEdit[]): number | undefined {
  const revising = edits.filter((edit) => edit.voter === null && isOfThePast(edit));
  if (revising.length === 0) return undefined;
  return Math.min(...revising.flatMap((edit) => [edit.startedUs, newStartOf(edit)]));
}

/** The news that a monitor's past is another from a time on: an outage that is over was found, or one was not what it seemed. */
export function revisionOf(subject: Subject, sinceUs: number, nowUs: number): OutboxEntry {
  return {
    key: `monitor:${subject.monitorId}`,
    kind: 'monitor.revised',
    payload: {
      monitor_id: subject.monitorId,
      workspace_id: subject.workspaceId,
      since: iso(sinceUs),
      detected_at: iso(nowUs),
    },
  };
}

function isOfThePast(edit: RangeEdit): boolean {
  if (edit.op === 'delete') return true;
  if (edit.op === 'update') return edit.revised || (edit.status !== undefined && edit.endedUs !== null);
  return edit.endedUs !== null && (edit.status === 'DOWN' || edit.status === 'TIMEOUT');
}

const newStartOf = (edit: RangeEdit): number =>
  edit.op === 'update' ? (edit.newStartedUs ?? edit.startedUs) : edit.startedUs;

/** Of one message; the broker takes a megabyte. */
const statusesAtOnce = 10_000;

/** Hints, after the commit, whose status is another: group monitors above them are looked at at once. */
export function tellStatuses(bus: Pick<Bus, 'hint'>, statuses: readonly { readonly monitorId: number }[]): void {
  for (let at = 0; at < statuses.length; at += statusesAtOnce) {
    const monitorIds = statuses.slice(at, at + statusesAtOnce).map(({ monitorId }) => monitorId);
    bus.hint(statusesSubject, { monitor_ids: monitorIds });
  }
}
