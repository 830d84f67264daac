/*
 * What buttons under a message carry (`callback_data`, 1 to 64 bytes). It comes back from programs that anybody may write, so it is nothing but a
 * wish: whoever presses is looked up, and so are their rights.
 */

/** What a button asks for. */
export type Button =
  | { readonly kind: 'acknowledge'; readonly incidentId: number }
  | { readonly kind: 'mute'; readonly minutes: number; readonly workspaceId: number };

/** The text that a button carries. */
export function writeButton(button: Button): string {
  return button.kind === 'acknowledge' ? `ack:${button.incidentId}` : `mute:${button.workspaceId}:${button.minutes}`;
}

/** What was pressed; null for what is none of ours. */
export function readButton(data: string): Button | null {
  const [kind, ...numbers] = data.split(':');
  if (!numbers.every((text) => /^[1-9][0-9]{0,9}$/.test(text))) return null;
  const [first = 0, second = 0] = numbers.map(Number);
  if (first > 2_147_483_647) return null;
  if (kind === 'ack' && numbers.length === 1) return { kind: 'acknowledge', incidentId: first };
  if (kind === 'mute' && numbers.length === 2 && second <= 10_080) {
    return { kind: 'mute', workspaceId: first, minutes: second };
  }
  return null;
}
