import type { AnySettings } from '../channel.ts';
import type { AnyChannel } from '../registry.ts';

/** The target that needs no naming: the only destination of the settings, for mail the own address, for web push all browsers. Undefined: it must be named. */
export function onlyTarget(channel: AnyChannel, settings: AnySettings, email: string | null): string | undefined {
  if (channel.name === 'email') return email ?? undefined;
  if (channel.name === 'web-push') return 'all';
  const destinations = settings['destinations'];
  if (!Array.isArray(destinations) || destinations.length !== 1) return undefined;
  const [one] = destinations as readonly { readonly key?: unknown }[];
  return typeof one?.key === 'string' ? one.key : undefined;
}
