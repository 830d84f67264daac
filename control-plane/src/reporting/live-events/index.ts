import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import { liveEventConsumers } from './consumer.ts';
import { LiveHub } from './hub.ts';
import { forgetEvents } from './queries.ts';
import { keepMs, liveEventRoutes } from './routes.ts';

const forgetEveryMs = 600_000;

/** The hub of a process: its route adds to it, its service ends it. */
const hubs = new WeakMap<Context, LiveHub>();

function hubOf(context: Context): LiveHub {
  const known = hubs.get(context);
  if (known !== undefined) return known;
  const hub = new LiveHub({ worker: context.database.worker, bus: () => context.bus, log: context.log });
  hubs.set(context, hub);
  return hub;
}

/** A stream of what happens. */
export const liveEventsCapability: Capability<Context> = {
  name: 'live-events',
  routes: (context) => liveEventRoutes(context, hubOf(context)),
  services: [
    { name: 'live events', role: 'api', start: async (context) => hubOf(context) },
    {
      name: 'retention of live events',
      role: 'worker',
      start: async (context, log) =>
        repeat({
          everyMs: forgetEveryMs,
          // A little longer than is promised: nobody is told what another step has removed meanwhile.
          work: () => forgetEvents(context.database.worker, keepMs + forgetEveryMs),
          onError: (error) => log.warn({ err: error }, 'live events cannot be removed; trying again'),
        }),
    },
  ],
  consumers: liveEventConsumers,
};
