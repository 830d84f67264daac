import { groupCheckSettings, groupProtocol } from '@parallax/api-contract';
import type { MonitorProtocol } from '@parallax/api-contract';
import { checkTypeOf, isProtocol } from '@parallax/checks';
import type { AnyCheckType } from '@parallax/checks';

/** What the rules of a monitor's configuration ask of its protocol. */
export type Kind = Pick<AnyCheckType, 'settings' | 'secretFields' | 'validateTarget'>;

// Nothing is pointed at: the settings name what is looked at.
const groupKind: Kind = { settings: () => groupCheckSettings, secretFields: [], validateTarget: () => undefined };

/** True for the name of a check type, and for `group`. */
export function isMonitorProtocol(value: string): value is MonitorProtocol {
  return value === groupProtocol || isProtocol(value);
}

/** What a protocol asks of settings and targets. */
export function kindOf(protocol: MonitorProtocol): Kind {
  return protocol === groupProtocol ? groupKind : checkTypeOf(protocol);
}

/** What a group monitor has for a URL: what it looks at, in one word. Decided by its settings, whatever was sent. */
export function groupTarget(settings: Readonly<Record<string, unknown>>): string {
  const groupId = settings['group_id'];
  return typeof groupId === 'number' ? `group:${groupId}` : 'group:members';
}
