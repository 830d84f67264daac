import type { DatabasePool } from 'slonik';
import type { AlertParts, OwnedTarget } from '../channels-gateway.ts';
import { decide } from '../decide/decide.ts';
import type { Decision, Targets } from '../decide/decide.ts';
import type { Occasion } from '../decide/occasion.ts';
import { namedBy, prepareAlert } from '../decide/wants.ts';
import type { PreparedAlert } from '../decide/wants.ts';
import { noteHeld } from '../occasions/held.queries.ts';
import { alertsOf, claimOccasions, isAnyDue, toldOf } from './queries.ts';
import type { OccasionRow, ToldOfOccasion } from './queries.ts';
import { subjectsOf } from './subjects/queries.ts';
import type { FoundSubject } from './subjects/queries.ts';
import { writeDecisions } from './writing/queries.ts';
import type { Planned } from './writing/queries.ts';

const occasionsAtOnce = 100;

/** What cannot be read or decided on. */
export type Undecided = { readonly alert_id: number } | { readonly occasion_id: number };

/** Decides on a batch of occasions that are due. Any number of replicas may do so. @returns how many it looked at */
export async function planOnce(
  pool: DatabasePool,
  { channels }: Pick<AlertParts, 'channels'>,
  nowMs: number,
  onError: (error: unknown, of: Undecided) => void = () => undefined,
): Promise<number> {
  await noteHeld(pool, nowMs);
  if (!(await isAnyDue(pool, nowMs))) return 0;
  return pool.transaction(async (transaction) => {
    const occasions = await claimOccasions(transaction, nowMs, occasionsAtOnce);
    if (occasions.length === 0) return 0;
    const ids = occasions.map(({ id }) => id);
    const over = occasions.filter((each) => each.ended_at !== null).map(({ id }) => id);
    const workspaceIds = [...new Set(occasions.map((each) => each.workspace_id))];
    const active = await alertsOf(transaction, workspaceIds, (error, id) => onError(error, { alert_id: id }));
    const keyOf = await channels.keysOf(transaction, active.flatMap(namedBy));
    const alerts = active.map((alert) => prepareAlert(alert, keyOf));
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
        decision: decideGuarded(
          occasionOf(occasion, found),
          alerts.filter(({ alert }) => alert.workspaceId === occasion.workspace_id),
          known?.told ?? new Map(),
          {
            isUsable: (ownerId, target) => usable.has(wayKey({ ownerId, workspaceId: occasion.workspace_id, target })),
            keepsOpen: channels.keepsOpen,
            isWithdrawable: (key) => known?.withdrawable.has(key) ?? false,
          },
          nowMs,
          (error) => onError(error, { occasion_id: occasion.id }),
        ),
      };
    });
    const names = new Map(alerts.map(({ alert }) => [alert.id, alert.name]));
    await writeDecisions(transaction, planned, names, channels.maskTarget, nowMs);
    return occasions.length;
  });
}

/** What cannot be decided, as by a zone that this system does not know, is looked at again, and holds up nothing else. */
const againMs = 60_000;

function decideGuarded(
  occasion: Occasion,
  alerts: readonly PreparedAlert[],
  told: ToldOfOccasion['told'],
  targets: Targets,
  nowMs: number,
  onError: (error: unknown) => void,
): Decision {
  try {
    return decide(occasion, alerts, told, targets, nowMs);
  } catch (error) {
    onError(error);
    const { pending } = occasion;
    return { notifications: [], told: new Map(), withdrawn: new Map(), pending, lookAtMs: nowMs + againMs };
  }
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
    // What a person opens is meant to be told; an all-clear is of what was covered. What is not announced yet is held, whoever looks first.
    isUnderMaintenance:
      row.seq === 0 ||
      (!row.is_manual && row.event !== 'maintenance.all_clear' && every((each) => each.isUnderMaintenance)),
    isFlapping: row.event !== 'maintenance.all_clear' && every(({ flaps }) => flaps),
    isObsolete: row.is_obsolete,
  };
}

/** One target may be named by several people, of whom not everybody may send to it, and in several workspaces. */
const wayKey = ({ ownerId, workspaceId, target: { channel, config_id: configId, target } }: OwnedTarget): string =>
  JSON.stringify([ownerId, workspaceId, channel, configId, target]);

/** Every target that may be told something, as everybody names it who does. */
function targetsOf(
  alerts: readonly PreparedAlert[],
  occasions: readonly OccasionRow[],
  told: ReadonlyMap<number, ToldOfOccasion>,
): ReadonlyMap<string, OwnedTarget> {
  const ways = [
    ...occasions.flatMap((occasion) =>
      [...(told.get(occasion.id)?.told.values() ?? [])].map(({ ownerId, target }) => {
        return { ownerId, workspaceId: occasion.workspace_id, target };
      }),
    ),
    ...alerts.flatMap(({ alert: { ownerId, workspaceId }, keys }) =>
      [...keys.values()].map((target) => ({ ownerId, workspaceId, target })),
    ),
  ];
  return new Map(ways.map((way) => [wayKey(way), way]));
}
