import { alertEvents, Problem } from '@parallax/api-contract';
import type { UpdateAlert } from '@parallax/api-contract';
import type { Covered } from '../../maintenance/index.ts';
import type { AlertRow } from './row.ts';
import { givenTarget, sameSteps, sameTarget, shownTarget } from './targets.ts';
import type { OwnDefaults, StoredTarget } from './targets.ts';
import type { AlertValues } from './values.ts';

/** Whom an alert tells from now on: as before, or anew by somebody. */
export type TargetRight = 'unchanged' | 'owner' | 'takes_over';

/**
 * Whether somebody may give an alert the targets of a body. Targets name configurations of its owner, so that others could send through them
 * where they like: others may leave them as they are shown to them, and take over an alert whose owner is no member any more.
 * @param mask how targets are shown to others
 * @throws Problem `forbidden`
 */
export function targetRight(
  alert: Pick<AlertRow, 'owner_id' | 'owner' | 'steps' | 'failover'>,
  body: Pick<UpdateAlert, 'steps' | 'failover'>,
  userId: number,
  own: OwnDefaults,
  mask: (target: StoredTarget) => string,
): TargetRight {
  if (body.steps === undefined && body.failover === undefined) return 'unchanged';
  if (alert.owner_id === userId) return 'owner';
  const shownSteps = alert.steps.map((step) => ({
    ...step,
    targets: step.targets.map((target) => shownTarget(target, mask)),
  }));
  const keepsSteps =
    body.steps === undefined ||
    sameSteps(
      body.steps.map((step) => ({ ...step, targets: step.targets.map((target) => givenTarget(target, own)) })),
      shownSteps,
    );
  const keepsFailover =
    body.failover === undefined ||
    (body.failover === null
      ? alert.failover === null
      : alert.failover !== null && sameTarget(givenTarget(body.failover, own), shownTarget(alert.failover, mask)));
  if (keepsSteps && keepsFailover) return 'unchanged';
  if (alert.owner === null && body.steps !== undefined) return 'takes_over';
  throw new Problem(
    'forbidden',
    alert.owner === null
      ? 'the owner of this alert is no member any more; send new steps to take it over'
      : 'the targets of an alert are changed by who made it; make an alert of your own',
  );
}

/** The fields of an alert beside its scope, as they are stored. */
export function valuesOf(row: AlertRow): AlertValues {
  return {
    name: row.name,
    description: row.description,
    is_active: row.is_active,
    // Alerts that were made without a word about events may have them in another order than a body is read in.
    events: alertEvents.filter((event) => row.events.includes(event)),
    steps: row.steps,
    failover: row.failover,
    notify_on_recovery: row.notify_on_recovery,
    min_duration_seconds: row.min_duration_seconds,
    reminder_interval_seconds: row.reminder_interval_seconds,
    quiet_hours: row.quiet_hours,
    muted_until: row.muted_until,
  };
}

/** What an alert covers, as it is stored. */
export function coveredOf(row: AlertRow): Covered {
  const idsOf = (type: AlertRow['subjects'][number]['type']) =>
    row.subjects.filter((subject) => subject.type === type).map(({ id }) => id);
  return {
    all: row.covers_all,
    monitorIds: idsOf('monitor'),
    heartbeatIds: idsOf('heartbeat'),
    webhookCheckIds: idsOf('webhook_check'),
    groupIds: row.group_ids,
    tags: row.tags,
  };
}
