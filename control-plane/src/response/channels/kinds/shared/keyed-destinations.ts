import { z } from 'zod';
import type { TargetRule } from '../../channel.ts';
import { DeliveryError } from '../../delivery-error.ts';

type Keyed = { readonly key: string; readonly name: string };
type KeyedSettings<Destination extends Keyed> = { readonly destinations: readonly Destination[] };

/**
 * The field `destinations` of settings whose places are each reached by a credential of their own: 1 to 20, with keys that differ. `fields` are what a
 * place has beside its key and its name.
 */
export function keyedDestinations<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .array(
      z.strictObject({
        key: z
          .string()
          .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, "-" and "_", at most 40')
          .describe('Name by which targets refer to it.'),
        name: z.string().trim().min(1).max(100).describe('What it is called in forms.'),
        ...fields,
      }),
    )
    .min(1)
    .max(20)
    .refine((all) => new Set(all.map((one) => (one as Keyed).key)).size === all.length, 'keys must differ')
    .describe('Where messages may go.');
}

/** A credential as a service gives it: one word of printable ASCII, which cannot break out of a header or an address. */
export function credential(described: string, most = 200) {
  return z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces')
    .describe(described);
}

/** An address that a service gave and that is itself the credential. */
export function secretAddress(described: string) {
  return z.string().trim().max(2000).refine(isWebAddress, 'an absolute address with http or https').describe(described);
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === ''
  );
}

/** A target that names a destination by its key. */
export function keyedTarget(label: string): TargetRule<KeyedSettings<Keyed>> {
  return {
    label: `key of the destination: ${label}`,
    example: 'operations',
    parse: (text, { destinations }) => {
      const key = text.trim().toLowerCase();
      if (destinations.some((destination) => destination.key === key)) return { ok: true, target: key };
      return { ok: false, problem: 'no destination of the configuration has this key' };
    },
    mask: (target) => target,
  };
}

/** The destination of a target. @throws DeliveryError: it was taken out of the configuration */
export function destinationOf<Destination extends Keyed>(
  settings: KeyedSettings<Destination>,
  target: string,
): Destination {
  const destination = settings.destinations.find(({ key }) => key === target);
  if (destination !== undefined) return destination;
  throw new DeliveryError('unknown_target', 'target', `The configuration has no destination "${target}" any more.`);
}

/** What of an address that is a credential must not be repeated: it whole, and its parts that are long enough to be secret. */
export function secretsOf(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [address];
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()];
  return [address, ...parts.filter((part) => part.length >= 8)];
}
