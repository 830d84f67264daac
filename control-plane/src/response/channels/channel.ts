import type { z } from 'zod';
import type { Message } from '../messages/index.ts';

/** Settings of a configuration as its schema gives them. */
export type AnySettings = Readonly<Record<string, unknown>>;

/**
 * A way in which people are told: one file in `kinds/`, one line in `registry.ts`. It holds what a service wants to be sent and what its answers
 * mean; when, how often and to whom is decided elsewhere.
 */
export type Channel<Settings extends AnySettings = AnySettings, Content = unknown> = {
  /** The neutral word of the API: `messenger`, `team-chat`, `chat`, `email`, `pagerduty` … */
  readonly name: string;
  /** Names that are accepted for it as well: `telegram`, `slack`, `discord`. */
  readonly aliases?: readonly string[];
  /** What people call it: "Telegram". */
  readonly title: string;
  /** Where the service documents what is sent here. */
  readonly documentation: string | null;
  /** How somebody gets the settings and the target, for the generated reference: one to four sentences. */
  readonly setup: string;
  /** A strict object; every field has bounds and a `describe`. */
  readonly settings: z.ZodType<Settings>;
  /** Fields that are never shown: names, or `destinations[].url`. */
  readonly secrets: readonly string[];
  /** What one configuration reaches: one address, chat or number of many. */
  readonly target: TargetRule<Settings>;
  /** What the operator must have set for it to work; absent: nothing. Gives the reason why it is not available. */
  readonly missing?: (operator: OperatorChannels) => string | null;
  /** Whether the installation itself can send, so that no configuration is needed. Absent: when all settings have defaults. */
  readonly sendsWithoutConfig?: (operator: OperatorChannels) => boolean;
  /** The fixed service's address, which the operator may replace (`PARALLAX_CHANNEL_BASE_URLS`). Absent: tenants name the address. */
  readonly baseUrl?: string;
  /** How long a sending may take, milliseconds; 10,000 when absent, at most 30,000. */
  readonly timeoutMs?: number;
  /** Whether the service closes what it opened when it is told so with the same key. */
  readonly closes?: boolean;
  /** Pure: what is sent of a message. Escapes for the service's markup and cuts to the service's limits (by characters as the service counts them). */
  readonly render: (message: Message, settings: Settings, target: string) => Content;
  /** Sends it once. @throws DeliveryError, and nothing else that is meant */
  readonly send: (content: Content, to: Recipient<Settings>, io: ChannelIo) => Promise<Delivered>;
};

export type Recipient<Settings> = { readonly settings: Settings; readonly target: string; readonly message: Message };

export type TargetRule<Settings> = {
  /** What it is, for forms and for the reference: "chat id", "telephone number in E.164". */
  readonly label: string;
  readonly example: string;
  /** Reads what a person typed; gives it in the one form in which it is compared, or says what is wrong with it. */
  readonly parse: (
    text: string,
    settings: Settings,
  ) => { readonly ok: true; readonly target: string } | { readonly ok: false; readonly problem: string };
  /** The target alone says who is reached, whoever sends: a telephone number, a mail address. Else it is a name inside of one configuration. */
  readonly isGlobal?: boolean;
  /**
   * What tells who is really reached, where the target alone does not: the same for two people whose configurations lead to one room. Absent, or
   * undefined: nobody else's leads there.
   */
  readonly reaches?: (target: string, settings: Settings) => string | undefined;
  /** As it stands in histories: `a…e@example.com`, `…4567`. */
  readonly mask: (target: string) => string;
};

/** What a successful sending leaves: the service's own name of the message, where it gives one. */
export type Delivered = { readonly reference?: string };

/** What operators set for channels. */
export type OperatorChannels = {
  readonly hasMailServer: boolean;
  readonly hasMessengerBot: boolean;
  readonly hasTeamChatApp: boolean;
};

/** What channels act with: handed in, so that nobody dials on their own. */
export type ChannelIo = {
  /**
   * One HTTP exchange without redirects. Whom tenants name is dialled through the address policy; a channel's own `baseUrl` (as the operator has
   * it) is trusted. @throws DeliveryError for what is no answer: names, connections, TLS, time
   */
  readonly request: (request: OutgoingRequest) => Promise<IncomingResponse>;
  /** The base URL in force for this channel, without a slash at its end. */
  readonly baseUrl: string;
  readonly mail: (mail: OutgoingMail) => Promise<Delivered>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The installation's own address, without a slash at its end. */
  readonly publicUrl: string;
  /** Token of the installation's messenger bot; undefined: there is none. */
  readonly messengerBotToken: string | undefined;
  /** The browsers that the owner of the configuration has subscribed; only web push has any use for them. */
  readonly browsers?: SubscribedBrowsers | undefined;
};

/** Browsers of one user that take push messages. */
export type SubscribedBrowsers = {
  /** Those that have not expired. @param id of one of them; null: all */
  readonly find: (id: number | null) => Promise<readonly SubscribedBrowser[]>;
  /** Forgets those whose push service says that they are gone. */
  readonly remove: (ids: readonly number[]) => Promise<void>;
  /** Notes that their push services took a message. */
  readonly noteDelivered: (ids: readonly number[]) => Promise<void>;
  /** The installation's key, base64url. */
  readonly vapidKeys: () => Promise<{ readonly publicKey: string; readonly privateKey: string }>;
};

export type SubscribedBrowser = {
  readonly id: number;
  readonly name: string;
  /** A URL that a tenant has named, and a secret. */
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
};

export type OutgoingRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute. Credentials never stand in it unless the service wants it so. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, URLSearchParams as a form, text and bytes as they are. */
  readonly body?: unknown;
  /** Words that must not stand in a trace or an error: tokens, keys, secret paths. */
  readonly secrets?: readonly string[];
};

/** Bodies are cut at 64 KiB. */
export type IncomingResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
};

export type OutgoingMail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
};
