/** What the operator has set for alert channels. */
export type ChannelSettings = {
  /** Addresses of services that were replaced, by the channel's name, without a slash at the end. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** Without one, mails become files. */
  readonly hasMailServer: boolean;
  /** Whether people can connect the team chat by its own page of consent. */
  readonly hasTeamChatApp: boolean;
};
