import * as wire from '@parallax/wire';
import { current } from '../engine/current.ts';

/* The client of the probes' service, on the modelled network. */

export * from '@parallax/wire';

type Client = wire.ProbeClient;

export const ProbeClient = class {
  session(): ReturnType<Client['session']> {
    return current().sessions.dial() as unknown as ReturnType<Client['session']>;
  }

  close(): void {}
};
