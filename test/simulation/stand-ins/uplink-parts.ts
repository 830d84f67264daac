import type { UplinkParts } from '@parallax/checks';
import { current } from '../engine/current.ts';

/* What an agent asks about its own way out, on the modelled network. */

export * from '@parallax/checks';

export function systemUplinkParts(): UplinkParts {
  const { uplink } = current();
  return { gatewayAnswers: uplink.gatewayAnswers, canariesAnswer: uplink.canariesAnswer };
}

/** The control plane is on another machine. */
export function createLocality(): () => Promise<boolean> {
  return async () => false;
}
