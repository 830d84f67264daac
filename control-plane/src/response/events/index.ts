/** Events for other systems: one catalogue, made of state changes, read by `GET /events` and sent by webhooks. */
import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { eventConsumers } from './consumer.ts';
import { startEvents } from './events.job.ts';
import { eventRoutes } from './events.routes.ts';
import type { EventTaker } from './event.ts';

export type { EventTaker, StoredEvent } from './event.ts';
export { announceDeletion, announceMove } from './hooks.queries.ts';

/** @param takers what acts on events in the transaction that stores them */
export function createEventsCapability(takers: readonly EventTaker[]): Capability<Context> {
  return {
    name: 'events',
    routes: eventRoutes,
    services: [{ name: 'events', role: 'worker', start: (context, log) => startEvents(context, log, takers) }],
    consumers: eventConsumers,
  };
}
