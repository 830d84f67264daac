import { z } from 'zod';
import type { TargetRule } from '../../channel.ts';

/** One of the places that a configuration reaches, where the address itself is the credential. */
export type Destination = { readonly key: string; readonly name: string; readonly url: string };

export type DestinationSettings = { readonly destinations: readonly Destination[] };

/** Whether a text is an absolute web address without user information and fragment. */
export function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === ''
  );
}

/**
 * Settings whose only content is destinations: 1 to 20, with keys of their own. `isAddress` says which addresses the service gives, `problem` what
 * is wrong with others.
 */
export function destinationSettings(described: string, isAddress: (text: string) => boolean, problem: string) {
  const destination = z.strictObject({
    key: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, "-" and "_", at most 40')
      .describe('Name by which targets refer to it.'),
    name: z.string().trim().min(1).max(100).describe('What it is called in forms.'),
    url: z.string().trim().max(2000).refine(isAddress, problem).describe(described),
  });
  return z.strictObject({
    destinations: z
      .array(destination)
      .min(1)
      .max(20)
      .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'keys must differ')
      .describe('Where messages may go.'),
  });
}

/** Fields of such settings that are never shown. */
export const destinationSecrets = ['destinations[].url'];

/** A target that names a destination by its key. */
export function destinationTarget(label: string): TargetRule<DestinationSettings> {
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

/** The address of a target; undefined: the destination was taken out of the configuration. */
export function addressOf(settings: DestinationSettings, target: string): string | undefined {
  return settings.destinations.find(({ key }) => key === target)?.url;
}
