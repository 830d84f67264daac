import { SettingsError } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import { replaceableChannels } from './response/channels/index.ts';
import type { ChannelSettings } from './response/channels/operator-settings.ts';

/**
 * What the settings say of alert channels.
 * @throws SettingsError for a base URL of a channel that has none
 */
export function channelSettings(settings: Pick<ControlPlaneSettings, 'channelBaseUrls' | 'smtpUrl'>): ChannelSettings {
  const baseUrls = settings.channelBaseUrls ?? {};
  const unknown = Object.keys(baseUrls).filter((name) => !replaceableChannels.includes(name));
  if (unknown.length > 0) {
    throw new SettingsError([
      `PARALLAX_CHANNEL_BASE_URLS names ${unknown.join(', ')}; channels whose address can be replaced: ${replaceableChannels.join(', ')}`,
    ]);
  }
  return { baseUrls, hasMailServer: settings.smtpUrl !== undefined, hasTeamChatApp: false };
}
