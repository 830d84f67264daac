import { SettingsError } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import { replaceableChannels } from './response/channels/registry.ts';

/** The app that the operator made at the team chat. */
export type TeamChatApp = {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where its pages and methods are, without a slash at the end. */
  readonly url: string;
};

/** What the operator has set for alert channels. */
export type ChannelSettings = {
  /** Addresses of services that were replaced, by the channel's name, without a slash at the end. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** Without one, mails become files. */
  readonly hasMailServer: boolean;
  /** Whether people can connect the team chat by its own page of consent. */
  readonly hasTeamChatApp: boolean;
  /** The app behind that page. */
  readonly teamChatApp?: TeamChatApp;
};

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
