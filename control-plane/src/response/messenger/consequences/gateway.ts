import { lookAgain, moveAlertTargets, muteAlertsTelling, ownersTelling } from '../../alerts/index.ts';
import { giveUpTarget, takeTargetBack } from '../../channels/index.ts';
import type { MessengerHooks } from '../hooks.ts';

const place = (chatId: number) => ({ channel: 'messenger', target: String(chatId) });

/** What becomes of alerts and their targets by what happens in the messenger. */
export const consequences: MessengerHooks = {
  muteAlerts: async (context, { workspaceId, chatId }, untilMs) =>
    context.database.worker.transaction(async (tx) => {
      const muted = await muteAlertsTelling(tx, workspaceId, place(chatId), untilMs);
      if (untilMs === null && muted > 0) await lookAgain(tx, workspaceId, context.now());
      return muted;
    }),
  onChatGone: async (context, chatId) => {
    const { worker } = context.database;
    const owners = await ownersTelling(worker, place(chatId));
    await giveUpTarget(worker, owners, place(chatId), 'The bot was removed from the group, or the person has blocked it.');
  },
  onChatBack: async (context, chatId) => takeTargetBack(context.database.worker, place(chatId)),
  onChatMoved: async (context, fromChatId, toChatId) =>
    moveAlertTargets(context.database.worker, place(fromChatId), String(toChatId)),
};
