import type { Message } from '../../../messages/index.ts';

/** How much a message may disturb: `loud` may sound through silence, `quiet` need not sound at all. */
type Urgency = 'loud' | 'high' | 'usual' | 'quiet';

/**
 * Only what somebody has to act upon is more than usual: a problem that begins, goes on or is handed on. That others look after it, or that it
 * changed a little, wakes nobody once more.
 */
export function urgencyOf({ state, severity, kind }: Pick<Message, 'state' | 'severity' | 'kind'>): Urgency {
  if (kind === 'information' || kind === 'digest') return 'quiet';
  if (state !== 'problem' || kind === 'acknowledged' || kind === 'updated' || kind === 'test') return 'usual';
  return ({ critical: 'loud', major: 'high', minor: 'usual' } as const)[severity];
}
