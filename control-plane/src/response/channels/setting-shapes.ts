import { secretText, webAddress } from '@parallax/api-contract';
import { z } from 'zod';

export { secretText, webAddress };

/** One line of plain text. */
export function lineText(most: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must not contain control characters');
}

/** Where the URL is the credential: several of them, each under a key that targets name. */
export function destinationsOf(url: z.ZodType<string> = webAddress) {
  return destinationsWith({ url: url.description === undefined ? url.describe(urlMeaning) : url });
}
const urlMeaning = 'The address that the service gave out. It is a credential and never shown.';

/** Places that are each reached by a credential of their own, under keys that targets name; `fields` are what a place has beside key and name. */
export function destinationsWith<Fields extends z.ZodRawShape>(fields: Fields) {
  const shape = {
    key: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,49}$/, 'must be of a-z, 0-9, - and _, at most 50')
      .describe('What targets name.'),
    name: lineText(100).describe('What people call it, such as the name of the room.'),
  };
  return z
    .array(z.strictObject({ ...shape, ...fields }))
    .min(1)
    .max(20)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      for (const [index, { key }] of (list as readonly { readonly key: string }[]).entries()) {
        if (seen.has(key)) context.addIssue({ code: 'custom', path: [index, 'key'], message: 'stands here twice' });
        seen.add(key);
      }
    })
    .describe('Where messages can go.');
}
export type Destination = { readonly key: string; readonly name: string };
