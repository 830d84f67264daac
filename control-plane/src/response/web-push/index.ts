import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import type { OnSubscribed } from './gateway.ts';
import { webPushRoutes } from './routes.ts';

export { hasBrowser, subscribedBrowsers, vapidKeys } from './gateway.ts';
export type { OnSubscribed } from './gateway.ts';

/** The browsers that users have subscribed, and the key that they subscribe with. */
export function createWebPushCapability(
  hooks: { readonly onSubscribed?: readonly OnSubscribed[] } = {},
): Capability<Context> {
  return { name: 'web-push', routes: (context) => webPushRoutes(context, hooks.onSubscribed ?? []) };
}
