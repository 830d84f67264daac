import type { Message } from '../../messages/index.ts';
import { writeButton } from './button.ts';

export { readButton, writeButton } from './button.ts';
export type { Button } from './button.ts';

const words = {
  en: { acknowledge: '✋ Acknowledge', mute: '🔕 Mute for 1 h' },
  ru: { acknowledge: '✋ Взять в работу', mute: '🔕 Не беспокоить 1 ч' },
} as const;

/** The messenger's `InlineKeyboardMarkup`. */
export type InlineKeyboard = {
  readonly inline_keyboard: readonly (readonly { readonly text: string; readonly callback_data: string }[])[];
};

/**
 * Buttons under a message about something that lasts: acknowledge, where it is an incident that nobody has acknowledged, and mute for an hour.
 * Undefined where nothing is left to be done.
 */
export function keyboardOf(
  message: Pick<Message, 'kind' | 'state' | 'locale' | 'workspace' | 'data'>,
): InlineKeyboard | undefined {
  if (message.state !== 'problem' || message.kind === 'test') return undefined;
  const { incident, is_acknowledged: isAcknowledged } = message.data;
  return buttons(message.locale, {
    incidentId: isAcknowledged === true ? null : idOf(incident),
    workspaceId: message.workspace.id,
  });
}

function idOf(incident: unknown): number | null {
  if (typeof incident !== 'object' || incident === null || !('id' in incident)) return null;
  return typeof incident.id === 'number' && Number.isSafeInteger(incident.id) && incident.id > 0 ? incident.id : null;
}

/** @param of what is still to be acknowledged, null for nothing; whose alerts are muted */
export function buttons(
  locale: 'en' | 'ru',
  of: { readonly incidentId: number | null; readonly workspaceId: number },
): InlineKeyboard {
  const { acknowledge, mute } = words[locale];
  const row = [
    ...(of.incidentId === null
      ? []
      : [{ text: acknowledge, callback_data: writeButton({ kind: 'acknowledge', incidentId: of.incidentId }) }]),
    { text: mute, callback_data: writeButton({ kind: 'mute', workspaceId: of.workspaceId, minutes: 60 }) },
  ];
  return { inline_keyboard: [row] };
}
