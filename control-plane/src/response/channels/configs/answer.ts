import type { AlertChannelConfig } from '@parallax/api-contract';
import type { AnySettings } from '../channel.ts';
import { channelOf } from '../registry.ts';
import type { ConfigRow, DisabledTargetRow } from './row.ts';
import { shownSettings } from './shown-settings.ts';

/** A configuration as every route answers it: without credentials. */
export function answerOf(
  row: ConfigRow,
  settings: AnySettings,
  disabled: readonly DisabledTargetRow[],
): AlertChannelConfig {
  const channel = channelOf(row.channel);
  return {
    id: row.id,
    channel: row.channel,
    name: row.name,
    // A channel that is no more has settings that nobody can tell credentials in.
    settings: channel === undefined ? {} : shownSettings(channel, settings),
    is_active: row.is_active,
    disabled_reason: row.disabled_reason,
    disabled_at: isoTime(row.disabled_at),
    failures_in_row: row.failures_in_row,
    last_error:
      row.last_error_code === null || row.last_error_at === null
        ? null
        : { code: row.last_error_code, message: row.last_error ?? '', at: new Date(row.last_error_at).toISOString() },
    last_success_at: isoTime(row.last_success_at),
    disabled_targets: disabled
      .filter((each) => each.channel === row.channel)
      .map(({ target, reason, disabled_at: at }) => ({
        target,
        reason: reason ?? '',
        disabled_at: new Date(at).toISOString(),
      })),
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
    version: row.version,
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
