/** How long a replica may receive before it must say that it still does. Longer than any one question to the messenger. */
export const leaseMs = 60_000;

/** How long the messenger may hold a question open. */
export const pollSeconds = 20;

/**
 * Which update to ask for next; undefined: the oldest that was not confirmed. After a week without updates the messenger numbers the next one at
 * random (https://core.telegram.org/bots/api#update), so what was counted before says nothing any more.
 */
export function offsetOf(
  receiver: { readonly nextOffset: number | null; readonly lastUpdateMs: number | null },
  nowMs: number,
): number | undefined {
  if (receiver.nextOffset === null || receiver.lastUpdateMs === null) return undefined;
  return nowMs - receiver.lastUpdateMs > 5 * 86_400_000 ? undefined : receiver.nextOffset;
}
