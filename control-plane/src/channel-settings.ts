import { SettingsError } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import { replaceableChannels } from './response/channels/index.ts';

/** What the operator has set for alert channels. */
export type ChannelSettings = {
  /** Addresses of services that were replaced, by the channel's name, without a slash at the end. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** Without one, mails become files. */
  readonly hasMailServer: boolean;
  /** Whether people can connect the team chat by its own page of consent. */
  readonly hasTeamChatApp: boolean;
};

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
