import { z } from 'zod';
import { inputErrors } from './input-errors.ts';
import type { InputErrorCode } from './input-errors.ts';

/** Text as it stands in paths and queries, as a whole number; anything that is not plain decimal digits is left for the schema to refuse. */
function wholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value;
}

/** A field of a change: absent it keeps, and `null` goes back to the default. */
export function orDefault<Schema extends z.ZodType>(schema: Schema, value: NonNullable<z.output<Schema>>) {
  return schema
    .nullable()
    .transform((given) => given ?? value)
    .optional();
}

/** A decimal number in a query: no exponent, no hexadecimal digits, no surrounding space. */
function decimalNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?[0-9]{1,15}(\.[0-9]{1,15})?$/.test(value) ? Number(value) : value;
}

/** A whole number in a path or query, bounds inclusive; described as an integer with its bounds. */
export function integerParameter(min: number, max: number) {
  return z.preprocess(wholeNumber, z.number().int().min(min).max(max));
}

/** One of some whole numbers in a query. */
export function choiceParameter<const Value extends number>(values: readonly Value[]) {
  return z.preprocess(wholeNumber, z.literal(values));
}

/** A decimal number in a query, bounds inclusive. */
export function numberParameter(min: number, max: number) {
  return z.preprocess(decimalNumber, z.number().min(min).max(max));
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** `true` or `false` in a query, in any case, or `1` or `0`: as the languages of clients write them. */
export const booleanParameter = z.preprocess(
  (value) => (typeof value === 'string' ? (truths.get(value.toLowerCase()) ?? value) : value),
  z.boolean(),
);

/** One of some words, in any case. */
export function wordParameter<Words extends z.ZodType>(words: Words) {
  return z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), words);
}

/** A language that messages are written in, or a tag of it with a region, such as `en-US` (BCP 47). */
export const localeInput = z.preprocess(
  (value) => (typeof value === 'string' && /^[a-z]{2}([-_][a-z0-9]{1,8})*$/i.test(value) ? languageOf(value) : value),
  z.enum(['en', 'ru']),
);

function languageOf(tag: string): string {
  return tag.slice(0, 2).toLowerCase();
}

/** Integer identifiers in paths and queries, 1 to 2147483647. */
export const idSchema = integerParameter(1, 2_147_483_647);
/** The same inside JSON bodies, where "7" is not a number. */
export const bodyId = z.number().int().min(1).max(2_147_483_647);

/** ISO 8601 UTC with milliseconds and Z, as every answer writes it. */
export const timestamp = z.iso.datetime({ offset: true, precision: 3 }).meta({ format: 'date-time' });

// PostgreSQL writes what is before as a year BC, which no format of ours has.
const yearOne = Date.parse('0001-01-01T00:00:00Z');

/** An instant given by a client: ISO 8601 with seconds and a zone, not before the year 1. */
export const instant = z.iso
  .datetime({
    offset: true,
    error: ({ input }) => (hasNoZone(input) ? 'needs a zone, such as Z or +02:00' : undefined),
  })
  .max(40)
  .refine((text) => !(Date.parse(text) < yearOne), 'must not be before the year 1')
  .meta({ format: 'date-time' });

function hasNoZone(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(value);
}

/** A list of identifiers in a JSON body, none of them twice: each that is doubled is named by its place. */
export function distinctIds(most: number, message: string, least = 0) {
  return z
    .array(bodyId)
    .min(least)
    .max(most)
    .superRefine((ids, context) => {
      const seen = new Set<number>();
      for (const [index, id] of ids.entries()) {
        if (seen.has(id)) context.addIssue({ code: 'custom', path: [index], message });
        seen.add(id);
      }
    });
}

/** The present page and its size, with the bounds of every list. */
export const pageQuery = {
  page: integerParameter(1, 10_000).default(1),
  page_size: integerParameter(1, 100).default(20),
};

/** A boolean query parameter with a default. */
export function booleanQuery(fallback: boolean) {
  return booleanParameter.default(fallback);
}

/** True when the text holds a control character, C0 or C1. */
export function hasControlCharacter(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  }
  return false;
}

/** Names: 1 to 200 characters after trimming, NFC, without control characters. */
export const nameSchema = z
  .string()
  .normalize('NFC')
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters');

/** Fields of every list answer. */
export function listOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return z.object({
    [name]: z.array(item),
    total: z.number().int(),
    page: z.number().int(),
    page_size: z.number().int(),
  } as { [key in Name]: z.ZodArray<Item> } & { total: z.ZodNumber; page: z.ZodNumber; page_size: z.ZodNumber });
}

/** What an action answers that has nothing else to say. */
export const messageSchema = z.object({ message: z.string() }).meta({ id: 'Message' });

/** The body of every error: RFC 9457 with the stable code, the request and, for a 422, each thing that is wrong. */
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
          path: z
            .string()
            .regex(/^(\/[^/]*)*$/)
            .describe('A JSON pointer (RFC 6901) in a body, `/name` of a parameter or header, empty for the whole.'),
          code: z.enum(Object.keys(inputErrors) as [InputErrorCode, ...InputErrorCode[]]),
          message: z.string(),
        }),
      )
      .optional()
      .describe('What is wrong, part by part. Every 422 has it.'),
    mfa_token: z
      .string()
      .optional()
      .meta({ description: 'with `mfa_required`: what `/auth/mfa/verify` takes, for 5 minutes' }),
    factors: z
      .array(z.enum(['totp', 'passkey', 'recovery_code']))
      .optional()
      .meta({ description: 'with `mfa_required`: which second factors the account has' }),
  })
  .meta({ id: 'Problem' });
