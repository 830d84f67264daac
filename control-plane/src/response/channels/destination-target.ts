import type { TargetRule } from './channel.ts';
import { DeliveryError } from './delivery-error.ts';
import type { Destination } from './setting-shapes.ts';

type WithDestinations<One extends Destination = Destination> = { readonly destinations: readonly One[] };

/** The rule of targets for channels whose settings hold destinations: a target is the key of one. */
export function destinationTarget<Settings extends WithDestinations>(
  label: string,
  example = 'alerts',
): TargetRule<Settings> {
  return {
    label,
    example,
    parse: (text, settings) => {
      const target = text.trim();
      if (settings.destinations.some(({ key }) => key === target)) return { ok: true, target };
      return { ok: false, problem: 'is not the key of a destination of this configuration' };
    },
    // A key is a name that its owner chose.
    mask: (target) => target,
  };
}

/** The address of a target. @throws DeliveryError when its destination was removed meanwhile */
export function destinationOf<One extends Destination>(settings: WithDestinations<One>, target: string): One {
  const found = settings.destinations.find(({ key }) => key === target);
  if (found === undefined) {
    throw new DeliveryError('unknown_target', 'target', 'The configuration no longer has a destination with this key.');
  }
  return found;
}
