import { z } from 'zod';

/** Integer identifiers, 1 to 2147483647. */
export const idSchema = z.coerce.number().int().min(1).max(2_147_483_647);
/** The same inside JSON bodies, where "7" is not a number. */
export const bodyId = z.number().int().min(1).max(2_147_483_647);

/** ISO 8601 UTC with milliseconds and Z. */
export const timestamp = z.iso.datetime({ offset: true, precision: 3 }).meta({ format: 'date-time' });

export const pageQuery = {
  page: z.coerce.number().int().min(1).max(10_000).default(1),
  page_size: z.coerce.number().int().min(1).max(100).default(20),
};

/** `true` or `false` and nothing else. */
export const queryBoolean = z.enum(['true', 'false']).transform((text) => text === 'true');

/** A boolean query parameter with a default, described as a boolean. */
export function booleanQuery(fallback: boolean) {
  return z
    .union([z.boolean(), z.enum(['true', 'false'])])
    .default(fallback)
    .transform((value) => value === true || value === 'true')
    .meta({ type: 'boolean', default: fallback });
}

// Control characters, C0 and C1, may not stand in names.
// eslint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/u;

/** Names: 1 to 200 characters after trimming, NFC, without control characters. */
export const nameSchema = z
  .string()
  .transform((text) => text.normalize('NFC').trim())
  .pipe(
    z
      .string()
      .min(1)
      .max(200)
      .refine((text) => !controlCharacter.test(text), 'must not contain control characters'),
  );

/** Fields of every list answer. */
export function listOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return z.object({
    [name]: z.array(item),
    total: z.number().int(),
    page: z.number().int(),
    page_size: z.number().int(),
  } as { [key in Name]: z.ZodArray<Item> } & { total: z.ZodNumber; page: z.ZodNumber; page_size: z.ZodNumber });
}

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    request_id: z.string(),
    errors: z
      .array(
        z.object({
          in: z.enum(['body', 'query', 'path', 'header']),
          path: z.string(),
          code: z.string(),
          message: z.string(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Problem' });
