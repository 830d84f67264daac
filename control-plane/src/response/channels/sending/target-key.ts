import { createHash } from 'node:crypto';
import type { AnySettings } from '../channel.ts';
import type { AnyChannel } from '../registry.ts';

/**
 * Names who is really reached: the same for everybody who writes to the same mail address, different for two people's own "alerts". With the settings
 * of the configuration also the same for two people whose own "alerts" lead to one room. At most 100 characters, without secrets.
 */
export function targetKey(channel: AnyChannel, ownerId: number, target: string, settings?: AnySettings): string {
  const digest = createHash('sha256')
    .update(nameOf(channel, ownerId, target, settings))
    .digest('base64url');
  return `${channel.name}:${digest.slice(0, 32)}`;
}

function nameOf({ target: rule }: AnyChannel, ownerId: number, target: string, settings?: AnySettings): string {
  if (rule.isGlobal === true) return `\n${target}`;
  const reached = settings === undefined ? undefined : rule.reaches?.(target, settings);
  return reached === undefined ? `${ownerId}\n${target}` : `reached\n${reached}`;
}
