import type { AlertEvent } from '@parallax/api-contract';
import type { Alert } from '../alert.ts';
import { matches } from '../decide/matches.ts';
import type { OccasionSubject } from '../decide/occasion.ts';
import { quietUntil } from '../decide/quiet-hours.ts';
import type { AlertRow } from '../rules/row.ts';

/** How an alert stands to something that might happen now. */
export type Told = { readonly isMuted: boolean; readonly isQuiet: boolean };

/**
 * Whether an alert would tell of an event of a subject, by the rules by which it really does; null: it would not.
 * @param subject null: of none, as an incident by hand
 * @param nowMs milliseconds since the epoch
 */
export function wouldTell(
  row: AlertRow,
  event: AlertEvent,
  subject: Omit<OccasionSubject, 'event'> | null,
  nowMs: number,
): Told | null {
  if (!row.is_active) return null;
  const occasion = {
    event,
    severity: 'major' as const,
    isLasting: true,
    startedMs: nowMs,
    openedMs: nowMs,
    endedMs: null,
    resolution: null,
    isAcknowledged: false,
    problemSeq: 1,
    seq: 1,
    pending: [],
    subjects: subject === null ? [] : [{ ...subject, event }],
    isUnderMaintenance: false,
    isFlapping: false,
    isObsolete: false,
  };
  if (!matches(alertOf(row), occasion)) return null;
  return {
    isMuted: row.muted_until !== null && row.muted_until > nowMs,
    isQuiet: quietUntil(row.quiet_hours, occasion.severity, nowMs) !== null,
  };
}

/** An alert as decisions read it. */
function alertOf(row: AlertRow): Alert {
  const idsOf = (type: AlertRow['subjects'][number]['type']): ReadonlySet<number> =>
    new Set(row.subjects.filter((one) => one.type === type).map(({ id }) => id));
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    ownerId: row.owner_id,
    name: row.name,
    scope: {
      all: row.covers_all,
      tags: row.tags,
      monitorIds: idsOf('monitor'),
      groupIds: new Set(row.group_ids),
      heartbeatIds: idsOf('heartbeat'),
      webhookCheckIds: idsOf('webhook_check'),
    },
    events: new Set(row.events),
    steps: row.steps,
    failover: row.failover,
    minDurationSeconds: row.min_duration_seconds,
    reminderIntervalSeconds: row.reminder_interval_seconds,
    quietHours: row.quiet_hours,
    mutedUntilMs: row.muted_until,
    notifyOnRecovery: row.notify_on_recovery,
    activeSinceMs: 0,
  };
}
