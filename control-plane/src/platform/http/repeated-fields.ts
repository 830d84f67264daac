import type { InputError, RouteContract } from '@parallax/api-contract';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { jsonPointer } from './json-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A body, and what it repeats of the answer: fields that nobody can write. */
export type SplitBody = { readonly written: unknown; readonly repeated: Fields };

/** The fields of the answer that a change cannot write; none where the route is no change. */
export function readOnlyFields(contract: RouteContract): readonly string[] {
  if (contract.method !== 'PATCH' && contract.method !== 'PUT') return [];
  const written = new Set(Object.keys(shapeOf(contract.body)));
  return Object.keys(shapeOf(contract.success.answer)).filter((name) => !written.has(name));
}

/** Takes the read-only fields out of a body, so that the contract judges the rest. */
export function splitBody(readOnly: ReadonlySet<string>, body: unknown): SplitBody {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { written: body, repeated: {} };
  const entries = Object.entries(body);
  if (!entries.some(([name]) => readOnly.has(name))) return { written: body, repeated: {} };
  return {
    written: Object.fromEntries(entries.filter(([name]) => !readOnly.has(name))),
    repeated: Object.fromEntries(entries.filter(([name]) => readOnly.has(name))),
  };
}

/**
 * Which repeated fields say something else than what is stored. What was measured meanwhile is no wish: where the body repeats the stored
 * `version` too, it is the resource as somebody read it.
 * @param measured fields that change without a new version
 */
export function rewrittenFields(repeated: Fields, stored: Fields, measured: readonly string[]): InputError[] {
  const isWhole = !Object.hasOwn(stored, 'version') || repeated['version'] === stored['version'];
  const passed = new Set(isWhole ? measured : []);
  return Object.entries(repeated)
    .filter(([name, value]) => !passed.has(name) && !saysTheSame(value, stored[name]))
    .map(([name]) => ({
      in: 'body',
      path: jsonPointer([name]),
      code: 'read_only',
      message: 'is read-only and differs from what is stored',
    }));
}

/** Equal JSON, or one instant in two spellings. */
function saysTheSame(one: unknown, other: unknown): boolean {
  if (isDeepStrictEqual(one, other)) return true;
  return isTime(one) && isTime(other) && Date.parse(one) === Date.parse(other);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(Z|[+-]\d\d:\d\d)$/.test(value);
}

/** The fields of an object schema, whatever is wrapped around it; none of another schema. */
function shapeOf(schema: z.ZodType | undefined): Fields {
  const def = schema?.def as
    | { readonly type: string; readonly shape?: Fields; readonly innerType?: z.ZodType }
    | undefined;
  return def?.type === 'object' ? (def.shape ?? {}) : def?.innerType === undefined ? {} : shapeOf(def.innerType);
}
