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
    // The credential of the place, with all else by which a message gets there or is made; what was read has its fields in the schema's order.
    reaches: (target, settings) => {
      const found = settings.destinations.find(({ key }) => key === target);
      if (found === undefined) return undefined;
      const { key: _key, name: _name, ...place } = found;
      return JSON.stringify([{ ...settings, destinations: undefined }, place]);
    },
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
