import type { Incoming } from '../updates/incoming.ts';

/** What somebody wants of the bot. */
export type Command =
  | { readonly kind: 'link'; readonly tokenHash: string }
  | { readonly kind: 'status' | 'list' | 'unmute' | 'help' }
  | { readonly kind: 'pause' | 'resume'; readonly which: string }
  | { readonly kind: 'mute'; readonly minutes: number }
  /** Written wrongly: answered by how it is written rightly. */
  | { readonly kind: 'usage'; readonly of: 'pause' | 'resume' | 'mute' };

/** A week, as reminders have it. */
const mostMinutes = 7 * 24 * 60;

/**
 * What a command asks for; null when it is for another bot, or nothing that is said to bots in a group.
 * @param username of our bot
 */
export function commandOf(incoming: Extract<Incoming, { kind: 'command' }>, username: string): Command | null {
  if (incoming.addressee !== null && incoming.addressee !== username.toLowerCase()) return null;
  const { rest } = incoming;
  switch (incoming.name) {
    case 'start':
      return incoming.tokenHash === null ? { kind: 'help' } : { kind: 'link', tokenHash: incoming.tokenHash };
    case 'status':
    case 'list':
    case 'unmute':
      return { kind: incoming.name };
    case 'pause':
    case 'resume':
      return rest === '' ? { kind: 'usage', of: incoming.name } : { kind: incoming.name, which: rest };
    case 'mute': {
      const minutes = minutesOf(rest === '' ? '1h' : rest);
      return minutes === null ? { kind: 'usage', of: 'mute' } : { kind: 'mute', minutes };
    }
    case 'help':
      return { kind: 'help' };
    default:
      // In a group it may be meant for another bot, unless it names ours.
      return incoming.chat.kind === 'group' && incoming.addressee === null ? null : { kind: 'help' };
  }
}

const units: readonly (readonly [pattern: RegExp, minutes: number])[] = [
  [/^(?:m|min|minutes?|м|мин|минут[аы]?)$/, 1],
  [/^(?:h|hours?|ч|час(?:а|ов)?)$/, 60],
  [/^(?:d|days?|д|день|дня|дней)$/, 1_440],
];

/** A duration such as `30m`, `1h` or `2 d`, as minutes: 1 to a week; null for what is none. */
export function minutesOf(text: string): number | null {
  const found = /^([0-9]{1,5})\s*(\p{L}+)$/u.exec(text.trim().toLowerCase());
  if (found === null) return null;
  const unit = units.find(([pattern]) => pattern.test(found[2] ?? ''))?.[1];
  if (unit === undefined) return null;
  const minutes = Number(found[1]) * unit;
  return minutes >= 1 && minutes <= mostMinutes ? minutes : null;
}
