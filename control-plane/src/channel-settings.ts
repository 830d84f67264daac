import { SettingsError } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import { replaceableChannels } from './response/channels/index.ts';
import type { ChannelSettings, TeamChatApp } from './response/channels/index.ts';

type Given = Pick<
  ControlPlaneSettings,
  'channelBaseUrls' | 'smtpUrl' | 'teamChatClientId' | 'teamChatClientSecret' | 'teamChatUrl'
>;

/**
 * What the settings say of alert channels.
 * @throws SettingsError for a base URL of a channel that has none, and for half an app of the team chat
 */
export function channelSettings(settings: Given): ChannelSettings {
  const baseUrls = settings.channelBaseUrls ?? {};
  const unknown = Object.keys(baseUrls).filter((name) => !replaceableChannels.includes(name));
  if (unknown.length > 0) {
    throw new SettingsError([
      `PARALLAX_CHANNEL_BASE_URLS names ${unknown.join(', ')}; channels whose address can be replaced: ${replaceableChannels.join(', ')}`,
    ]);
  }
  const teamChatApp = teamChatAppOf(settings);
  return {
    baseUrls,
    hasMailServer: settings.smtpUrl !== undefined,
    hasTeamChatApp: teamChatApp !== undefined,
    ...(teamChatApp !== undefined && { teamChatApp }),
  };
}

function teamChatAppOf(settings: Given): TeamChatApp | undefined {
  const { teamChatClientId: clientId, teamChatClientSecret: clientSecret } = settings;
  if (clientId === undefined && clientSecret === undefined) return undefined;
  if (clientId !== undefined && clientSecret !== undefined) {
    return { clientId, clientSecret, url: settings.teamChatUrl.replace(/\/+$/, '') };
  }
  throw new SettingsError([
    'the team chat needs PARALLAX_TEAM_CHAT_CLIENT_ID and PARALLAX_TEAM_CHAT_CLIENT_SECRET: set both or none',
  ]);
}
