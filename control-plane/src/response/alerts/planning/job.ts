import type { DatabasePool } from 'slonik';
import type { OwnedTarget } from '../channels-gateway.ts';
import type { AlertParts } from '../channels-gateway.ts';
import { decide } from '../decide/decide.ts';
import type { Occasion } from '../decide/occasion.ts';
import { prepareAlert } from '../decide/wants.ts';
import type { PreparedAlert } from '../decide/wants.ts';
import { alertsOf, claimOccasions, subjectsOf, toldOf } from './queries.ts';
import type { FoundSubject, OccasionRow, ToldOfOccasion } from './queries.ts';
import { writeDecisions } from './writing/queries.ts';
import type { Planned } from './writing/queries.ts';

const occasionsAtOnce = 100;

/** Decides on a batch of occasions that are due. Any number of replicas may do so. @returns how many it looked at */
export async function planOnce(
  pool: DatabasePool,
  { channels }: Pick<AlertParts, 'channels'>,
  nowMs: number,
): Promise<number> {
  return pool.transaction(async (transaction) => {
    const occasions = await claimOccasions(transaction, nowMs, occasionsAtOnce);
    if (occasions.length === 0) return 0;
    const ids = occasions.map(({ id }) => id);
    const over = occasions.filter((each) => each.ended_at !== null).map(({ id }) => id);
    const workspaceIds = [...new Set(occasions.map((each) => each.workspace_id))];
    const alerts = (await alertsOf(transaction, workspaceIds)).map((alert) =>
      prepareAlert(alert, channels.targetKeyOf),
    );
    const subjects = await subjectsOf(transaction, ids);
    const told = await toldOf(transaction, ids, over);
    const owned = targetsOf(alerts, occasions, told);
    const usable = await channels.usable(transaction, owned);
    const planned = occasions.map((occasion): Planned => {
      const found = subjects.get(occasion.id) ?? [];
      const known = told.get(occasion.id);
      return {
        occasion,
        subjects: found,
        decision: decide(
          occasionOf(occasion, found),
          alerts.filter(({ alert }) => alert.workspaceId === occasion.workspace_id),
          known?.told ?? new Map(),
          {
            isUsable: (key) => usable.has(key),
            keepsOpen: (key) => {
              const target = owned.get(key)?.target;
              return target !== undefined && channels.keepsOpen(target);
            },
            isWithdrawable: (key) => known?.withdrawable.has(key) ?? false,
          },
          nowMs,
        ),
      };
    });
    const names = new Map(alerts.map(({ alert }) => [alert.id, alert.name]));
    await writeDecisions(transaction, planned, names, channels.maskTarget, nowMs);
    return occasions.length;
  });
}

function occasionOf(row: OccasionRow, found: readonly FoundSubject[]): Occasion {
  const lasting = found.filter((subject) => !subject.isOver);
  const decisive = lasting.length > 0 ? lasting : found;
  const every = (holds: (subject: FoundSubject) => boolean): boolean => decisive.length > 0 && decisive.every(holds);
  return {
    event: row.event,
    severity: row.severity,
    isLasting: row.is_lasting,
    startedMs: row.started_at,
    openedMs: row.opened_at,
    endedMs: row.ended_at,
    resolution: row.resolution,
    isAcknowledged: row.acknowledged_at !== null,
    problemSeq: row.problem_seq,
    seq: row.seq,
    pending: row.pending,
    subjects: found,
    // What a person opens is meant to be told; an all-clear is of what was covered.
    isUnderMaintenance:
      !row.is_manual && row.event !== 'maintenance.all_clear' && every((each) => each.isUnderMaintenance),
    isFlapping: row.event !== 'maintenance.all_clear' && every(({ flaps }) => flaps),
  };
}

/** Every target that may be told something, by its key. */
function targetsOf(
  alerts: readonly PreparedAlert[],
  occasions: readonly OccasionRow[],
  told: ReadonlyMap<number, ToldOfOccasion>,
): ReadonlyMap<string, OwnedTarget> {
  const targets = new Map<string, OwnedTarget>();
  for (const occasion of occasions) {
    for (const [key, each] of told.get(occasion.id)?.told ?? []) {
      targets.set(key, { ownerId: each.ownerId, workspaceId: occasion.workspace_id, target: each.target });
    }
  }
  for (const { alert, steps, failover } of alerts) {
    for (const { key, target } of [...steps.flat(), ...(failover === null ? [] : [failover])]) {
      targets.set(key, { ownerId: alert.ownerId, workspaceId: alert.workspaceId, target });
    }
  }
  return targets;
}
