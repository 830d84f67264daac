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
