import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { flappingConsumers } from './consumer.ts';
import { startCalming } from './job.ts';

export { forgetFlappingOfDeleted, forgetFlappingOfReset } from './consumer.ts';

/** Monitors that change too often (rule 14): alerts about them are held back, their timeline is not. */
export const flappingCapability: Capability<Context> = {
  name: 'flapping',
  services: [{ name: 'flapping', role: 'worker', start: startCalming }],
  consumers: flappingConsumers,
};
