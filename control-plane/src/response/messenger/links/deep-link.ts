/** For how long a deep link may be opened. */
export const linkLifeMs = 15 * 60_000;

/** A link that opens the chat with a bot, or adds it to a group (https://core.telegram.org/bots/features#deep-linking). */
export function deepLink(username: string, purpose: 'person' | 'group', token: string): string {
  const url = new URL(`https://t.me/${username}`);
  url.searchParams.set(purpose === 'group' ? 'startgroup' : 'start', token);
  return url.href;
}
