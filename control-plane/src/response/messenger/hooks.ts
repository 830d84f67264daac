import type { Context } from '../../context.ts';

/** Where alerts arrive: a chat, a workspace whose alerts are meant, and who wants it. */
export type ChatOfWorkspace = { readonly workspaceId: number; readonly chatId: number; readonly userId: number };

/** What other capabilities do about chats; handed in, so that neither knows the other. */
export type MessengerHooks = {
  /**
   * Mutes the alerts of a workspace that tell a chat, until then; null ends that. Whoever asks is an editor of the workspace.
   * @returns how many alerts there are
   */
  readonly muteAlerts: (context: Context, of: ChatOfWorkspace, untilMs: number | null) => Promise<number>;
  /** Nothing will arrive in a chat any more: whoever has it as a target is told, and it is not tried again. */
  readonly onChatGone: (context: Context, chatId: number) => Promise<void>;
  /** A chat is linked, again perhaps: whatever was given up there may be tried again. */
  readonly onChatBack: (context: Context, chatId: number) => Promise<void>;
  /** A group has another number now; targets follow. */
  readonly onChatMoved: (context: Context, fromChatId: number, toChatId: number) => Promise<void>;
};
