import type { Message } from '../../../messages/index.ts';

/** The colour of a message: green what is over, blue what only informs, else by severity. Six hexadecimal digits. */
export function colourOf({ state, severity }: Pick<Message, 'state' | 'severity'>): string {
  if (state === 'recovered') return '1a9a50';
  if (state === 'information') return '3b6fb6';
  return { critical: 'd92d20', major: 'e5780b', minor: 'd9a406' }[severity];
}
