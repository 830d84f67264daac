import type { Context } from '../../../context.ts';
import type { AnySettings } from '../channel.ts';
import { openSettings } from '../configs/seal-settings.ts';
import type { AnyChannel } from '../registry.ts';
import type { SenderRow } from './row.ts';

/** Settings of a configuration, or of none where the channel can do without; undefined when it cannot, or they are no longer good. */
export function settingsOf(
  context: Pick<Context, 'sealer'>,
  channel: AnyChannel,
  sender: SenderRow | null,
): AnySettings | undefined {
  const stored =
    sender?.config_id == null || sender.sealed_settings === null
      ? {}
      : openSettings(context.sealer, sender.config_id, sender.sealed_settings);
  return channel.settings.safeParse(stored).data;
}
