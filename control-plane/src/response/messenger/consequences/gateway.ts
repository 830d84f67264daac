import { recordAudit } from '../../../identity/audit/index.ts';
import { lookAgain, moveAlertTargets, muteAlertsTelling, targetsAt } from '../../alerts/index.ts';
import { giveUpTargets, takeTargetBack } from '../../channels/index.ts';
import type { MessengerHooks } from '../hooks.ts';

const channel = 'messenger';
const place = (chatId: number) => ({ channel, target: String(chatId) });

/** What becomes of alerts and their targets by what happens in the messenger. */
export const consequences: MessengerHooks = {
  muteAlerts: async (context, { workspaceId, chatId, userId }, untilMs) =>
    context.database.worker.transaction(async (tx) => {
      const muted = await muteAlertsTelling(tx, workspaceId, place(chatId), untilMs);
      if (muted === 0) return 0;
      if (untilMs === null) await lookAgain(tx, workspaceId, context.now());
      const request = { requestId: 'messenger', remoteAddress: 'messenger' };
      await recordAudit(tx, { kind: 'user', userId }, request, {
        action: untilMs === null ? 'alerts.unsnoozed' : 'alerts.snoozed',
        workspaceId,
        subjectType: 'workspace',
        subjectId: workspaceId,
        detail: { alerts: muted, until: untilMs === null ? null : new Date(untilMs).toISOString() },
      });
      return muted;
    }),
  onChatGone: async (context, chatId) => {
    const reason = 'The bot was removed from the group, or the person has blocked it.';
    await giveUpTargets(context, channel, await targetsAt(context.database.worker, place(chatId)), reason);
  },
  onChatBack: async (context, chatId) => takeTargetBack(context.database.worker, channel, String(chatId)),
  onChatMoved: async (context, fromChatId, toChatId) =>
    moveAlertTargets(context.database.worker, place(fromChatId), String(toChatId)),
};
