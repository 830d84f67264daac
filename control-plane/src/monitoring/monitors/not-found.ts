import { Problem } from '@parallax/api-contract';

/** The same for a monitor that never was, a deleted one and another's. */
export function noMonitor(monitorId: number): Problem {
  return new Problem('not_found', `there is no monitor ${monitorId}`);
}

/** Monitors of one protocol, which a resource of its own shows under another name: monitors of others do not exist there. */
export type MonitorView = { readonly protocol: string; readonly notFound: (monitorId: number) => Problem };

/**
 * What was found, where it is shown.
 * @throws Problem `not_found`
 */
export function requireShown<Found extends { readonly protocol: string }>(
  found: Found | null,
  monitorId: number,
  view: MonitorView | undefined,
): Found {
  if (found === null || (view !== undefined && found.protocol !== view.protocol))
    throw (view?.notFound ?? noMonitor)(monitorId);
  return found;
}
