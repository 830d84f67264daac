import { createHash } from 'node:crypto';
import type { AnyChannel } from '../registry.ts';

/**
 * Names who is really reached: the same for everybody who writes to the same mail address, different for two people's own "alerts". At most 100
 * characters.
 */
export function targetKey(channel: AnyChannel, ownerId: number, target: string): string {
  const whose = channel.target.isGlobal === true ? '' : String(ownerId);
  const digest = createHash('sha256').update(`${whose}\n${target}`).digest('base64url').slice(0, 32);
  return `${channel.name}:${digest}`;
}
