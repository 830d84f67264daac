import type { CommonQueryMethods } from 'slonik';
import type { Message, Notice } from '../messages/index.ts';
import type { AlertTarget } from './alert.ts';

/** One target of somebody's. */
export type OwnedTarget = { readonly ownerId: number; readonly workspaceId: number; readonly target: AlertTarget };

/** Whether a failed sending may be tried again (`passing`), or what of it is wrong for good. */
export type Fault = 'passing' | 'message' | 'target' | 'configuration';

/** What became of a sending. It never throws for what a service or a network does. */
export type Sent =
  | { readonly ok: true; readonly latencyMs: number; readonly reference: string | null }
  | {
      readonly ok: false;
      readonly latencyMs: number;
      /** Stable and documented with the channels. */
      readonly code: string;
      readonly fault: Fault;
      /** Says what happened and what to do, without secrets; at most 1,000 characters. */
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    };

/** What the engine asks of channels. */
export type Channels = {
  /**
   * Keys of targets of owners: the same for what reaches the same people by the same way, whoever names it and however; without secrets, at most 300
   * characters. One or two queries for all.
   */
  readonly keysOf: (
    connection: CommonQueryMethods,
    targets: readonly { readonly ownerId: number; readonly target: AlertTarget }[],
  ) => Promise<(ownerId: number, target: AlertTarget) => string>;
  /** Pure. As it stands in histories. */
  readonly maskTarget: (target: AlertTarget) => string;
  /** Pure. Whether it is a service that keeps open what it was told until it is told of its end: it is sent no digests. */
  readonly keepsOpen: (target: AlertTarget) => boolean;
  /** The channels of such services. */
  readonly keepingOpen: readonly string[];
  /**
   * Of targets, by their keys, those that can be sent to now: the configuration is active and its owner still a member who may be told, the address
   * is confirmed and not disabled. One query for all.
   */
  readonly usable: (
    connection: CommonQueryMethods,
    targets: ReadonlyMap<string, OwnedTarget>,
  ) => Promise<ReadonlySet<string>>;
  /** Sends one message once; at most 30 s. `isLastAttempt`: it is not tried again after this. */
  readonly deliver: (to: OwnedTarget, message: Message, isLastAttempt: boolean) => Promise<Sent>;
};

/** For which message a page of a reader is. */
export type LinkRequest = {
  readonly occasionId: number;
  readonly targetKey: string;
  readonly workspaceId: number;
  /** It can be acknowledged. */
  readonly isIncident: boolean;
  /** Of the message, in the language of its reader. */
  readonly title: string;
};
export type Links = {
  readonly acknowledge: string | null;
  readonly snooze: string | null;
  readonly unsubscribe: string | null;
};

/** What the engine acts with beside the database. */
export type AlertParts = {
  readonly channels: Channels;
  readonly compose: (notice: Notice) => Message;
  /** The message as plain text, for the history; at most 4,000 characters. */
  readonly asText: (message: Message) => string;
  /** That a message of a problem has arrived, so long after the problem was found. */
  readonly noteTold?: (channel: string, afterMs: number) => void;
  /** Pages by which readers acknowledge and snooze, in the order of the requests. Absent: messages have none. */
  readonly linksFor?: (connection: CommonQueryMethods, requests: readonly LinkRequest[]) => Promise<readonly Links[]>;
};
