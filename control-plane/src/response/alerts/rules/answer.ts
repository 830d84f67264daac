import type { Alert, UnusableReason } from '@parallax/api-contract';
import { isEmptyScope } from '../../maintenance/index.ts';
import { coveredOf } from './change.ts';
import type { AlertRow } from './row.ts';
import { shownTarget } from './targets.ts';
import type { StoredTarget } from './targets.ts';

/** Who reads, and how what is not theirs is masked. */
export type Reader = { readonly userId: number; readonly mask: (target: StoredTarget) => string };

/** A target that nothing is sent to at present. */
export type UnusableTarget = { readonly target: StoredTarget; readonly reason: UnusableReason };

const iso = (ms: number): string => new Date(ms).toISOString();

/** An alert as somebody may see it: addresses stand whole only before its owner. */
export function answerOf(row: AlertRow, reader: Reader, unusable: readonly UnusableTarget[]): Alert {
  const mask = row.owner_id === reader.userId ? undefined : reader.mask;
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    description: row.description,
    is_active: row.is_active,
    disabled_reason: row.owner === null ? 'owner_left' : isEmptyScope(coveredOf(row)) ? 'scope_empty' : null,
    is_default: row.is_default,
    owner: row.owner,
    scope: { all: row.covers_all, subjects: row.subjects, group_ids: row.group_ids, tags: row.tags },
    events: row.events,
    steps: row.steps.map(({ after_seconds, targets }) => ({
      after_seconds,
      targets: targets.map((target) => shownTarget(target, mask)),
    })),
    notify_on_recovery: row.notify_on_recovery,
    min_duration_seconds: row.min_duration_seconds,
    reminder_interval_seconds: row.reminder_interval_seconds,
    failover: row.failover === null ? null : shownTarget(row.failover, mask),
    unusable_targets: unusable.map(({ target, reason }) => {
      const { channel, config_id, target: shown } = shownTarget(target, mask);
      return { channel, config_id, target: shown, reason };
    }),
    quiet_hours: row.quiet_hours,
    muted_until: row.muted_until === null ? null : iso(row.muted_until),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    version: row.version,
  };
}
